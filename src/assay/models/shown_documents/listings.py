"""Lists in shown documents: their items, if a question asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from assay.core.relevance import read_question
from assay.core.relevance.listings import asks_for_list, words_above
from assay.models.questions.question import ParsedQuestion
from assay.models.shown_documents.passages import as_item, is_in_table
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources, SourcePassages

FEWEST_ITEMS, MOST_ITEMS = 2, 8


class ShownList(msgspec.Struct, frozen=True, kw_only=True):
    """A list: the line above it, its last heading, and its items with their passages."""

    lead: str
    heading: str
    items: tuple[tuple[str, str], ...]
    source: str


def items_asked(question: ParsedQuestion, shelf: ShownSources) -> list[QuotableUnit]:
    """The items of the list that a question asks for; empty if it asks for none, or none is told by what is above."""
    found = [each for book in shelf.books for each in _listings(book)] if asks_for_list(question.text) else []
    asked = read_question(question.text, "", "\n".join(f"{each.lead} {each.heading}" for each in found))
    rated = [words_above(asked, each.lead, each.heading) for each in found]
    if not any(rated):
        return []
    best = found[rated.index(max(rated))]
    return [
        QuotableUnit(text=text, passages=(passage,), source=best.source, frame=True)
        for text, passage in best.items[:MOST_ITEMS]
    ]


def _listings(book: SourcePassages) -> Iterator[ShownList]:
    """The lists of a document that have a line above them."""
    sentences: dict[str, str] = {}
    for sentence in book.sentences:
        sentences.setdefault(sentence.passage, sentence.text)
    for (under, after), group in groupby(book.passages, key=lambda each: (each.under, each.after)):
        passages = [each for each in group if not is_in_table(each.text)] if after else []
        items = [(text, each.id) for each in passages if (text := as_item(each.text) or sentences.get(each.id, ""))]
        if FEWEST_ITEMS <= len(items) == len(passages):
            yield ShownList(lead=after, heading=under.rpartition(">")[2], items=tuple(items), source=book.id)
