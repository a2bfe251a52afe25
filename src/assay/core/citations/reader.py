"""Reads a model's text: makes wrapped citations plain, and removes the fence around the text.

The joined output does not depend on how the stream is cut. A text without ids that the run gave out stays unchanged,
except for a fence around all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from assay.core.citations.prose import CitationHoister, IsKnown, Prose, ProseCitations
from assay.core.lazy import regex
from assay.core.scanner import LOOK_AHEAD

# Fences that models put around text that is not code: removed while the text streams.

MARKDOWN = frozenset(("markdown", "md", "mdown", "mdx", "gfm"))
PROSE = MARKDOWN | {"", "text", "txt", "plain", "plaintext"}
JSON = frozenset(("json", "jsonc", "json5"))
"""Languages of a fence that is removed if a text begins with it and cites something inside: a report as JSON."""
MAX_PREAMBLE_CHARS = 240
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
        is_known: whether a run gave out an id.
        wrapper_languages: the languages of a fence that is removed if the text begins with it.
    """

    def __init__(self, is_known: IsKnown = lambda _: False, wrapper_languages: frozenset[str] = MARKDOWN) -> None:
        self._is_known, self._wrapper_languages = is_known, wrapper_languages
        self._buffer = ""  # what is not decided yet
        self._line_start = True
        self._preamble: str | None = ""  # the beginning of the text, while it may only announce a fence
        self._preamble_output = 0  # how much of it was output
        self._sign = ""  # of the current fence of code
        self._wrappers: list[str] = []  # signs of the removed fences that are still open
        self._cited_ids: list[str] = []  # in the current code

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""
        self._buffer += chunk
        return self._take(final=False)

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""
        return self._take(final=True) + self._release_preamble() + self._close_open_fence()

    def _take(self, final: bool) -> str:
        parts: list[str] = []
        while self._buffer:
            end, new = self._next(final)
            if not end:
                break
            parts.append(new)
            self._line_start = self._buffer[end - 1] == "\n"
            self._buffer = self._buffer[end:]
        return "".join(parts)

    def _next(self, final: bool) -> tuple[int, str]:
        """The end of the next decision (0 for none yet), and its output."""
        newline = self._buffer.find("\n")
        is_complete = newline >= 0 or final
        end = newline + 1 if newline >= 0 else len(self._buffer)
        if self._sign:
            return (end, self._rewrite_code(self._buffer[:end])) if is_complete else (0, "")
        if not self._line_start:
            return end, self._hold_preamble(self._buffer[:end])
        if not is_complete and _BEGUN.fullmatch(self._buffer):
            return 0, ""
        opening = _OPENING.fullmatch(self._buffer[:end]) if is_complete else None
        if opening is None:
            return end, self._hold_preamble(self._buffer[:end])
        if self._wrappers and not opening[3].strip() and opening[2].startswith(self._wrappers[-1]):
            self._wrappers.pop()
            return end, ""
        return self._open_fence(opening, end, final)

    # a fence begins

    def _open_fence(self, opening: re.Match[str], end: int, final: bool) -> tuple[int, str]:
        language = opening[3].strip().lower()
        inside, is_closed = self._fence_content(opening[2], end)
        is_decided = final or is_closed or len(inside) >= LOOK_AHEAD
        first = self._preamble is not None
        if language in self._wrapper_languages and first:
            return self._remove_opening(opening[2], end)
        if language in PROSE | (JSON if first else frozenset()) and not opening[1]:
            if not is_decided:
                return 0, ""
            if ProseCitations(inside[:LOOK_AHEAD], self._is_known).items or (
                first and not language and _HEADING.search(inside)
            ):
                return self._remove_opening(opening[2], end)
        self._sign = opening[2]
        return end, self._release_preamble() + self._buffer[:end]

    def _fence_content(self, sign: str, start: int) -> tuple[str, bool]:
        """The text of a fence so far, and whether it is complete."""
        line_start = start
        while line_start < len(self._buffer):
            newline = self._buffer.find("\n", line_start)
            stop = newline + 1 if newline >= 0 else len(self._buffer)
            closing = _CLOSING.fullmatch(self._buffer[line_start:stop]) if newline >= 0 else None
            if closing and closing[1].startswith(sign):
                return self._buffer[start:line_start], True
            line_start = stop
        return self._buffer[start:], False

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
        preamble = self._preamble.lstrip()
        line = preamble.partition("\n")[0].rstrip()
        has_newline = "\n" in preamble
        if (
            len(preamble) > MAX_PREAMBLE_CHARS
            or preamble[:1] in ("#", "|")
            or (has_newline and not _announces(preamble))
        ):
            return self._release_preamble()
        if line and ProseCitations(preamble, self._is_known).items:
            return self._release_preamble()
        return "" if _may_announce(preamble) else self._rest_of_preamble()

    def _rest_of_preamble(self) -> str:
        """The part of the text's beginning that was not output yet; the rest follows."""
        preamble = self._preamble or ""
        text, self._preamble_output = preamble[self._preamble_output :], len(preamble)
        return text

    def _is_announcement(self) -> bool:
        return self._preamble is not None and _announces(self._preamble.strip() + "\n")

    def _release_preamble(self) -> str:
        """What is held back of the beginning; nothing is held back any more."""
        text, self._preamble = (self._preamble or "")[self._preamble_output :], None
        return text

    def _rewrite_code(self, line: str) -> str:
        """A line of code without its citations; they follow after its last line."""
        closing = _CLOSING.fullmatch(line)
        if closing and closing[1].startswith(self._sign):
            self._sign = ""
            return line + self._move_citations("\n" if line.endswith("\n") else "\n\n")
        citations = ProseCitations(line, self._is_known)
        self._cited_ids.extend(citations.items)
        return citations.text if citations.items else line

    def _move_citations(self, separator: str) -> str:
        """The citations of the code that has ended, in a paragraph of their own."""
        ids, self._cited_ids = dict.fromkeys(self._cited_ids), []
        return f"{separator}[{', '.join(ids)}]\n" if ids else ""

    def _close_open_fence(self) -> str:
        """Close a fence of code that nobody closed, at the end of the text."""
        return f"\n{self._sign}" + self._move_citations("\n\n") if self._sign and self._cited_ids else ""


