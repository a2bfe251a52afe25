"""Reads a model's text: makes wrapped citations plain, and removes the fence around the text.

The joined output does not depend on how the stream is cut. A text without ids that the run gave out stays unchanged,
except for a fence around all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from assay.core.citations.prose import CitationHoister, Knows, Prose, ProseCitations
from assay.core.lazy import regex
from assay.core.scanner import LOOK_AHEAD

# Fences that models put around text that is not code: removed while the text streams.

MARKDOWN = frozenset(("markdown", "md", "mdown", "mdx", "gfm"))
PROSE = MARKDOWN | {"", "text", "txt", "plain", "plaintext"}
LONGEST_PREAMBLE = 240
OPENERS = frozenset(
    """here sure certainly absolutely ok okay of great below hier gerne natürlich voici bien aquí claro por
    ecco certo aqui oto вот конечно ось 以下 以下是 这是 好的 これは はい 다음은 네 नीचे यहाँ إليك هذا işte""".split()
)
"""First words of lines that announce a text. Only such a line is held back until the text after it is known."""
_FIRST_WORD = regex(r"[*_ \t]*([^\W\d_]*)(.?)", re.DOTALL)
_OPENING = regex(r"([ \t>]{0,20}(?:[-*+][ \t]+|[0-9]{1,3}[.)][ \t]+)?)(`{3,}|~{3,})[ \t]*([^`\n]{0,100})\n?")
_BEGUN = regex(
    r"[ \t>]{0,20}(?:[-*+]?[ \t]*|[0-9]{1,3}[.)]?[ \t]*)(?:`{0,2}|~{0,2}|`{3,}[^`\n]{0,100}|~{3,}[^\n]{0,100})"
)
_CLOSING = regex(r"[ \t>]{0,20}(`{3,}|~{3,})[ \t\r]*\n?")
_HEADING = regex(r"^ {0,3}#{1,6} \S", re.MULTILINE)


class Fences:
    """Rewrites a stream.

    Args:
        knows: whether a run gave out an id.
        wrapping: the languages of a fence that is removed if the text begins with it.
    """

    def __init__(self, knows: Knows = lambda _: False, wrapping: frozenset[str] = MARKDOWN) -> None:
        self._knows, self._wrapping = knows, wrapping
        self._held = ""  # what is not decided yet
        self._line_start = True
        self._preamble: str | None = ""  # the beginning of the text, while it may only announce a fence
        self._given = 0  # how much of it was output
        self._sign = ""  # of the current fence of code
        self._wrappers: list[str] = []  # signs of the removed fences that are still open
        self._cited: list[str] = []  # in the current code

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""
        self._held += chunk
        return self._take(final=False)

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""
        return self._take(final=True) + self._release_preamble() + self._close_open_fence()

    def _take(self, final: bool) -> str:
        parts: list[str] = []
        while self._held:
            end, new = self._next(final)
            if not end:
                break
            parts.append(new)
            self._line_start = self._held[end - 1] == "\n"
            self._held = self._held[end:]
        return "".join(parts)

    def _next(self, final: bool) -> tuple[int, str]:
        """The end of the next decision (0 for none yet), and its output."""
        newline = self._held.find("\n")
        whole = newline >= 0 or final
        end = newline + 1 if newline >= 0 else len(self._held)
        if self._sign:
            return (end, self._rewrite_code(self._held[:end])) if whole else (0, "")
        if not self._line_start:
            return end, self._hold_preamble(self._held[:end])
        if not whole and _BEGUN.fullmatch(self._held):
            return 0, ""
        opening = _OPENING.fullmatch(self._held[:end]) if whole else None
        if opening is None:
            return end, self._hold_preamble(self._held[:end])
        if self._wrappers and not opening[3].strip() and opening[2].startswith(self._wrappers[-1]):
            self._wrappers.pop()
            return end, ""
        return self._open_fence(opening, end, final)

    # a fence begins

    def _open_fence(self, opening: re.Match[str], end: int, final: bool) -> tuple[int, str]:
        language = opening[3].strip().lower()
        inside, closed = self._fence_content(opening[2], end)
        decided = final or closed or len(inside) >= LOOK_AHEAD
        first = self._preamble is not None
        if language in self._wrapping and first:
            return self._remove_opening(opening[2], end)
        if language in PROSE and not opening[1]:
            if not decided:
                return 0, ""
            if ProseCitations(inside[:LOOK_AHEAD], self._knows).items or (
                first and not language and _HEADING.search(inside)
            ):
                return self._remove_opening(opening[2], end)
        self._sign = opening[2]
        return end, self._release_preamble() + self._held[:end]

    def _fence_content(self, sign: str, start: int) -> tuple[str, bool]:
        """The text of a fence so far, and whether it is complete."""
        at = start
        while at < len(self._held):
            newline = self._held.find("\n", at)
            stop = newline + 1 if newline >= 0 else len(self._held)
            closing = _CLOSING.fullmatch(self._held[at:stop]) if newline >= 0 else None
            if closing and closing[1].startswith(sign):
                return self._held[start:at], True
            at = stop
        return self._held[start:], False

    def _remove_opening(self, sign: str, end: int) -> tuple[int, str]:
        text = "" if self._is_announcement() else self._release_preamble()
        self._preamble = None
        self._wrappers.append(sign)
        return end, text

    # in prose, in code

    def _hold_preamble(self, text: str) -> str:
        """Prose as it is; the beginning of the text is held back while it may only announce a fence."""
        if self._preamble is None:
            return text
        self._preamble += text
        begun = self._preamble.lstrip()
        line = begun.partition("\n")[0].rstrip()
        ended = "\n" in begun
        if len(begun) > LONGEST_PREAMBLE or begun[:1] in ("#", "|") or (ended and not _announces(begun)):
            return self._release_preamble()
        if line and ProseCitations(begun, self._knows).items:
            return self._release_preamble()
        return "" if _may_announce(begun) else self._rest_of_preamble()

    def _rest_of_preamble(self) -> str:
        """The part of the text's beginning that was not output yet; the rest follows."""
        begun = self._preamble or ""
        text, self._given = begun[self._given :], len(begun)
        return text

    def _is_announcement(self) -> bool:
        return self._preamble is not None and _announces(self._preamble.strip() + "\n")

    def _release_preamble(self) -> str:
        """What is held back of the beginning; nothing is held back any more."""
        text, self._preamble = (self._preamble or "")[self._given :], None
        return text

    def _rewrite_code(self, line: str) -> str:
        """A line of code without its citations; they follow after its last line."""
        closing = _CLOSING.fullmatch(line)
        if closing and closing[1].startswith(self._sign):
            self._sign = ""
            return line + self._move_citations("\n" if line.endswith("\n") else "\n\n")
        found = ProseCitations(line, self._knows)
        self._cited.extend(found.items)
        return found.text if found.items else line

    def _move_citations(self, apart: str) -> str:
        """The citations of the code that has ended, in a paragraph of their own."""
        cited, self._cited = dict.fromkeys(self._cited), []
        return f"{apart}[{', '.join(cited)}]\n" if cited else ""

    def _close_open_fence(self) -> str:
        """Close a fence of code that nobody closed, at the end of the text."""
        return f"\n{self._sign}" + self._move_citations("\n\n") if self._sign and self._cited else ""


