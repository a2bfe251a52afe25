"""Titles of numbered sections in plain text, whose line only a line break parts from the sentences below it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.patterns import regex
from assay.core.text import ends_sentence, ends_unfinished

TITLE_WORDS = 8
"""The most words of a title."""
_TITLE = regex(
    r"[ \t]*(?P<number>\d{1,3}(?:\.\d{1,3}){0,4}[.)]?|§+[ ]?\d{1,4}[a-z]?)[ \t]+(?P<title>[^\W\d_a-zß-ÿа-я].*?)[ \t]*\n"
    r"(?=(?P<below>[ \t]*(?P<first>[^\s]+).*))"
)
_NUMBERING = regex(r"(?:§+[ ]?)?\d{1,3}(?:\.\d{1,3}){0,4}[.)]?[ \t]+(?=\S)")
_STARTED = regex(r"[\"'“„«(\[]?[^\W_a-zß-ÿа-я]")


def sections(text: str) -> Iterator[tuple[str, int, int]]:
    """The parts of a text as titles above them (outermost first, joined by spaces) and spans, in order.

    Text without a numbered title is one part with an empty title. A line that the next one continues is no title, and
    neither is an item of a list, nor one behind a line that is no end of a sentence.
    """
    above: list[tuple[int, str]] = []
    start, at = 0, 0
    longest = max(map(len, text.splitlines()), default=0)
    while at < len(text):
        after = text.find("\n", at) + 1 or len(text)
        begins = not text[start:at].strip() or ends_sentence(text[start:at].rstrip())
        title = _title(text, at, longest) if begins else None
        if title is not None:
            if text[start:at].strip():
                yield _path(above), start, at
            above = [each for each in above if each[0] < title[0]]
            above.append(title)
            start = after
        at = after
    if text[start:].strip():
        yield _path(above), start, len(text)


def without_number(title: str) -> str:
    """A title without the number of its section."""
    return _NUMBERING.sub("", title, count=1) if _NUMBERING.match(title) else title


def _path(above: list[tuple[int, str]]) -> str:
    return " ".join(title for _, title in above)


def _title(text: str, at: int, longest: int) -> tuple[int, str] | None:
    """The depth and the words of the title on the line that begins at `at`; None if it is none."""
    match = _TITLE.match(text, at)
    if match is None or not _STARTED.match(match["first"]):
        return None
    title, line = match["title"], match[0].rstrip()
    fits = len(line) + 1 + len(match["first"]) <= longest
    if not fits or len(title.split()) > TITLE_WORDS or ends_sentence(title) or ends_unfinished(title):
        return None
    depth, below = _depth(match["number"]), _TITLE.match(f"{match['below']}\nX")
    return None if below is not None and _depth(below["number"]) <= depth else (depth, title)


def _depth(number: str) -> int:
    return number.rstrip(".)").count(".")
