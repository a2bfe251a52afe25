"""Titles: what a document is called, as a reader would write it."""

from __future__ import annotations

import re

LONGEST = 300

_LINK = re.compile(r"!?\[([^\[\]]{0,300})\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,100}\])")
_ROLE = re.compile(r":[a-z][\w:+.-]{0,30}:`(?:[^`<]{0,200}<)?~?!?([^`<>]{1,300})>?`")
_TAG = re.compile(
    r"</?(?:a|b|br|center|code|div|em|font|h[1-6]|i|img|p|small|span|strong|sub|sup|tt|u)\b[^<>]{0,1000}>"
)
_EMPHASIS = re.compile(r"[*`]|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_DUNDER = re.compile(r"__\w+__")
_NONE = re.compile(
    r"untitled.{0,40}|no title|new (?:page|document)(?: ?\d+)?|(?:document|page|title)(?: ?\d+)?"
    r"|(?:index|default|main)\.(?:html?|php|aspx?)|https?://\S*",
    re.IGNORECASE,
)
"""What programs call a document nobody has named."""
_MADE = re.compile(r"microsoft word - ", re.IGNORECASE)
_MARKUP = re.compile(r"\.\. |<!|<\?|%|\\[a-z]+\b|#!|/\*|//")
"""What begins a line of markup or code, which is no title."""


def fit(stated: str) -> str:
    """A title without markup, on one line; "" where it is none: no word, or what programs put where nobody names it."""
    text = " ".join(stated[: 4 * LONGEST].split())
    if _MARKUP.match(text):
        return ""
    for pattern in (_LINK, _ROLE):
        text = pattern.sub(r"\1", text)
    text = _TAG.sub("", _MADE.sub("", text))
    if not _DUNDER.search(text):
        text = _EMPHASIS.sub("", text)
    text = " ".join(text.replace("¶", "").split())[:LONGEST].strip()
    return "" if _NONE.fullmatch(text) or not any(map(str.isalnum, text)) else text
