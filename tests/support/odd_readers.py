"""Extractors which misbehave, for the processes which read files."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

from assay.core.errors import ExtractError
from assay.core.sources import Extracted


class OddReader:
    """Does what the file says: hang, crash, bloat, fail, print; else gives the text and where it was read."""

    name = "odd/1"
    suffixes = (".odd",)
    media_type = "text/x-odd"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        order = data.decode(errors="replace")
        if order == "hang":
            time.sleep(600)
        elif order == "spin":
            while True:
                pass
        elif order == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif order == "bloat":
            bytearray(8 * 1024**3)
        elif order == "fail":
            raise KeyError("no such thing")
        elif order == "print":
            sys.stdout.write("printed to stdout\n")
            sys.stdout.flush()
            os.write(1, b"raw\n")
        elif order == "babble":
            os.write(2, b"x" * 1_000_000)
        yield Extracted(text=order, extractor=self.name, syntax="plain", metadata={"pid": str(os.getpid())})
        if order == "partly":
            raise ExtractError("the rest is bad")
