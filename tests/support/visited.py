"""Runs looked at in this process, on a screen and by a server: what is made when they are first asked for is there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import signal
import threading
import time
import urllib.request
from importlib.util import find_spec

SECONDS = 120.0


def serve_once() -> None:
    """List the runs of the environment's home, and serve them; without the server's libraries, list them alone."""
    from assay.cli import main

    main(["runs", "list"])
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        return
    ended = threading.Event()

    def look() -> None:
        while not (found := re.search(r"serves (\S+)", said.getvalue())):
            if ended.is_set():
                return
            time.sleep(0.01)
        try:
            (row,) = json.loads(_read(found[1] + "/api/v1/runs"))["runs"]
            for path in ("/livez", "/", f"/runs/{row['id']}"):
                _read(found[1] + path)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    visitor = threading.Thread(target=look)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        visitor.start()
        main(["serve", "--port", "0"])
        ended.set()
        visitor.join()
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)  # a server raises it


def _read(url: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # to loopback, whatever the environment says
    with opener.open(url, timeout=SECONDS) as answer:
        return bytes(answer.read())
