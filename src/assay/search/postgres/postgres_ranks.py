"""Ranks documents with PostgreSQL, by their names and their passages.

A document's score is that of its words plus half that of its best passage, both BM25 (Robertson and Zaragoza 2009), as
in the local index, without feedback. Here a word counts once per passage, however often it occurs, and a document's
words are counted in passages: so nothing longer than a passage is read to weigh it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection

from assay.core.sources import PassageSpan
from assay.search.local.index import unpack
from assay.search.local.words import (
    CANDIDATE_DOCUMENTS,
    NAME_WEIGHT,
    NUMBER_GAP,
    NUMBERED_NAME,
    PASSAGE_WEIGHT,
    TITLE_WEIGHT,
    Words,
)
from assay.search.postgres.tables import escape_word
from assay.search.shared_index import IndexMatch

BM25_K, BM25_B = 1.2, 0.75
"""BM25's constants: how soon repetition stops counting, and how much length counts. Their usual values."""
MAX_PASSAGES_WEIGHED = 10_000
"""Passages weighed for a question, unless its rarest word alone is in more: passages with only more frequent words are
not searched.

Of 201,332 passages, a question takes 0.4 of the time that 30,000 take, and 97 of 100 documents found are the same; with
4,000 it takes 0.2 of it, and 89 are.
"""

_COUNTED = "SELECT word, documents, passages, names FROM {0}_words WHERE word = ANY(%(words)s)"
_STATE = "SELECT row, documents, passages, words FROM {0}_state"
_HASHES = "SELECT row, sha256 FROM {0}_documents WHERE row = ANY(%(rows)s)"
_FIELDS = "SELECT fields FROM {0}_documents WHERE row = %(row)s"
_NAMED = """SELECT row, ({score})::float8 AS score FROM {0}_documents
    WHERE (title @@ %(any)s::tsquery OR name @@ %(any)s::tsquery){scope} ORDER BY score DESC, row LIMIT %(limit)s"""
_SAID = """WITH hit AS MATERIALIZED (
        SELECT row, length, {has} FROM {0}_passages WHERE words @@ %(any)s::tsquery{scope}),
    found AS (SELECT row, {counts}, max(({passage}) / (1 + %(k)s * (1 - %(b)s + %(b)s * length / %(mean)s))) AS best
        FROM hit GROUP BY row)
    SELECT found.row, (({document}) + %(part)s * (1 + %(k)s) * best)::float8 AS score
    FROM found JOIN {0}_documents d ON d.row = found.row ORDER BY score DESC, found.row LIMIT %(limit)s"""
_SPANS = """SELECT row, span FROM (
        SELECT row, ordinal, span, row_number() OVER (PARTITION BY row ORDER BY
            ({passage}) / (1 + %(k)s * (1 - %(b)s + %(b)s * length / %(mean)s)) DESC, ordinal) AS place
        FROM (SELECT row, ordinal, length, span, {has} FROM {0}_passages
            WHERE words @@ %(any)s::tsquery AND row = ANY(%(rows)s)) hit) ranked
    WHERE place <= %(limit)s ORDER BY row, place"""


class IndexExtent(msgspec.Struct, frozen=True):
    """The progress of the index: the last row, and the number of documents, passages and words of passages."""

    row: int
    documents: int
    passages: int
    words: int


class Counts:
    """Frequencies of words: `Frequencies` for `Words.select_informative`."""

    def __init__(self, documents: int, rows: Collection[tuple[str, int, int, int]]) -> None:
        self.num_docs = documents
        self._documents = {word: count for word, count, _, _ in rows}
        self._passages = {word: count for word, _, count, _ in rows}
        self._names = {word: count for word, _, _, count in rows}

    def doc_freq(self, field_name: str, field_value: str) -> int:
        """Documents with the word."""
        return (self._documents if field_name == "body" else self._names).get(field_value, 0)

    def documents(self, forms: Sequence[str]) -> int:
        """Documents with the most frequent of a word's forms."""
        return max((self._documents.get(form, 0) for form in forms), default=0)

    def passages(self, forms: Sequence[str]) -> int:
        """The same, passages."""
        return max((self._passages.get(form, 0) for form in forms), default=0)

    def names(self, forms: Sequence[str]) -> int:
        """The same, titles and names."""
        return max((self._names.get(form, 0) for form in forms), default=0)


