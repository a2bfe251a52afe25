"""Which part of a document to show when it is too long to be shown whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.core.clean import one_line
from assay.core.sources import Span
from assay.core.text import words
from assay.tools.shared import within

HEAD_SHARE = 0.3
MOST_HEADINGS = 24


def part(spans: Sequence[Span], find: str, characters: int) -> tuple[Span, ...]:
    """The passages to show, in the document's order: all that fit; else its beginning, and the best for `find`."""
    if sum(len(span.text) for span in spans) <= characters:
        return tuple(spans)
    if not find.strip():
        return within(spans, characters)
    head = within(spans, int(characters * HEAD_SHARE))
    used = sum(len(span.text) for span in head)
    chosen = {span.ordinal: span for span in head}
    for span in matching(spans, find):
        if span.ordinal not in chosen:
            used += len(span.text)
            if used > characters and len(chosen) > len(head):
                break
            chosen[span.ordinal] = span
    return tuple(sorted(chosen.values(), key=lambda span: span.ordinal))


def matching(spans: Sequence[Span], find: str) -> list[Span]:
    """The passages which share words with `find` in text or heading, best first; a rare word counts for more."""
    wanted = set(words(find))
    found = [wanted & set(words(" ".join((*span.heading, span.text)))) for span in spans]
    seen = Counter(word for each in found for word in each)
    rated = [(sum(1 / seen[word] for word in each), place) for place, each in enumerate(found) if each]
    return [spans[place] for _, place in sorted(rated, key=lambda pair: (-pair[0], pair[1]))]


def outline(spans: Sequence[Span]) -> str:
    """The headings of a document in order: `Abstract; Motivation > Why now; …`."""
    paths = list(dict.fromkeys(span.heading for span in spans if span.heading))
    shown = "; ".join(one_line(" > ".join(path[-2:])) for path in paths[:MOST_HEADINGS])
    return f"{shown}; …" if len(paths) > MOST_HEADINGS else shown
