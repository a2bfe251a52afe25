"""Where a text cites: `[1]`, `[1, 3-5]`, `【1†…】`, `[^note]`, `<sup>1</sup>`, `[words](address)`, `<address>`,
`https://…`.

Code, formulas, images and escaped brackets are none. Linear: the text is cut by `core.scanner`, and what is looked for
in its prose has bounded parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from assay.core.scanner import Token
from assay.verify.texts.references import BARE, Definitions, linked, normal, trimmed

MOST = 50
"""Numbers of a range (`[3-5]`) which are taken."""


class CitationSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A citation at code points `[start, end)`: labels of references, or one address.

    `shown` is what of it belongs to the sentence: a link's words.
    """

    start: int
    end: int
    labels: tuple[str, ...] = ()
    url: str = ""
    shown: str = ""


_NUMBER = r"\^?\d{1,3}(?!\d)"
_NUMBERS = re.compile(rf"\s*{_NUMBER}(?:\s*(?:[-\u2010-\u2015~]|[,;，、；&]|and)\s*{_NUMBER})*\s*(?:†[^\]】\n]*)?")
_PART = re.compile(r"(\d{1,3})(?:\s*[-\u2010-\u2015~]\s*\^?(\d{1,3}))?")
_PROSE = re.compile(
    rf"(?P<bracket>[\[【](?P<label>[^\[\]【】\n]{{1,120}})[\]】])"
    rf"|<sup>[ \t]{{0,3}}\[?(?P<raised>{_NUMBER}(?:[ \t]?[,;-][ \t]?{_NUMBER})*)\]?[ \t]{{0,3}}</sup>"
    rf"|(?P<url>{BARE.pattern})",
    re.IGNORECASE,
)
_NESTED = re.compile(r"\[\s*\[(?P<label>[^\[\]\n]{1,120})\]\s*\]")
_CHECKBOX = re.compile(r"[ xX]")


def places(text: str, known: Definitions, tokens: Sequence[Token]) -> tuple[CitationSpan, ...]:
    """The citations of `text`, whose pieces are `tokens`: in order, none in another, outside the entries of `known`."""
    entries = [(each.start, each.end) for each in known.all]
    found: list[CitationSpan] = []
    at = 0
    for place in _found(text, known, tokens):
        while at < len(entries) and entries[at][1] <= place.start:
            at += 1
        if not (at < len(entries) and entries[at][0] <= place.start) and not (found and place.start < found[-1].end):
            found.append(place)
    return tuple(found)


def _found(text: str, known: Definitions, tokens: Sequence[Token]) -> Iterator[CitationSpan]:
    for is_prose, group in groupby(tokens, key=lambda token: token.kind == "text"):
        alike = list(group)
        if is_prose:
            yield from _in_prose(text, alike[0].start, alike[-1].end, known)
        else:
            yield from (place for token in alike if (place := _of_token(text, token)))


def _of_token(text: str, token: Token) -> CitationSpan | None:
    """The citation a link is, or an address in angle brackets, or what looks like a marker of a run."""
    piece = text[token.start : token.end]
    if token.marker:
        return CitationSpan(start=token.start, end=token.end, labels=tuple(map(normal, token.marker.ids)))
    if token.kind == "link" and text[token.start - 1 : token.start] != "!":
        found = linked(piece)
        if found:
            label, url = found
            number = label.strip(" []^")
            shown = "" if number.isdecimal() else label
            return CitationSpan(start=token.start, end=token.end, url=url, shown=shown)
    if token.kind == "verbatim" and piece.startswith("<") and BARE.fullmatch(piece[1:-1]):
        return CitationSpan(start=token.start, end=token.end, url=piece[1:-1])
    return None


def _in_prose(text: str, start: int, end: int, known: Definitions) -> Iterator[CitationSpan]:
    words: re.Match[str] | None = None  # a bracket without meaning of its own, just before
    for match in _PROSE.finditer(text, start, end):
        labels = _labels(match, known)
        if match["url"]:
            url = trimmed(match["url"])
            yield CitationSpan(start=match.start(), end=match.start() + len(url), url=url)
        elif labels:
            joined = words if words and words.end() == match.start() and not labels[0].isdecimal() else None
            first, last = (joined or match).start(), match.end()
            if not joined and text[first - 1 : first] == "[" and text[last : last + 1] == "]":
                first, last = first - 1, last + 1
            yield CitationSpan(start=first, end=last, labels=labels, shown=joined["label"] if joined else "")
        words = match if match["bracket"] and not labels else None


def _labels(match: re.Match[str], known: Definitions) -> tuple[str, ...]:
    """The references a bracket names: one that is defined, or numbers."""
    inner = match["raised"] or match["label"]
    if not inner or _CHECKBOX.fullmatch(inner):
        return ()
    if inner in known or (inner.startswith("^") and " " not in inner):
        return (normal(inner),)
    if _NUMBERS.fullmatch(inner):
        return _numbers(inner.partition("†")[0])
    parts = [part.strip() for part in re.split(r"[,;]", inner)]
    return tuple(map(normal, parts)) if len(parts) > 1 and all(part in known for part in parts) else ()


def _numbers(inner: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for part in _PART.finditer(inner):
        first, last = int(part[1]), int(part[2] or part[1])
        numbers = range(first, min(last, first + MOST - 1) + 1) if first <= last else (first, last)
        found.update(dict.fromkeys(map(str, numbers)))
    return tuple(found)
