"""The text around quotes as people read it: in plain words, and once for quotes that stand close together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.sources import SNIPPET

_AS_WRITTEN = frozenset(("text/plain", "text/x-source", SNIPPET))
"""Media types whose text is shown as it is: in code and in a plain text, `#` and `|` mean something else."""
_NO_MARKDOWN = _AS_WRITTEN | {"application/pdf", "message/rfc822", "application/mbox"}
"""Media types without headings, lists and emphasis in Markdown; tables have bars in all formats."""

_ROW = regex(r"(?m)^[ \t]*\|[ \t]+(?=\S)|(?<![ \t])[ \t]+\|[ \t]*$")
_BEGINNING = regex(
    r"(?m)^(?:(?=[|:\- \t]*?---)[|:\- \t]++|[ \t]*(?:={3,}|\*{3,}|(?:```|~~~).*)[ \t]*)(?:\n|\Z)"
    r"|^(?:#{1,6}|>)[ \t]+"
)
_BULLET = regex(r"(?m)^([ \t]*)[-*+][ \t]+")
_INLINE = regex(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|(?P<ticks>``?)(?P<code>[^`\n]+)(?P=ticks)"
    r"|!?\[(?P<link>[^\[\]\n]+)\]\([^()\s]*\)"
    r"|(?<!\w)(?P<stars>\*\*?)(?P<strong>[^\s*](?:[^*\n]*[^\s*])?)(?P=stars)(?!\w)"
)


def plain_words(text: str, media_type: str) -> str:
    """Text around a quote without the marks of headings, rows, quotations, emphasis, links and code.

    `media_type` is that of the document. The lines stay lines, and a bullet stays one.
    """
    if media_type in _AS_WRITTEN:
        return text
    if media_type not in _NO_MARKDOWN:
        text = _BULLET.sub(r"\1• ", _BEGINNING.sub("", text))
        text = _INLINE.sub(lambda match: match["escaped"] or match["code"] or match["link"] or match["strong"], text)
    return _ROW.sub("", text)


def printed_quote(text: str, media_type: str) -> str:
    """A quote's words on one line, without the bars at the ends of a table's rows."""
    return one_line(text if media_type in _AS_WRITTEN else _ROW.sub("", text))


class QuotePlace(NamedTuple):
    """The bytes `[start, end)` of a quote in its document, and the text around it."""

    start: int
    end: int
    before: str
    after: str


class QuoteInContext(msgspec.Struct, frozen=True):
    """A quote, by its place in a list, with its part of the text around it.

    One that `follows` another in the same text has no `before`; the `after` of one that `is_followed` reaches to the
    next. So a group's parts, joined, are the text.
    """

    index: int
    before: str
    after: str
    follows: bool = False
    is_followed: bool = False


def group_quotes(quotes: Sequence[QuotePlace]) -> list[list[QuoteInContext]]:
    """The quotes of one document in groups whose surroundings touch or overlap.

    A group's quotes are in the order of the document; the groups are in the order of their first quotes in `quotes`.
    """
    groups: list[list[QuoteInContext]] = []
    for index in sorted(range(len(quotes)), key=lambda index: quotes[index].start):
        quote = quotes[index]
        last = groups[-1][-1] if groups else None
        between = _text_between(quotes[last.index], quote) if last else None
        if last is None or between is None:
            groups.append([QuoteInContext(index, quote.before, quote.after)])
        else:
            groups[-1][-1] = msgspec.structs.replace(last, after=between, is_followed=True)
            groups[-1].append(QuoteInContext(index, "", quote.after, follows=True))
    return sorted(groups, key=lambda group: min(part.index for part in group))


def _text_between(first: QuotePlace, second: QuotePlace) -> str | None:
    """The text from one quote to a later one, if the surroundings of both give all of it and agree."""
    gap = second.start - first.end
    after, before = (part.encode("utf-8", "surrogatepass") for part in (first.after, second.before))
    if gap < 0 or len(after) + len(before) < gap:
        return None
    known = after[:gap]
    between = known + before[len(before) - (gap - len(known)) :] if len(known) < gap else known
    if between.endswith(before) or before.endswith(between):
        with suppress(UnicodeDecodeError):  # a bundle from elsewhere may have the surroundings of another text
            return between.decode("utf-8", "surrogatepass")
    return None
