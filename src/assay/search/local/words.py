"""A question's words in the form of the index. The text of a user or a model never reaches a query parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, Protocol

import tantivy
from tantivy import Occur, Query

from assay.core.lexicon import DEFAULT, name_terms, stop_terms, terms
from assay.core.ports import WordField
from assay.core.sources import Document
from assay.search.local.index import DOCUMENTS, PASSAGES
from assay.search.local.ranking_constants import (
    COMMON_IN_TITLES,
    COMMON_WORD,
    MOST_CHARACTERS,
    MOST_WORDS,
    NAME_WEIGHT,
    NUMBER_GAP,
    NUMBERED_NAME,
    TITLE_NAMED,
    TITLE_WEIGHT,
)

Part = tuple[str, WordField, Query]
"""A part of a score: a word, its field, and the query for it alone."""


class Frequencies(Protocol):
    """The number of documents, and how many have a term in a field (`body`, `title`, `name`)."""

    @property
    def num_docs(self) -> int: ...

    def doc_freq(self, field_name: str, field_value: str) -> int: ...


class Words:
    """The words of a question, each in every form the index may have: stemmed for each language present.

    `plain` and `named` are these forms, in order, for texts and for names; `stop` are the stop words as terms. A
    repeated word counts twice: a long question repeats what matters.
    """

    def __init__(self, text: str, analyses: Iterable[str]) -> None:
        text = text[:MOST_CHARACTERS].encode(errors="replace").decode()
        names = sorted(set(analyses))
        self.plain = _forms([terms(text, name) for name in names])
        self.named = _forms([name_terms(text, name) for name in names])
        self.stop = frozenset[str]().union(*map(stop_terms, names))

    def reduced(self, searcher: Frequencies) -> Words:
        """The words worth searching for: in some documents but not in most, no stop words, the rarest of too many."""
        frequencies: dict[tuple[str, ...], int] = {}
        for forms, names in zip(self.plain, self.named, strict=True):
            found = max(searcher.doc_freq("body", form) for form in forms)
            found = found or max(searcher.doc_freq(field, form) for form in names for field in ("name", "title"))
            if found:
                frequencies[forms] = found
        named = dict(zip(self.plain, self.named, strict=True))
        most, rarely = COMMON_WORD * searcher.num_docs, COMMON_IN_TITLES * searcher.num_docs
        plain = {forms for forms in frequencies if not self.stop.intersection(forms)} or set(frequencies)
        telling = {
            forms
            for forms in plain
            if frequencies[forms] <= most
            or 0 < max(searcher.doc_freq("title", form) for form in named[forms]) <= rarely
        } or plain
        kept = sorted(telling, key=lambda forms: (frequencies[forms], forms))[:MOST_WORDS]
        return self._only(set(kept))

    def _only(self, kept: set[tuple[str, ...]]) -> Words:
        words = Words("", ())
        pairs = [(forms, named) for forms, named in zip(self.plain, self.named, strict=True) if forms in kept]
        words.plain = [forms for forms, _ in pairs]
        words.named = [named for _, named in pairs]
        return words

    def in_passages(self) -> Query:
        """Passages with any of the words."""
        return _any(query for _, _, query in self.passage_parts())

    def passage_parts(self) -> Iterator[Part]:
        """The parts of a passage's score."""
        for forms, count in Counter(self.plain).items():
            yield forms[0], "passage", _times(_one(PASSAGES, "text", forms), count)

    def in_documents(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> Query:
        """Documents with any of the words in text, title or name, or with any of `pairs` in title or name."""
        return _any(query for _, _, query in self.document_parts(pairs))

    def document_parts(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> Iterator[Part]:
        """The parts of a document's score."""
        for forms, count in Counter(self.plain).items():
            yield forms[0], "text", _times(_one(DOCUMENTS, "body", forms), count)
        fields: tuple[tuple[Literal["title", "name"], float], ...] = (("title", TITLE_WEIGHT), ("name", NAME_WEIGHT))
        for field, weight in fields:
            for forms in dict.fromkeys(self.named):
                yield forms[0], field, Query.boost_query(_one(DOCUMENTS, field, forms), weight)
            for words, number in pairs:
                for word in words:
                    phrase = Query.phrase_query(DOCUMENTS, field, [word, number], NUMBER_GAP)
                    yield f"{word} {number}", field, Query.boost_query(phrase, NUMBERED_NAME)

    def numbered(self) -> list[tuple[tuple[str, ...], str]]:
        """Words followed by a number: how people name standards, proposals and laws."""
        found = []
        for word, number in pairwise(self.named):
            if number[0].isdigit() and not word[0].isdigit():
                found.append((word, number[0]))
        return list(dict.fromkeys(found))[:MOST_WORDS]


def with_more(query: Query, more: Mapping[str, float]) -> Query:
    """`query`, with the terms in `more` added for a document's text, with their weights."""
    return _any([query, *(part for _, _, part in added_parts(more))])


def added_parts(more: Mapping[str, float]) -> Iterator[Part]:
    """The contribution of added words to a document's score."""
    for term, weight in more.items():
        yield term, "text", _times(_one(DOCUMENTS, "body", (term,)), weight)


def within(schema: tantivy.Schema, query: Query, rows: Iterable[int]) -> Query:
    """`query`, only in these rows; the score is the query's."""
    inside = Query.const_score_query(Query.term_set_query(schema, "row", list(rows)), 0.0)
    return Query.boolean_query([(Occur.Must, inside), (Occur.Must, query)])


def _forms(readings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The distinct forms at each place in the text; all analyses cut a text into the same words."""
    return [tuple(dict.fromkeys(forms)) for forms in zip(*readings, strict=True)]


def _one(schema: tantivy.Schema, field: str, forms: Sequence[str]) -> Query:
    queries = [Query.term_query(schema, field, form, "freq") for form in forms]
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries)


def _times(query: Query, weight: float) -> Query:
    return query if weight == 1 else Query.boost_query(query, weight)


def _any(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


class Naming:
    """Decides whether a question names a document: by most of its title, or by a word of its name and the number after
    it.
    """

    def __init__(self, text: str) -> None:
        words = name_terms(text[:MOST_CHARACTERS].encode(errors="replace").decode(), DEFAULT)
        self._words = set(words)
        self._numbered = {(word, number) for word, number in pairwise(words) if number.isdigit()}

    def names(self, document: Document, share: float = TITLE_NAMED) -> bool:
        """True if `document` is named: by this share of its title, or by its number."""
        title = set(name_terms(document.title, DEFAULT))
        if title and len(title & self._words) >= share * len(title):
            return True
        name = title.union(name_terms(f"{document.name} {document.url}", DEFAULT))
        return any(word in name and number in name for word, number in self._numbered)
