"""A question's words in the form of the index, and the weights and limits of the ranking.

The text of a user or a model never reaches a query parser. The weights of title, name and passage and the limit for
common words were set with `python -m bench retrieval` (Cranfield, CACM, NFCorpus), on all of it: no part was held out
(docs/benchmarks.md, which reports the same figures). The other values were chosen by hand; the same bench measures the
effect. Decision 0027 lists what was tried and not taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, Protocol

import tantivy
from tantivy import Occur, Query

from assay.core.lexicon import DEFAULT_ANALYSIS, name_terms, stop_terms, terms
from assay.core.ports import WordField
from assay.core.sources import Document
from assay.search.local.index import DOCUMENTS_SCHEMA, PASSAGES_SCHEMA

# Words of the question.

MAX_QUESTION_CHARS = 4_000
"""Only the beginning of a longer question is read."""
MAX_QUERY_WORDS = 40
"""Of more words the rarest are searched for."""
COMMON_WORD = 0.4
"""A word in a larger share of the documents is left out if others remain. Set with the bench."""
MIN_COMMON_DOCUMENTS = 20
"""A word in no more documents than this is kept: two of three documents are no sign that it distinguishes nothing."""
COMMON_IN_TITLES = 0.05
"""A word in no larger share of the titles is kept, however common: it names something ("Germany" in a gazetteer)."""
TITLE_WEIGHT, NAME_WEIGHT = 0.4, 0.5
"""The weights of a match in a document's title, and in its name or address, beside one in its text. By the bench."""
NUMBERED_NAME = 3.0
"""The weight of a name with its number ("PEP 6") in a document's name or title."""
NUMBER_GAP = 2
"""Other words allowed between the two: `rust-rfcs/text/0253-…` is "RFC 253"."""
TITLE_NAMED = 0.8
"""The share of a title's words that a question must have to name it."""
TITLE_MEANT = 0.6
"""The share with which it may mean that title: then the best document is not doubted."""

# Words added to a question from the documents found first (`local_ranks`).

FEEDBACK_DOCUMENTS, FEEDBACK_LEAST = 5, 20
"""Documents whose words are used, and how many must be found: with fewer, the first say nothing special."""
FEEDBACK_PASSAGES = 5
"""Passages read of each, best first."""
FEEDBACK_WORDS = 20
"""Words added."""
MAX_COUNTED_WORDS = 80
"""Words whose frequency is looked up, those with most weight in the documents. For speed."""
FEEDBACK_SHARE = 0.3
"""The share of all weight that the added words have together; the question's own words have the rest."""
SATURATION = 1.2
"""The constant k1 of BM25, at its usual value."""
FEEDBACK_COMMON, FEEDBACK_RARE = 0.2, 2
"""Words in a larger share of the documents, or in fewer documents, are not added."""
MIN_TERM_LETTERS = 3
"""Letters of an added word."""

# Candidates and their passages (`local_ranks`; the shared indexes use the first two).

PASSAGE_WEIGHT = 0.5
"""The weight of the best passage's score beside the document's. Set with the bench."""
CANDIDATE_DOCUMENTS = 60
"""Documents examined more closely, from each of both searches; four times the limit if that is more."""
PASSAGES_READ = 12
"""Passages ranked per candidate, on average. For speed."""
SMALL_SCOPE = 1_000
"""A scope up to this size is looked up row by row; for a larger one, more is fetched and filtered. For speed."""
MAX_EXPLAINED_PASSAGES = 100_000
"""Passages with a word that are examined for an explanation. For speed."""

ScorePart = tuple[str, WordField, Query]
"""A part of a score: a word, its field, and the query for it alone."""


class Frequencies(Protocol):
    """The number of documents, and how many have a term in a field (`body`, `title`, `name`)."""

    @property
    def num_docs(self) -> int: ...

    def doc_freq(self, field_name: str, field_value: str) -> int: ...