def read_extent(connection: Connection, prefix: str) -> IndexExtent:
    """The progress of the index; an emptied one (`assay db restore`) starts again."""
    row = connection.exec_driver_sql(_STATE.format(prefix)).one_or_none()
    return IndexExtent(0, 0, 0, 0) if row is None else IndexExtent(*row)


class IndexQuery:
    """A query over one state of the index; use it inside one transaction."""

    def __init__(self, connection: Connection, prefix: str, question: Words, scope: Collection[int] | None) -> None:
        self._connection, self._prefix = connection, prefix
        self._scope = None if scope is None else list(scope)
        self._extent = read_extent(connection, prefix)
        forms = sorted({form for several in (*question.plain, *question.name_forms) for form in several})
        rows = connection.exec_driver_sql(_COUNTED.format(prefix), {"words": forms})
        self._counts = Counts(self._extent.documents, [tuple(row) for row in rows])
        self._words = question.select_informative(self._counts)
        self._plain = list(dict.fromkeys(self._words.plain))

    def rank(self, limit: int, spans: int) -> list[IndexMatch]:
        """The best `limit` documents, each with its best `spans` passages."""
        if not self._words.plain or (self._scope is not None and not self._scope):
            return []
        candidate_count = max(CANDIDATE_DOCUMENTS, 4 * limit)
        title_scores, passage_scores = (
            self._title_scores(self._scope, candidate_count),
            self._passage_scores(self._scope, candidate_count),
        )
        # Each of the two was asked for its own best; now each is asked about the other's best.
        if missing := [row for row in title_scores if row not in passage_scores]:
            passage_scores |= self._passage_scores(missing, len(missing))
        if missing := [row for row in passage_scores if row not in title_scores]:
            title_scores |= self._title_scores(missing, len(missing))
        scores = {
            row: title_scores.get(row, 0.0) + passage_scores.get(row, 0.0)
            for row in title_scores.keys() | passage_scores.keys()
        }
        order = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
        best = self._spans(order, spans)
        return [IndexMatch(row, scores[row], tuple(best.get(row, ()))) for row in order]

    def hashes(self, rows: Sequence[int]) -> dict[int, str]:
        """The hashes of documents, by row."""
        results = self._connection.exec_driver_sql(_HASHES.format(self._prefix), {"rows": list(rows)})
        return {row.row: row.sha256 for row in results}

    def fields(self, row: int) -> tuple[PassageSpan, ...]:
        """The first header fields of a document."""
        fields = self._connection.exec_driver_sql(_FIELDS.format(self._prefix), {"row": row}).scalar_one()
        return tuple(unpack(bytes(field)) for field in fields)

    def _title_scores(self, rows: list[int] | None, limit: int) -> dict[int, float]:
        """Documents with a word in their title or name, with the scores for that."""
        forms = list(dict.fromkeys(self._words.name_forms))
        parameters: dict[str, Any] = {"any": _any_word_query(forms), "limit": limit, "rows": rows}
        parts = []
        for index, word_forms in enumerate(forms):
            parameters[f"w{index}"], parameters[f"i{index}"] = (
                _any_word_query([word_forms]),
                _idf(self._extent.documents, self._counts.names(word_forms)),
            )
            for field, weight in (("title", TITLE_WEIGHT), ("name", NAME_WEIGHT)):
                parts.append(f"%(i{index})s * {weight} * ({field} @@ %(w{index})s::tsquery)::int")
        for index, (words, number) in enumerate(self._words.numbered_names()):
            parameters[f"n{index}"] = " | ".join(_proximity_query(word, number) for word in words)
            parameters[f"j{index}"] = _idf(self._extent.documents, self._counts.names([number]))
            parts += [
                f"%(j{index})s * {NUMBERED_NAME} * ({field} @@ %(n{index})s::tsquery)::int"
                for field in ("title", "name")
            ]
        statement = _NAMED.format(self._prefix, score=" + ".join(parts), scope=_rows_condition(rows))
        return {row.row: row.score for row in self._connection.exec_driver_sql(statement, parameters)}

    def _passage_scores(self, rows: list[int] | None, limit: int) -> dict[int, float]:
        """Documents with a word in a passage, with the scores for that."""
        parameters = self._parameters(self._rarest_words() if rows is self._scope else self._plain) | {
            "limit": limit,
            "rows": rows,
        }
        indexes = range(len(self._plain))
        for index, forms in enumerate(self._plain):
            parameters[f"d{index}"] = _idf(self._extent.documents, self._counts.documents(forms))
        parameters["size"] = max(self._extent.passages / max(self._extent.documents, 1), 1.0)
        long = "(1 - %(b)s + %(b)s * d.passages / %(size)s)"
        statement = _SAID.format(
            self._prefix,
            has=self._word_columns(),
            counts=", ".join(f"sum(h{index}) AS n{index}" for index in indexes),
            passage=self._passage_score_sql(),
            document=" + ".join(
                f"%(d{index})s * n{index} * (1 + %(k)s) / (n{index} + %(k)s * {long})" for index in indexes
            ),
            scope=_rows_condition(rows),
        )
        return {row.row: row.score for row in self._connection.exec_driver_sql(statement, parameters)}

    def _spans(self, rows: list[int], limit: int) -> dict[int, list[PassageSpan]]:
        """The best passages of documents."""
        parameters = self._parameters(self._plain) | {"limit": limit, "rows": rows}
        statement = _SPANS.format(self._prefix, has=self._word_columns(), passage=self._passage_score_sql())
        best: dict[int, list[PassageSpan]] = {}
        for row, span in self._connection.exec_driver_sql(statement, parameters):
            best.setdefault(row, []).append(unpack(bytes(span)))
        return best

    def _rarest_words(self) -> list[tuple[str, ...]]:
        """The rarest words that together are in not too many passages; at least one."""
        passage_count = 0
        anchors: list[tuple[str, ...]] = []
        for forms in sorted(self._plain, key=self._counts.passages):
            passage_count += self._counts.passages(forms)
            if anchors and passage_count > MAX_PASSAGES_WEIGHED:
                break
            anchors.append(forms)
        return anchors

    def _parameters(self, looked_for: Sequence[Sequence[str]]) -> dict[str, Any]:
        mean = max(self._extent.words / max(self._extent.passages, 1), 1.0)
        parameters: dict[str, Any] = {
            "any": _any_word_query(looked_for),
            "k": BM25_K,
            "b": BM25_B,
            "part": PASSAGE_WEIGHT,
            "mean": mean,
        }
        for index, forms in enumerate(self._plain):
            parameters[f"w{index}"] = _any_word_query([forms])
            parameters[f"p{index}"] = _idf(self._extent.passages, self._counts.passages(forms))
        return parameters

    def _word_columns(self) -> str:
        return ", ".join(f"(words @@ %(w{index})s::tsquery)::int AS h{index}" for index in range(len(self._plain)))

    def _passage_score_sql(self) -> str:
        return " + ".join(f"%(p{index})s * h{index}" for index in range(len(self._plain)))


def _idf(total: int, count: int) -> float:
    """The weight of a word that `count` of `total` have."""
    return math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _any_word_query(words: Sequence[Sequence[str]]) -> str:
    return " | ".join(escape_word(form) for forms in words for form in forms)


def _proximity_query(word: str, number: str) -> str:
    """A word directly, or nearly, followed by its number."""
    return " | ".join(
        f"({escape_word(word)} <{distance}> {escape_word(number)})" for distance in range(1, NUMBER_GAP + 2)
    )


def _rows_condition(rows: list[int] | None) -> str:
    return "" if rows is None else " AND row = ANY(%(rows)s::bigint[])"
