"""Addresses in prose, and what a reference calls the document it names."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

BARE = re.compile(r"(?<![\w@])(?:https?|file)://[^\s<>\"`|\\^{}【】（）「」『』，。；、]{1,4000}", re.IGNORECASE)
"""An address which stands in prose; `trimmed` takes off what belongs to the sentence."""

_PATH = re.compile(r"(?:[\w.~-]+/)*[\w~-][\w.~-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?:#\S*)?")
_ENDING = ".,;:!?*_~'"
_PAIRS = {")": "(", "]": "["}
_SIGNS = re.compile(r"[*_`]+|^\W+|[\s:,;.–—|-]+$")
_ACCESSED = re.compile(r"(?i)[\s,.;(]*\b(?:retrieved|accessed|abgerufen|consulté)\b[^\n]{0,60}$")


def trimmed(url: str) -> str:
    """`url` without the signs at its end which belong to the sentence around it (GFM 0.29, 6.9)."""
    while url:
        last = url[-1]
        if (last in _PAIRS and url.count(last) > url.count(_PAIRS[last])) or last in _ENDING:
            url = url[:-1]
        else:
            return url
    return url


def linked(piece: str) -> tuple[str, str] | None:
    """Label and target of the link `piece` is, as Markdown reads it; None where it is none (`javascript:`, images)."""
    tokens = _markdown().parseInline(piece)[0].children or []
    opening = next((at for at, token in enumerate(tokens) if token.type == "link_open"), None)
    if opening is None:
        return None
    words: list[str] = []
    for token in tokens[opening + 1 :]:
        if token.type == "link_close":
            break
        words.append(token.content if token.type in ("text", "code_inline") else " " if "break" in token.type else "")
    return "".join(words), str(tokens[opening].attrs.get("href", ""))


class _Links(MarkdownIt):
    """Markdown whose links may lead to files too: nothing here follows them."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the name the library calls
        return url.strip().lower().startswith("file:") or super().validateLink(url)


@functools.cache
def _markdown() -> MarkdownIt:
    return _Links("commonmark")


def address_in(entry: str) -> str:
    """The first address or path a reference gives: of a link, in angle brackets, bare; empty without one."""
    for found in _addresses(entry):
        if found:
            return found
    return ""


def _addresses(entry: str) -> Iterator[str]:
    for token in _markdown().parseInline(entry)[0].children or []:
        if token.type == "link_open":
            yield str(token.attrs.get("href", ""))
    if bare := BARE.search(entry):
        yield trimmed(bare[0])
    whole = entry.split()
    if whole and _PATH.fullmatch(whole[0].strip("<>")):
        yield whole[0].strip("<>")


def titled(entry: str) -> str:
    """What a reference calls its document: its words without addresses, marks and the day it was read."""
    words = "".join(
        token.content if token.type in ("text", "code_inline") else " " if "break" in token.type else ""
        for token in _markdown().parseInline(entry)[0].children or []
    )
    words = _ACCESSED.sub("", BARE.sub(" ", words))
    return " ".join(_SIGNS.sub(" ", " ".join(words.split())).split())
