"""Text as it is compared: without Markdown, in one Unicode form, and traceable back to where it came from."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

import msgspec

_MARKUP = re.compile(
    r"""
      (?P<link>!?\[(?P<label>(?:[^\[\]\\]|\\.)*)\]\((?:[^\s()]|\([^\s()]*\))*(?:[ ]+"[^"\n]*")?\))
    | <(?P<auto>[a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>
    | ^[ \t]*(?:\#{1,6}|>|[-*+•])[ \t]+(?:\#{1,6}[ \t]+)?
    | \\(?=[!-/:-@\[-`{-~])
    | `+ | ~~
    | (?<![0-9])\*+(?=\S) | (?<=\S)\*+(?![0-9])
    | (?<![^\W_])(?<![^\W_]\\)_+(?=\S) | (?<=\S)_+(?![^\W_])
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_SAME = {
    **dict.fromkeys("“”„‟«»〝〞＂", '"'),
    **dict.fromkeys("‘’‚‛′‹›ʼ", "'"),
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
}
_KEPT_APART = ("<super>", "<sub>", "<fraction>")
"""Compatibility forms which change a value when they are folded: 10² is not 102."""


class FoldedText(msgspec.Struct, frozen=True):
    """A folded text; `starts` and `ends` tell which piece of the original each of its characters was."""

    text: str
    starts: array[int]
    ends: array[int]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` (not empty) was: code points `[start, end)` of the original."""
        return self.starts[start], self.ends[end - 1]

    def index(self, origin: int) -> int:
        """The first character of `text` made of the original from `origin` on; the length when there is none."""
        return bisect_left(self.starts, origin)


@lru_cache(maxsize=1024)
def plain(text: str) -> FoldedText:
    """`text` for comparing: no Markdown signs, NFKC, one kind of quotation mark and dash, single spaces, trimmed.

    Case is kept, and so are superscripts, subscripts and fractions.
    """
    kept = _without_markup(text)
    signs: list[str] = []
    starts, ends = array("I"), array("I")
    if text.isascii():
        pieces: Iterable[tuple[int, str, int]] = ((at, text[at], 1) for at in kept)
    else:
        pieces = ((at, sign, len(cluster)) for at, cluster in _clusters(text, kept) for sign in _folded(cluster))
    for at, sign, length in pieces:
        space = sign.isspace()
        if space and (not signs or signs[-1] == " "):
            continue
        signs.append(" " if space else sign)
        starts.append(at)
        ends.append(at + length)
    if signs and signs[-1] == " ":
        del signs[-1], starts[-1], ends[-1]
    return FoldedText("".join(signs), starts, ends)


def _without_markup(text: str) -> list[int]:
    """The places of the characters which are no Markdown signs."""
    kept: list[int] = []
    last = 0
    for match in _MARKUP.finditer(text):
        kept.extend(range(last, match.start()))
        inner = "label" if match["link"] else "auto" if match["auto"] else ""
        if inner:
            kept.extend(range(*match.span(inner)))
        last = match.end()
    kept.extend(range(last, len(text)))
    return kept


def _clusters(text: str, kept: list[int]) -> list[tuple[int, str]]:
    """Characters with the marks which follow them, each with the place of its first."""
    found: list[tuple[int, str]] = []
    for at in kept:
        if found and unicodedata.combining(text[at]):
            found[-1] = (found[-1][0], found[-1][1] + text[at])
        else:
            found.append((at, text[at]))
    return found


def _folded(cluster: str) -> str:
    if cluster in _SAME:
        return _SAME[cluster]
    if cluster.isascii():
        return cluster
    if unicodedata.decomposition(cluster[0]).startswith(_KEPT_APART):
        return unicodedata.normalize("NFC", cluster)
    folded = unicodedata.normalize("NFKC", cluster)
    return "".join(_SAME.get(sign, _digit(sign)) for sign in folded)


def _digit(sign: str) -> str:
    """Decimal digits of any script as 0 to 9."""
    return str(unicodedata.decimal(sign)) if not sign.isascii() and sign.isdecimal() else sign
