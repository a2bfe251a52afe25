"""Writing the index: documents by ascending row, some at a time, each lot in one transaction with how far it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from assay.core.relevance.analysis import analysis_of, name_terms, terms
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import FIELDS, POINTER, UNFOUND, around, pack
from assay.search.postgres.tables import bag, vector

_DOCUMENTS = "COPY {0}_documents (row, sha256, analysis, passages, title, name, fields) FROM STDIN"
_PASSAGES = "COPY {0}_passages (row, ordinal, length, words, span) FROM STDIN"
_WORDS = """INSERT INTO {0}_words AS known (word, documents, passages, names)
    SELECT * FROM unnest(%(words)s::text[], %(documents)s::bigint[], %(passages)s::bigint[], %(names)s::bigint[])
    ON CONFLICT (word) DO UPDATE SET documents = known.documents + excluded.documents,
        passages = known.passages + excluded.passages, names = known.names + excluded.names"""
_STATE = """INSERT INTO {0}_state AS known (row, documents, passages, words)
    VALUES (%(row)s, %(documents)s, %(passages)s, %(words)s)
    ON CONFLICT (single) DO UPDATE SET row = excluded.row, documents = known.documents + excluded.documents,
        passages = known.passages + excluded.passages, words = known.words + excluded.words"""
_FORGET = (
    """UPDATE {0}_state SET
        documents = documents - (SELECT count(*) FROM {0}_documents WHERE row = ANY(%(rows)s)),
        passages = passages - (SELECT count(*) FROM {0}_passages WHERE row = ANY(%(rows)s)),
        words = words - (SELECT coalesce(sum(length), 0) FROM {0}_passages WHERE row = ANY(%(rows)s))""",
    "DELETE FROM {0}_passages WHERE row = ANY(%(rows)s)",
    "DELETE FROM {0}_documents WHERE row = ANY(%(rows)s)",
)


class Lot:
    """Documents with their passages, on their way into the index."""

    def __init__(self) -> None:
        self._documents: list[tuple[Any, ...]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("documents", "passages", "names")}
        self._length = self._row = 0

    @property
    def rows(self) -> list[int]:
        """The numbers of its documents."""
        return [row for row, *_ in self._documents]

    @property
    def passages(self) -> int:
        """How many passages its documents have."""
        return len(self._passages)

    def add(self, row: int, document: Document, spans: Sequence[PassageSpan]) -> None:
        """Add one document. Headings are found by the passages below them."""
        analysis = analysis_of(document.language)
        heading: tuple[str, ...] = ()
        above: list[str] = []
        body: set[str] = set()
        before = len(self._passages)
        for span in spans:
            words = terms(span.text, analysis)
            body.update(words)
            if span.kind in UNFOUND or POINTER.fullmatch(span.text):
                continue
            if span.heading is not heading:
                heading = span.heading
                above = terms(heading[-1], analysis) if heading else []
            self._add_passage(row, span, [*above, *terms(around(span), analysis), *words])
        title = name_terms(document.title, analysis)
        name = name_terms(f"{document.name} {document.url}", analysis)
        self._counts["documents"].update(body)
        self._counts["names"].update({*title, *name})
        fields = [pack(span) for span in spans if span.kind == "field"][:FIELDS]
        passages = len(self._passages) - before
        self._documents.append((row, document.sha256, analysis, passages, vector(title), vector(name), fields))
        self._row = row

    def write(self, connection: Connection, prefix: str) -> None:
        """Put it into the index, inside the connection's transaction."""
        if not self._documents:
            return
        cursor = connection.connection.cursor()
        for statement, rows in ((_DOCUMENTS, self._documents), (_PASSAGES, self._passages)):
            with cursor.copy(statement.format(prefix)) as copy:
                for row in rows:
                    copy.write_row(row)
        cursor.close()
        connection.exec_driver_sql(_WORDS.format(prefix), self._frequencies())
        lengths = {"documents": len(self._documents), "passages": len(self._passages), "words": self._length}
        connection.exec_driver_sql(_STATE.format(prefix), {"row": self._row, **lengths})

    def _add_passage(self, row: int, span: PassageSpan, words: list[str]) -> None:
        self._counts["passages"].update(set(words))
        self._length += len(words)
        self._passages.append((row, span.ordinal, len(words), bag(words), pack(span)))

    def _frequencies(self) -> dict[str, list[Any]]:
        words = sorted(set().union(*self._counts.values()))  # in one order: two writers never wait for each other
        return {"words": words} | {name: [count[word] for word in words] for name, count in self._counts.items()}


def forget(connection: Connection, prefix: str, rows: Sequence[int]) -> None:
    """Take documents out. How frequent their words are is not counted anew: it is for weighing only."""
    for statement in _FORGET:
        connection.exec_driver_sql(statement.format(prefix), {"rows": list(rows)})
