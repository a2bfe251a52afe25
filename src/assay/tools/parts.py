"""Which part of a document to show when it is too long to be shown whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.core.clean import one_line
from assay.core.relevance import QuotableStatement, rank, read_question
from assay.core.sources import PassageSpan
from assay.tools.common import within

HEAD_SHARE = 0.3
GOING_ON = 2
"""Passages shown after one that matches: what is said of a name often stands in the sentences after it."""
MOST_HEADINGS = 24
LANGUAGE = 5
"""Passages by which the language of a document is told."""


def part(spans: Sequence[PassageSpan], find: str, characters: int) -> tuple[PassageSpan, ...]:
    """The passages to show, in the document's order: all that fit; else its beginning, and the best for `find`.

    With each passage that matches, those after it under the same heading are shown.
    """
    if sum(len(span.text) for span in spans) <= characters:
        return tuple(spans)
    if not find.strip():
        return within(spans, characters)
    head = within(spans, int(characters * HEAD_SHARE))
    used = sum(len(span.text) for span in head)
    chosen = {span.ordinal: span for span in head}
    for span in _with_following(spans, matching(spans, find)):
        if span.ordinal not in chosen:
            used += len(span.text)
            if used > characters and len(chosen) > len(head):
                break
            chosen[span.ordinal] = span
    return tuple(sorted(chosen.values(), key=lambda span: span.ordinal))


def _with_following(spans: Sequence[PassageSpan], best: Iterable[PassageSpan]) -> Iterator[PassageSpan]:
    """Each of `best`, then what goes on from it."""
    places = {span.ordinal: place for place, span in enumerate(spans)}
    for span in best:
        yield span
        after = places[span.ordinal] + 1
        yield from (each for each in spans[after : after + GOING_ON] if each.heading == span.heading)


def matching(spans: Sequence[PassageSpan], find: str) -> list[PassageSpan]:
    """The passages which share words with `find` in text or heading, those which answer it best first."""
    asked = read_question(find, beside="\n".join(span.text for span in spans[:LANGUAGE]))
    statements = [
        QuotableStatement(
            text=each.text, place=each.ordinal, label=each.label, heading=" ".join((*each.heading, each.lead))
        )
        for each in spans
    ]
    return [spans[place] for place in rank(asked, statements, len(statements))]


def outline(spans: Sequence[PassageSpan]) -> str:
    """The headings of a document in order: `Abstract; Motivation > Why now; …`."""
    paths = list(dict.fromkeys(span.heading for span in spans if span.heading))
    shown = "; ".join(one_line(" > ".join(path[-2:])) for path in paths[:MOST_HEADINGS])
    return f"{shown}; …" if len(paths) > MOST_HEADINGS else shown
