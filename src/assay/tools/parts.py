"""Which part of a document to show when it is too long to be shown whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from assay.core.clean import one_line
from assay.core.sources import Span
from assay.core.text import words
from assay.tools.shared import within

HEAD_SHARE = 0.3
GOING_ON = 2
"""Passages shown after one that matches: what is said of a name often stands in the sentences after it."""
MOST_HEADINGS = 24
LEAST_ROOT = 3
"""A word keeps more letters than this when its ending is taken off."""


def part(spans: Sequence[Span], find: str, characters: int) -> tuple[Span, ...]:
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


def _with_following(spans: Sequence[Span], best: Iterable[Span]) -> Iterator[Span]:
    """Each of `best`, then what goes on from it."""
    places = {span.ordinal: place for place, span in enumerate(spans)}
    for span in best:
        yield span
        after = places[span.ordinal] + 1
        yield from (each for each in spans[after : after + GOING_ON] if each.heading == span.heading)


def matching(spans: Sequence[Span], find: str) -> list[Span]:
    """The passages which share words with `find` in text or heading, best first; a rare word counts for more."""
    wanted = set(map(_key, words(find)))
    found = [wanted & set(map(_key, words(" ".join((*span.heading, span.text))))) for span in spans]
    seen = Counter(word for each in found for word in each)
    rated = [(sum(1 / seen[word] for word in each), place) for place, each in enumerate(found) if each]
    return [spans[place] for _, place in sorted(rated, key=lambda pair: (-pair[0], pair[1]))]


def _key(word: str) -> str:
    """A word without the ending of a plural or a verb's form, so that "expires" is found by "expire"."""
    for ending in ("ing", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) > LEAST_ROOT and word.isascii():
            return word[: -len(ending)]
    return word


def outline(spans: Sequence[Span]) -> str:
    """The headings of a document in order: `Abstract; Motivation > Why now; …`."""
    paths = list(dict.fromkeys(span.heading for span in spans if span.heading))
    shown = "; ".join(one_line(" > ".join(path[-2:])) for path in paths[:MOST_HEADINGS])
    return f"{shown}; …" if len(paths) > MOST_HEADINGS else shown