def _may_announce(text: str) -> bool:
    """True if a text may begin with a line that announces the rest, by its first word."""
    word = _FIRST_WORD.match(text)
    return word is None or not word[2] or word[1].lower() in OPENERS


def _announces(text: str) -> bool:
    """True if the text so far is one line that ends with a colon, and blank lines."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return not lines or (len(lines) == 1 and lines[0].rstrip("*_ ").endswith((":", "：")))


DATA = MARKDOWN | {"json", "jsonc", "json5", ""}
"""The languages of a fence around data that a model was asked for."""


class TextReader(Protocol):
    """Rewrites a text while it streams."""

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""


Reading = Callable[[], TextReader]
"""Begins to read a text."""


class CitationReader:
    """Reads a text with citations; `knows` says whether the run gave out an id."""

    def __init__(self, knows: Knows) -> None:
        self._stages: tuple[TextReader, ...] = (Fences(knows), CitationHoister(knows), Prose(knows))

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""
        for stage in self._stages:
            chunk = stage.feed(chunk)
        return chunk

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""
        text = ""
        for stage in self._stages:
            text = stage.feed(text) + stage.finish()
        return text


def citation_reading(knows: Knows) -> Reading:
    """The reading of a text with citations of ids that `knows` knows."""
    return lambda: CitationReader(knows)


def data_reader() -> TextReader:
    """The reading of data that a model may have wrapped in a fence."""
    return Fences(wrapping=DATA)


def read_all(reading: Reading, text: str) -> str:
    """A whole text, read with `reading`."""
    reader = reading()
    return reader.feed(text) + reader.finish()
