"""Citation markers in a model's text: reading them, and rendering them for readers.

`core.scanner` documents which forms count as markers, and where none are looked for.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from assay.core.lazy import regex
from assay.core.scanner import Marker, Token, scan

__all__ = ["CitationMode", "Marker", "RenderedMarkers", "parse_markers", "render_markers", "strip_markers"]

CitationMode = Literal["numbers", "footnotes", "links", "markers", "none"]


def parse_markers(text: str) -> list[Marker]:
    """The markers of `text`, in order."""
    return list(_cached_markers(text))


@functools.lru_cache(maxsize=128)
def _cached_markers(text: str) -> tuple[Marker, ...]:
    """Cached, since every step from writing to the gate needs it for one report."""
    return tuple(token.marker for token in scan(text) if token.marker is not None)


# rendering


class RenderedMarkers(msgspec.Struct, frozen=True):
    """A rendered text, and the original place of each of its parts.

    `pieces` are `(raw, out, copied)`: from code point `raw` of the text as written on, the text from `out` on is a
    copy, or a replacement.
    """

    text: str
    pieces: tuple[tuple[int, int, bool], ...] = ()

    def position(self, raw: int) -> int:
        """The offset in `text` of offset `raw` as written, ascending; for replaced text, its start."""
        index = bisect_right(self.pieces, raw, key=lambda piece: piece[0]) - 1
        if index < 0:
            return 0
        start, output_start, copied = self.pieces[index]
        return min(output_start + raw - start, len(self.text)) if copied else output_start

    def origin(self, position: int) -> int:
        """The offset in the text as written of the character at `position`; for replaced text, its start."""
        index = bisect_right(self.pieces, position, key=lambda piece: piece[1]) - 1
        if index < 0:
            return 0
        start, output_start, copied = self.pieces[index]
        return start + position - output_start if copied else start


def cited_ids(text: str) -> frozenset[str]:
    """The ids in the markers of a text."""
    return frozenset(id for marker in parse_markers(text) for id in marker.ids)


def strip_markers(text: str) -> str:
    """`text` without markers and without the space before each."""
    return render_markers(text, {}, "none", {}).text


def render_markers(
    text: str, numbers: Mapping[str, int], mode: CitationMode, links: Mapping[int, tuple[str, str]]
) -> RenderedMarkers:
    """Render the markers of `text` for a reader.

    `numbers` maps a passage or source id to its display number. Other ids are dropped, and an empty marker goes with
    the space before it. `links` maps a number to a title and an address. Numbers are Markdown references (`[1] [3]`),
    footnotes `[^1] [^3]`, whose definitions the exporter adds; a number is not repeated directly after itself. In these
    modes a bare `[1]` (any `[^1]`) of the text itself is escaped, so that it does not look like a citation.
    """
    tokens = list(scan(text))
    bare = _bracket_pattern(mode, set(numbers.values()))
    edits = _escape_edits(text, tokens, bare) if bare is not None else []
    shown: set[object] = set()
    last = 0
    for marker in (token.marker for token in tokens if token.marker):
        if text[last : marker.start].strip(" \t"):
            shown = set()
        ids = [name for name in marker.ids if name in numbers] if mode != "none" else []
        edits.append((marker.start, marker.end, _citation_text(ids, numbers, mode, links, shown)))
        last = marker.end
    return _apply_edits(text, sorted(edits), _APART.get(mode, ""))


_Edit = tuple[int, int, str]
_SIGN: dict[CitationMode, str] = {"numbers": "", "footnotes": "^"}  # the beginning of a reference, inside its brackets
_APART: dict[CitationMode, str] = {
    "numbers": "]!",
    "footnotes": "]!^",
}  # `^[1]` is a footnote to pandoc, `][^1]` a link


def _apply_edits(text: str, edits: list[_Edit], apart: str) -> RenderedMarkers:
    """`text` with `edits` made; what becomes empty goes with the space before it (at a line's start, after it).

    References are kept apart from text that Markdown would join to them: from the characters `apart` before them, and,
    if there are any, from what would make them a link or a definition after them.
    """
    writer = _Writer(apart)
    raw = 0
    for edit_start, edit_end, new in edits:
        start, end = (edit_start, edit_end) if new else _with_space(text, raw, edit_start, edit_end)
        writer.put(raw, text[raw:start], copied=True)
        writer.put(start, new, copied=False)
        raw = end
    writer.put(raw, text[raw:], copied=True)
    writer.pieces.append((len(text), writer.length, True))
    return RenderedMarkers("".join(writer.parts), tuple(writer.pieces))


class _Writer:
    """Collects the pieces of a rendered text."""

    def __init__(self, apart: str) -> None:
        self.parts: list[str] = []
        self.pieces: list[tuple[int, int, bool]] = []
        self.length = 0
        self._apart = apart
        self._after_citation = False  # the last character is a citation's
        self._line = ""  # the end of the line so far

    def put(self, raw: int, part: str, copied: bool) -> None:
        if part and self._apart and self._would_join(part, copied):
            self._append(raw, " ", copied=False)
        if part or not copied:
            self._append(raw, part, copied)
        if part:
            self._after_citation = not copied and part.endswith("]")

    def _append(self, raw: int, part: str, copied: bool) -> None:
        self.pieces.append((raw, self.length, copied))
        self.parts.append(part)
        self.length += len(part)
        self._line = (self._line + part[-80:]).rpartition("\n")[2][-80:]

    def _would_join(self, part: str, copied: bool) -> bool:
        """True if Markdown would read a citation on one side of this joint as a part of something else."""
        if not copied:
            return part[0] == "[" and bool(self._line) and self._line[-1] in self._apart
        if not self._after_citation:
            return False
        return part[0] in "[(" or (part[0] == ":" and _LABEL_ALONE.fullmatch(self._line) is not None)


_LABEL_ALONE = regex(r"[ \t>*+\-0-9.)]*\[\^?[0-9]+\]")


BLANKS = " \t\u00a0\u202f\u200b"
"""What models put before a citation, so that it stays on its line or may begin the next."""


def _with_space(text: str, since: int, start: int, end: int) -> tuple[int, int]:
    """The range `[start, end)` with the spaces before it, from `since` on; at a line's start, those after it."""
    before = start
    while before > since and text[before - 1] in BLANKS:
        before -= 1
    if before > 0 and text[before - 1] != "\n":
        return before, end
    while end < len(text) and text[end] in BLANKS:
        end += 1
    return start, end


def _bracket_pattern(mode: CitationMode, numbers: set[int]) -> re.Pattern[str] | None:
    """The opening brackets of text that a reader would take for a citation although it is not."""
    if mode == "footnotes":
        return re.compile(r"\[(?=\^\s*[0-9]+\s*\])")
    if mode != "numbers" or not numbers:
        return None
    return re.compile(rf"\[(?=\s*0*(?:{'|'.join(map(str, sorted(numbers)))})\s*\])")


def _escape_edits(text: str, tokens: list[Token], bare: re.Pattern[str]) -> list[_Edit]:
    """Edits that keep a `bare` number of the text, or its own definition, from becoming a citation."""
    edits: list[_Edit] = []
    for kind, group in itertools.groupby(tokens, key=lambda token: token.kind):
        if kind not in {"text", "link"}:
            continue
        run = list(group)
        links = {token.start for token in run if kind == "link"}
        openings = {start for start in links if text[start - 1 : start] != "]"}
        brackets = (match.start() for match in bare.finditer(text, run[0].start, run[-1].end))
        edits.extend((index, index + 1, "\\[") for index in brackets if index not in openings)
    return edits


def _citation_text(
    ids: list[str],
    numbers: Mapping[str, int],
    mode: CitationMode,
    links: Mapping[int, tuple[str, str]],
    shown: set[object],
) -> str:
    """The replacement of a marker with these ids, without those in `shown`; adds to it."""
    if mode == "markers":
        fresh_ids = [name for name in ids if name not in shown]
        shown.update(fresh_ids)
        return f"[{', '.join(fresh_ids)}]" if fresh_ids else ""
    fresh = [number for number in dict.fromkeys(numbers[name] for name in ids) if number not in shown]
    shown.update(fresh)
    if not fresh:
        return ""
    if mode == "links":
        return "(" + "; ".join(_link(number, links.get(number)) for number in fresh) + ")"
    return " ".join(f"[{_SIGN.get(mode, '')}{number}]" for number in fresh)


_MARKDOWN = regex(r"([\\`*_\[\]<>$|])")


def _link(number: int, link: tuple[str, str] | None) -> str:
    """A Markdown link; only the title if the address may not be linked, the number if there is no title."""
    if link is None:
        return str(number)
    title, url = link
    label = _MARKDOWN.sub(r"\\\1", " ".join(title.split())) or str(number)
    target = "".join(f"%{ord(sign):02X}" if sign in '<>()"\\ ' or sign < " " else sign for sign in url)
    return f"[{label}]({target})" if target and _may_be_linked(url) else label


def _may_be_linked(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in {"http", "https", "file", ""}
    except ValueError:
        return False
