"""An index of the questions and reports of runs. Derived from the journal, and deletable at any time.

Ranked by BM25 as tantivy computes it (Robertson and Zaragoza 2009); a word in the question counts more than one in the
report. Words are those of the library's index (`core.lexicon`). Blocking; one thread at a time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from assay.core.lazy import regex
from assay.core.lexicon import STEMMERS, UNSTEMMED, analysis_of, terms
from assay.core.ports.lists import IndexedRun, RunHit
from assay.core.text import sentences
from assay.search.local.index import WHITESPACE, index_errors, open_index
from assay.search.local.words import Words
from assay.search.shared_index import SharedWork, file_lock, ignore_progress

INDEX_FORMAT = "runs-2"
"""The folder's name; changes with the schema or the analysis."""
WRITER_HEAP_BYTES = 15_000_000
"""Bytes a writer may buffer: tantivy's minimum."""
INDEX_WORK = SharedWork(name="the index of runs", patience=60.0)
QUESTION_WEIGHT = 2.0
"""The weight of a word in a question, beside one in a report. By hand."""
MAX_SNIPPET_CHARS = 300
"""Code points of a snippet."""
_SPACE = regex(r"\s+")


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", indexed=True, fast=True, stored=True)
    builder.add_text_field("run", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("owner", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("ended", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("analysis", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("question", tokenizer_name=WHITESPACE, index_option="freq")
    builder.add_text_field("report", tokenizer_name=WHITESPACE, index_option="freq")
    builder.add_unsigned_field("seq", stored=True)
    builder.add_bytes_field("said", stored=True)
    return builder.build()


SCHEMA = _schema()


class RunIndex:
    """The index under `path`; None keeps it in memory. Implements `core.ports.lists.RunIndexing`."""

    def __init__(self, path: Path | None) -> None:
        self._path = None if path is None else path / INDEX_FORMAT
        self._index: tantivy.Index | None = None

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        if self._path is None:
            yield
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self._path, INDEX_WORK, ignore_progress):
            yield

    def indexed_runs(self) -> dict[str, int]:
        return {_text(entry, "run"): _number(entry, "number") for entry in self._all_matches(Query.all_query())}

    def count(self, owner: str) -> int:
        return len(self._all_matches(Query.term_query(SCHEMA, "owner", owner)))

    def unfinished_runs(self) -> dict[str, tuple[int, int]]:
        entries = self._all_matches(Query.term_query(SCHEMA, "ended", "no"))
        return {_text(entry, "run"): (_number(entry, "number"), _number(entry, "seq")) for entry in entries}

    def last_number(self) -> int:
        with index_errors():
            searcher = self._searcher()
            if not searcher.num_docs:
                return 0
            best = searcher.search(Query.all_query(), 1, count=False, order_by_field="number")
            return int(best.hits[0][0])

    def _all_matches(self, query: Query) -> list[tantivy.Document]:
        with index_errors():
            searcher = self._searcher()
            hits = searcher.search(query, max(searcher.num_docs, 1), count=False).hits
            return [searcher.doc(address) for _, address in hits]

    def change(self, added: Sequence[IndexedRun], forget: Iterable[str] = ()) -> None:
        run_ids = [*forget, *(run.run_id for run in added)]
        if not run_ids:
            return
        with index_errors():
            self._searcher()
            writer = self._open_index().writer(WRITER_HEAP_BYTES, 1)
            for run_id in run_ids:
                writer.delete_documents_by_term("run", run_id)
            for run in added:
                writer.add_document(_entry(run))
            writer.commit()
            writer.wait_merging_threads()
            self._open_index().reload()

    def search(self, text: str, owner: str | None, limit: int, offset: int = 0) -> list[RunHit]:
        """The runs with all words of `text`, or if there are none, with any."""
        with index_errors():
            searcher = self._searcher()
            names = {name for name in (*STEMMERS, UNSTEMMED) if searcher.doc_freq("analysis", name)}
            words = Words(text, {*names, analysis_of("")})
            query_words = [forms for forms in dict.fromkeys(words.plain) if not words.stop.intersection(forms)]
            query_words = query_words or list(dict.fromkeys(words.plain))
            if not query_words:
                return []
            for occur in (Occur.Must, Occur.Should):
                query = _query(query_words, owner, occur)
                if searcher.search(query, 1, count=False).hits:
                    hits = searcher.search(query, limit, count=False, offset=offset).hits
                    return [_hit(searcher.doc(address), score, query_words) for score, address in hits]
        return []

    def clear(self) -> None:
        self._index = None
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)

    def _searcher(self) -> tantivy.Searcher:
        index = self._open_index()
        index.reload()
        return index.searcher()

    def _open_index(self) -> tantivy.Index:
        exists = self._path is None or (self._path / "meta.json").exists()
        if self._index is None or not exists:
            self._index = open_index(SCHEMA, self._path)
        return self._index


def _entry(run: IndexedRun) -> tantivy.Document:
    analysis = analysis_of(run.language)
    entry = tantivy.Document()
    entry.add_unsigned("number", run.number)
    entry.add_text("run", run.run_id)
    entry.add_text("owner", run.owner)
    entry.add_text("ended", "yes" if run.ended else "no")
    entry.add_text("analysis", analysis)
    entry.add_text("question", " ".join(terms(_replace_unindexable(run.question), analysis)))
    entry.add_text("report", " ".join(terms(_replace_unindexable(run.report), analysis)))
    entry.add_unsigned("seq", run.seq)
    entry.add_bytes("said", _replace_unindexable(run.report).encode())
    return entry


def _replace_unindexable(text: str) -> str:
    """Text without characters that no index accepts."""
    return text.encode(errors="replace").decode().replace("\0", " ")


def _query(words: Sequence[tuple[str, ...]], owner: str | None, occur: Occur) -> Query:
    parts = [(occur, _word_query(forms)) for forms in words]
    query = Query.boolean_query(parts)
    if owner is None:
        return query
    mine = Query.const_score_query(Query.term_query(SCHEMA, "owner", owner), 0.0)
    return Query.boolean_query([(Occur.Must, mine), (Occur.Must, query)])


def _word_query(forms: Sequence[str]) -> Query:
    """A word in any of its forms, in the question or the report."""
    question_queries = [
        Query.boost_query(Query.term_query(SCHEMA, "question", form), QUESTION_WEIGHT) for form in dict.fromkeys(forms)
    ]
    queries = [Query.term_query(SCHEMA, "report", form) for form in dict.fromkeys(forms)]
    return Query.disjunction_max_query([*question_queries, *queries])


def _hit(entry: tantivy.Document, score: float, words: Sequence[tuple[str, ...]]) -> RunHit:
    text = bytes(entry.get_first("said") or b"").decode()
    return RunHit(
        run_id=_text(entry, "run"), score=float(score), snippet=_snippet(text, _text(entry, "analysis"), words)
    )


def _text(entry: tantivy.Document, name: str) -> str:
    return str(entry.get_first(name) or "")


def _number(entry: tantivy.Document, name: str) -> int:
    return int(entry.get_first(name) or 0)


def _snippet(text: str, analysis: str, words: Sequence[tuple[str, ...]]) -> str:
    """The first of the sentences with most of the words; empty if none has any."""
    best, best_count = "", 0
    for start, end in sentences(text):
        sentence = text[start:end]
        sentence_terms = set(terms(sentence, analysis))
        count = sum(not sentence_terms.isdisjoint(forms) for forms in words)
        if count > best_count:
            best, best_count = sentence, count
    short = _SPACE.sub(" ", best).strip()
    return short if len(short) <= MAX_SNIPPET_CHARS else short[: MAX_SNIPPET_CHARS - 1].rstrip() + "…"
