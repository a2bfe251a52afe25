"""The segmenter for a process which reads files: a text comes as a file there, its passages as its one document."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.core.errors import ExtractError
from assay.core.sources import SYNTAXES, Extracted, PassageSpan
from assay.evidence.segment import SEGMENTER, segment

_PASSAGES = msgspec.msgpack.Decoder(tuple[PassageSpan, ...])


class PassageCutter:
    """Cuts a text, given as UTF-8, whose syntax is the file's name."""

    name = SEGMENTER
    suffixes: tuple[str, ...] = ()
    media_type = "text/plain"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """One document, which holds the passages in `body`.

        Raises:
            ExtractError: there is no such syntax.
        """
        syntax = next((each for each in SYNTAXES if each == name), None)
        if syntax is None:
            raise ExtractError(f"no syntax {name!r}")
        found = msgspec.msgpack.encode(segment(data.decode(), syntax))
        yield Extracted(text="", extractor=self.name, syntax=syntax, body=found)


def passages(answer: Extracted) -> tuple[PassageSpan, ...]:
    """The passages in the answer of a `PassageCutter`."""
    return _PASSAGES.decode(answer.body or b"")