def _may_announce(text: str) -> bool:
    """True if a text may begin with a line that announces the rest, by its first word."""
    word = _FIRST_WORD.match(text)
    return word is None or not word[2] or word[1].lower() in OPENERS


def _announces(text: str) -> bool:
    """True if the text so far is one line that ends with a colon, and blank lines."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return not lines or (len(lines) == 1 and lines[0].rstrip("*_ ").endswith((":", "：")))


DATA = MARKDOWN | JSON | {""}
"""The languages of a fence around data that a model was asked for."""


class TextReader(Protocol):
    """Rewrites a text while it streams."""

    def feed(self, chunk: str) -> str:
        """Add text; return what is certain of the new text."""

    def finish(self) -> str:
        """Return the rest; add nothing afterwards."""


ReaderFactory = Callable[[], TextReader]
"""Begins to read a text."""


class CitationReader:
    """Reads a text with citations; `is_known` says whether the run gave out an id."""

    def __init__(self, is_known: IsKnown) -> None:
        self._stages: tuple[TextReader, ...] = (Fences(is_known), CitationHoister(is_known), Prose(is_known))

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


def citation_reading(is_known: IsKnown) -> ReaderFactory:
    """The reading of a text with citations of ids that `is_known` knows."""
    return lambda: CitationReader(is_known)


def data_reader() -> TextReader:
    """The reading of data that a model may have wrapped in a fence."""
    return Fences(wrapper_languages=DATA)


def read_all(reader_factory: ReaderFactory, text: str) -> str:
    """A whole text, read with `reader_factory`."""
    reader = reader_factory()
    return reader.feed(text) + reader.finish()
