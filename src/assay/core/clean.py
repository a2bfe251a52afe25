"""Makes text from pages, documents and models harmless where people read it."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from urllib.parse import unquote, urlsplit

import msgspec

from assay.core.lazy import regex
from assay.core.scanner import Token, scan

_ESCAPE_SEQUENCE = r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]|\x1b\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|\x1b[ -/]{0,4}[0-~]"
_CONTROL = r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_REORDERING = r"[\u202a-\u202e\u2066-\u2069]"
HARMFUL = regex(rf"{_ESCAPE_SEQUENCE}|{_CONTROL}|{_REORDERING}|[\ud800-\udfff\ufff9-\ufffb]|[\U000e0000-\U000e007f]")
"""Terminal escapes, controls except tab and line ends (not a lone CR), bidi controls, surrogates, invisible tags."""
_MARKS = regex(r"[\u200e\u200f\u061c]")
_INLINE = regex(r"[\\`*_\[\]<>&|~$]")
_BLOCK = regex(r"^(#{1,6}|[-+=]|\d{1,9}(?=[.)]))")
_FORMULA_SIGNS = (*"=+-@\t\r\n", *"＝＋－＠")  # wide ones too: spreadsheets take them for the others
_NOT_IN_URL = regex(r"[\s<>()\"\\`^{}|]")


class Edit(msgspec.Struct, frozen=True):
    """A replacement of code points `[start, end)` by `text`."""

    start: int
    end: int
    text: str


class EditedText:
    """A text with replacements, and a map from its old to its new places."""

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits, key=lambda edit: (edit.start, edit.end))
        pieces: list[str] = []
        position = 0
        for edit in self._edits:
            pieces += (text[position : edit.start], edit.text)
            position = edit.end
        self.text = "".join((*pieces, text[position:]))
        self._ends = [edit.end for edit in self._edits]
        shifts = (len(edit.text) - (edit.end - edit.start) for edit in self._edits)
        self._shift = list(accumulate(shifts, initial=0))

    def position(self, point: int) -> int:
        """The new place of code point `point`; for replaced text, its start. Never decreases."""
        before = bisect_right(self._ends, point)
        if before < len(self._edits) and self._edits[before].start < point:
            point = self._edits[before].start
        return point + self._shift[before]


def harmful_edits(text: str) -> list[Edit]:
    """The edits that remove what must never be shown."""
    return [Edit(match.start(), match.end(), "") for match in HARMFUL.finditer(text)]


def escape_csv_cell(cell: str) -> str:
    """A cell of CSV; one that a spreadsheet would read as a formula gets an apostrophe."""
    return f"'{cell}" if cell.startswith(_FORMULA_SIGNS) else cell


def one_line(text: str) -> str:
    """A name safe to print: one line, without escapes, controls or marks of direction."""
    if not (text.isascii() and text.isprintable()):
        text = _MARKS.sub("", HARMFUL.sub("", text))
    return " ".join(text.split())


def error_words(error: BaseException) -> str:
    """An error's own words; of the system's errors those of its reason, without its number and the file's name. The
    name of an error that says nothing.
    """
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__


def escape_markdown(text: str) -> str:
    """`text` on one line, escaped so that Markdown shows it unchanged, even at the beginning of a line."""
    escaped = _INLINE.sub(lambda match: "\\" + match[0], one_line(text))
    return _BLOCK.sub(_escape_block, escaped)


def _escape_block(match: re.Match[str]) -> str:
    sign = match[1]
    return f"{sign[:-1]}{sign[-1]}\\" if sign.isdigit() else "\\" + sign


def link_target(url: str) -> str | None:
    """`url` as the target of a Markdown link, percent-encoded where necessary; None if it may not be linked.

    Only http and https addresses may; never `javascript:` or `data:`, nor a file, which readers refuse to open.
    """
    url = one_line(url)
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme.lower() not in {"http", "https"} or not parts.netloc:
        return None
    return _NOT_IN_URL.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)


def local_path(url: str) -> str | None:
    """The path of a `file:` URL, a bare path, or the name of an uploaded file; None for a network address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme.lower() == "file":
        return unquote(parts.path)
    if parts.scheme.lower() == "upload":
        return unquote(parts.path.rpartition("/")[2])
    return None if parts.netloc else url


# Removes from a report's Markdown what a viewer would load, run or hide by itself.

_ELEMENTS = (
    "a|animate|applet|area|audio|base|body|button|canvas|dialog|embed|form|frame|frameset|head|html|iframe|image|img|input"
    "|link|marquee|math|meta|noscript|object|option|param|picture|plaintext|portal|script|select|set|source|style|svg"
    "|template|textarea|title|track|use|video|xmp"
)
_TAG = rf"<(?=/?(?:{_ELEMENTS})(?:[\s/>]|\Z)|!|\?|/?[a-z][^<>]{{0,999}}[\s/\"']on[a-z]+\s*=)"
_AUTOLINK = r"(?<!\]\()<(?=(?!https?:|mailto:)[a-z][a-z0-9+.-]{1,31}:)"
_IMAGE = r"!(?=\[)"
_UNSAFE = r"(?!https?://|mailto:)(?=<?[^\s/?#()<>]*[:&\\])"
_DEFINITION = rf"^[ \t>*+\-0-9.)]{{0,60}}\[(?=[^\[\]\n]{{1,999}}\]:\s*<?{_UNSAFE})"
_SIGNS = regex(rf"\\.|(?P<acts>{_TAG}|{_AUTOLINK}|{_IMAGE}|{_DEFINITION})", re.IGNORECASE | re.MULTILINE)
_TARGET = regex(rf"(?<=\]\()\s*<?{_UNSAFE}", re.IGNORECASE)
_NO_CODE = regex(r"\$.*\$|`[^\n]*\n.*`|\\.|\\\(.*\\\)|\\\[.*\\\]|<.*>", re.DOTALL)


def active_markup_edits(markdown: str) -> list[Edit]:
    """The edits that make `markdown` inactive; most texts need none."""
    if not any(sign in markdown for sign in ("<", "![", "](", "]:")):
        return []
    return [edit for start, end in _prose_spans(markdown) for edit in _active_edits(markdown, start, end)]


def make_inactive(text: str) -> str:
    """A piece of Markdown that others follow, without what a viewer would load, run or hide, wherever it stands.

    Code in it counts as prose: an earlier piece may have begun some code that ends in this one.
    """
    text = HARMFUL.sub("", text)
    return EditedText(text, _active_edits(text, 0, len(text))).text


def _prose_spans(markdown: str) -> Iterator[tuple[int, int]]:
    """The parts that are neither code nor markers.

    Formulas are prose to most viewers, and a line of a code span may turn out to begin a block.
    """
    for prose, group in itertools.groupby(scan(markdown), key=lambda token: _is_prose(markdown, token)):
        if prose:
            tokens = list(group)
            yield tokens[0].start, tokens[-1].end


def _is_prose(markdown: str, token: Token) -> bool:
    if token.kind == "verbatim":
        return _NO_CODE.fullmatch(markdown, token.start, token.end) is not None
    return token.kind != "marker"


def _active_edits(markdown: str, start: int, end: int) -> Iterator[Edit]:
    for match in _SIGNS.finditer(markdown, start, end):
        if match["acts"]:
            yield Edit(match.end() - 1, match.end(), "\\" + markdown[match.end() - 1])
    for match in _TARGET.finditer(markdown, start, end):
        yield Edit(match.end(), match.end(), "unsafe:")