class Words:
    """The words of a question, each in every form the index may have: stemmed for each language present.

    `plain` and `name_forms` are these forms, in order, for texts and for names; `stop` are the stop words as terms. A
    repeated word counts twice: a long question repeats what matters.
    """

    def __init__(self, text: str, analyses: Iterable[str]) -> None:
        text = text[:MAX_QUESTION_CHARS].encode(errors="replace").decode()
        names = sorted(set(analyses))
        self.plain = _forms([terms(text, name) for name in names])
        self.name_forms = _forms([name_terms(text, name) for name in names])
        self.stop = frozenset[str]().union(*map(stop_terms, names))

    def select_informative(self, searcher: Frequencies) -> Words:
        """The words worth searching for: in some documents but not in most, no stop words, the rarest of too many.

        What only the names of all documents have, as a folder above them, is left out if other words remain.
        """
        frequencies: dict[tuple[str, ...], int] = {}
        in_every_name: set[tuple[str, ...]] = set()
        for forms, names in zip(self.plain, self.name_forms, strict=True):
            frequency = max(searcher.doc_freq("body", form) for form in forms)
            if not frequency:
                frequency = max(searcher.doc_freq(field, form) for form in names for field in ("name", "title"))
                if frequency == searcher.num_docs:
                    in_every_name.add(forms)
            if frequency:
                frequencies[forms] = frequency
        names_by_forms = dict(zip(self.plain, self.name_forms, strict=True))
        max_count, rarely = (
            max(MIN_COMMON_DOCUMENTS, COMMON_WORD * searcher.num_docs),
            COMMON_IN_TITLES * searcher.num_docs,
        )
        plain = {forms for forms in frequencies if not self.stop.intersection(forms)} or set(frequencies)
        plain = plain - in_every_name or plain
        informative = {
            forms
            for forms in plain
            if frequencies[forms] <= max_count
            or 0 < max(searcher.doc_freq("title", form) for form in names_by_forms[forms]) <= rarely
        } or plain
        rarest = sorted(informative, key=lambda forms: (frequencies[forms], forms))[:MAX_QUERY_WORDS]
        return self._keep_only(set(rarest))

    def _keep_only(self, selection: set[tuple[str, ...]]) -> Words:
        words = Words("", ())
        pairs = [(forms, names) for forms, names in zip(self.plain, self.name_forms, strict=True) if forms in selection]
        words.plain = [forms for forms, _ in pairs]
        words.name_forms = [names for _, names in pairs]
        return words

    def passage_query(self) -> Query:
        """Passages with any of the words."""
        return _any_query(query for _, _, query in self.passage_parts())

    def passage_parts(self) -> Iterator[ScorePart]:
        for forms, count in Counter(self.plain).items():
            yield forms[0], "passage", _boost_query(_term_query(PASSAGES_SCHEMA, "text", forms), count)

    def document_query(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> Query:
        """Documents with any of the words in text, title or name, or with any of `pairs` in title or name."""
        return _any_query(query for _, _, query in self.document_parts(pairs))

    def document_parts(self, pairs: Sequence[tuple[tuple[str, ...], str]]) -> Iterator[ScorePart]:
        for forms, count in Counter(self.plain).items():
            yield forms[0], "text", _boost_query(_term_query(DOCUMENTS_SCHEMA, "body", forms), count)
        fields: tuple[tuple[Literal["title", "name"], float], ...] = (("title", TITLE_WEIGHT), ("name", NAME_WEIGHT))
        for field, weight in fields:
            for forms in dict.fromkeys(self.name_forms):
                yield forms[0], field, Query.boost_query(_term_query(DOCUMENTS_SCHEMA, field, forms), weight)
            for words, number in pairs:
                for word in words:
                    phrase = Query.phrase_query(DOCUMENTS_SCHEMA, field, [word, number], NUMBER_GAP)
                    yield f"{word} {number}", field, Query.boost_query(phrase, NUMBERED_NAME)

    def numbered_names(self) -> list[tuple[tuple[str, ...], str]]:
        """Words followed by a number: how people name standards, proposals and laws."""
        pairs = []
        for word, number in pairwise(self.name_forms):
            if number[0].isdigit() and not word[0].isdigit():
                pairs.append((word, number[0]))
        return list(dict.fromkeys(pairs))[:MAX_QUERY_WORDS]


def expand_query(query: Query, expansion: Mapping[str, float]) -> Query:
    """`query`, with the terms in `expansion` added for a document's text, with their weights."""
    return _any_query([query, *(part for _, _, part in expansion_parts(expansion))])


def expansion_parts(expansion: Mapping[str, float]) -> Iterator[ScorePart]:
    """The contribution of added words to a document's score."""
    for term, weight in expansion.items():
        yield term, "text", _boost_query(_term_query(DOCUMENTS_SCHEMA, "body", (term,)), weight)


def restrict_to_rows(schema: tantivy.Schema, query: Query, rows: Iterable[int]) -> Query:
    """`query`, only in these rows; the score is the query's."""
    inside = Query.const_score_query(Query.term_set_query(schema, "row", list(rows)), 0.0)
    return Query.boolean_query([(Occur.Must, inside), (Occur.Must, query)])


def _forms(readings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The distinct forms at each place in the text; all analyses cut a text into the same words."""
    return [tuple(dict.fromkeys(forms)) for forms in zip(*readings, strict=True)]


def _term_query(schema: tantivy.Schema, field: str, forms: Sequence[str]) -> Query:
    queries = [Query.term_query(schema, field, form, "freq") for form in forms]
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries)


def _boost_query(query: Query, weight: float) -> Query:
    return query if weight == 1 else Query.boost_query(query, weight)


def _any_query(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


class TitleMatcher:
    """Decides if a question names a document: by most of its title, or a word of its name and the number after it."""

    def __init__(self, text: str) -> None:
        words = name_terms(text[:MAX_QUESTION_CHARS].encode(errors="replace").decode(), DEFAULT_ANALYSIS)
        self._words = set(words)
        self._numbered_words = {(word, number) for word, number in pairwise(words) if number.isdigit()}

    def is_named(self, document: Document, share: float = TITLE_NAMED) -> bool:
        """True if `document` is named: by this share of its title, or by its number."""
        title = set(name_terms(document.title, DEFAULT_ANALYSIS))
        if title and len(title & self._words) >= share * len(title):
            return True
        name = title.union(name_terms(f"{document.name} {document.url}", DEFAULT_ANALYSIS))
        return any(word in name and number in name for word, number in self._numbered_words)
