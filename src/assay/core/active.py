"""Taking the action out of a report's Markdown: what a viewer would load, run or hide on its own.

A report quotes pages, so its text may hold their markup. Images (which tell a server that somebody reads), raw HTML
that acts, comments (which hide what was written) and links which are no addresses are left to read, and do nothing.
Code spans and fences are shown as they are by any viewer and stay untouched. A viewer's own sanitizer is still wanted:
dialects of Markdown differ in what they take for code.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from assay.core.clean import Edit
from assay.core.scanner import Token, scan

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
_SIGNS = re.compile(rf"\\.|(?P<acts>{_TAG}|{_AUTOLINK}|{_IMAGE}|{_DEFINITION})", re.IGNORECASE | re.MULTILINE)
_TARGET = re.compile(rf"(?<=\]\()\s*<?{_UNSAFE}", re.IGNORECASE)
_NO_CODE = re.compile(r"\$.*\$|`[^\n]*\n.*`|\\.|\\\(.*\\\)|\\\[.*\\\]|<.*>", re.DOTALL)


def active(markdown: str) -> list[Edit]:
    """The edits which make `markdown` do nothing; most texts need none."""
    if not any(sign in markdown for sign in ("<", "![", "](", "]:")):
        return []
    return [edit for start, end in _prose(markdown) for edit in _edits(markdown, start, end)]


def _prose(markdown: str) -> Iterator[tuple[int, int]]:
    """The stretches which are neither code nor markers.

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


def _edits(markdown: str, start: int, end: int) -> Iterator[Edit]:
    for found in _SIGNS.finditer(markdown, start, end):
        if found["acts"]:
            yield Edit(found.end() - 1, found.end(), "\\" + markdown[found.end() - 1])
    for found in _TARGET.finditer(markdown, start, end):
        yield Edit(found.end(), found.end(), "unsafe:")
