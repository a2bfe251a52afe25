"""Reads citation markers from a stream, to compare with reading them from the whole text."""

from __future__ import annotations

from assay.core.markers import Marker
from assay.core.scanner import Scanner


class Tokenizer:
    """Reads markers from a stream; the result does not depend on how it was cut.

    Together, the returned text and markers equal those of `parse` on the whole text. At most about `LOOK_AHEAD`
    characters are held back at any time.
    """

    def __init__(self) -> None:
        self._scanner = Scanner()

    def feed(self, chunk: str) -> list[str | Marker]:
        """Add `chunk` and return what is now decided, with adjacent text in one piece."""
        self._scanner.add(chunk)
        return self._take(final=False)

    def finish(self) -> list[str | Marker]:
        """Return the rest; nothing may be fed afterwards."""
        return self._take(final=True)

    def _take(self, final: bool) -> list[str | Marker]:
        found: list[str | Marker] = []
        text, base = self._scanner.text, self._scanner.base
        run = -1
        end = 0
        for token in self._scanner.tokens(final):
            if token.marker is None:
                run = token.start if run < 0 else run
                end = token.end
                continue
            if run >= 0:
                found.append(text[run - base : end - base])
            run = -1
            found.append(token.marker)
        if run >= 0:
            found.append(text[run - base : end - base])
        return found
