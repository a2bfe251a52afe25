"""The evidence of a run for its report: what may be cited, what is cited, its places in documents; the final gate.

The gate: every marker resolves, every hash matches, every count equals the claims.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial

import msgspec

from assay.core.assurance import passage_problem
from assay.core.citations.whole_source import WholeSource
from assay.core.claims import Claim
from assay.core.errors import Failed, StoreError
from assay.core.markers import Marker
from assay.core.phrases import stop_reason_phrase
from assay.core.ports import Library
from assay.core.report_sentences import PAIRED_SIGNS, ReportSentence
from assay.core.report_sentences import claims as claims_of
from assay.core.sources import Document, Passage, Source, Surroundings, sha256
from assay.core.tables.cells import ReadTable, TablePiece
from assay.core.tables.records import table_of_documents
from assay.evidence.documents import DocumentReader, surrounding_text
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.verify.evidence import ClaimEvidence
from assay.verify.rules.quotes import verbatim_passage

TablesOf = Callable[[Sequence[str]], Sequence[ReadTable]]
"""The tables of documents, by their hashes."""
TextOf = Callable[[str], bytes]
"""Returns the stored UTF-8 text of a document by its hash. Raises StoreError if it is missing or damaged."""


class CitableIds:
    """Every passage and source that a marker may name, by id."""

    def __init__(self, passages: Mapping[str, Passage], sources: Mapping[str, Source]) -> None:
        self.passages, self.sources = passages, sources
        self._whole_sources: dict[str, WholeSource] = {}

    def cited_passages(self, sentence: ReportSentence) -> tuple[Passage, ...]:
        """The passages `sentence` cites, in order, each once. Ids which do not exist name nothing."""
        return self._cited_passages(sentence.markers, sentence.text)

    def _cited_passages(self, markers: Sequence[Marker], statement: str) -> tuple[Passage, ...]:
        """The passages that markers name; of a source cited as a whole, those that `statement` means."""
        passages: dict[str, Passage] = {}
        for marker in markers:
            passages.update((id, self.passages[id]) for id in marker.passages if id in self.passages)
            for source in marker.sources:
                passages.update(
                    (passage.id, passage) for passage in self._whole_source(source).best_passages(statement)
                )
        return tuple(passages.values())

    def _whole_source(self, id: str) -> WholeSource:
        if id not in self._whole_sources:
            self._whole_sources[id] = WholeSource(passage for passage in self.passages.values() if passage.source == id)
        return self._whole_sources[id]

    def claims_with_passages(
        self, sentences: Sequence[ReportSentence]
    ) -> list[tuple[ReportSentence, tuple[Passage, ...]]]:
        """Each claim of a text, or of whole blocks of it, with the passages it cites.

        A sentence without a marker inherits the citation of the next sentence with one in its block, since many writers
        cite only at a paragraph's end. If one of these passages contains its words, it inherits that passage.
        """
        pairs = [(sentence, self.cited_passages(sentence)) for sentence in sentences]
        next_citation: tuple[int, tuple[Marker, ...]] = (-1, ())
        for index in range(len(pairs) - 1, -1, -1):
            sentence, _ = pairs[index]
            if sentence.markers:
                next_citation = (sentence.block, sentence.markers)
            elif sentence.block == next_citation[0]:
                lent = self._cited_passages(next_citation[1], sentence.text)
                passage = verbatim_passage(sentence.text, ClaimEvidence(passages=lent, sources=self.sources))
                pairs[index] = (sentence, (passage,) if passage else lent)
        return pairs


def has_inherited_citation(sentence: ReportSentence, passages: Sequence[Passage]) -> bool:
    """True if a sentence has the citation of a later one."""
    return bool(passages) and not sentence.markers


class Documents(msgspec.Struct, frozen=True, kw_only=True):
    """The stored documents' evidence on the cited passages.

    `wrong` has the problem of each passage with one. It also has the passages that begin or end inside a sentence, and
    what surrounds those found.
    """

    cut_before: tuple[str, ...] = ()
    cut_after: tuple[str, ...] = ()
    located: tuple[Surroundings, ...] = ()
    wrong: dict[str, str] = {}


class CitedPassages:
    """What stored documents say about cited passages: where these are cut, what surrounds them, what is wrong."""

    def __init__(self, sources: Mapping[str, Source], tables_of: TablesOf = lambda _: ()) -> None:
        self.sources = dict(sources)
        self._tables_of = tables_of
        self._before: set[str] = set()
        self._after: set[str] = set()
        self._surroundings: dict[str, Surroundings] = {}
        self._problems: dict[str, str] = {}

    def add_documents(self, documents: Documents) -> None:
        """Add what documents say."""
        self._before.update(documents.cut_before)
        self._after.update(documents.cut_after)
        self._surroundings.update((surroundings.id, surroundings) for surroundings in documents.located)
        self._problems.update(documents.wrong)

    def claim_evidence(self, passages: Iterable[Passage]) -> ClaimEvidence:
        """The evidence of a claim, with where its passages are cut and what surrounds them, if known."""
        cited_passages = tuple(passages)
        ids = {passage.id for passage in cited_passages}
        return ClaimEvidence(
            passages=cited_passages,
            sources=self.sources,
            cut_before=frozenset(self._before & ids),
            cut_after=frozenset(self._after & ids),
            surroundings={id: self._surroundings[id] for id in ids if id in self._surroundings},
            tables=partial(self._tables, tuple(dict.fromkeys(passage.document_sha256 for passage in cited_passages))),
        )

    def _tables(self, hashes: Sequence[str]) -> Sequence[ReadTable]:
        """The tables of documents, by hash."""
        return self._tables_of(hashes)

    def surroundings(self, ids: Iterable[str]) -> tuple[Surroundings, ...]:
        """The places of passages in their documents, in the given order."""
        return tuple(self._surroundings[id] for id in dict.fromkeys(ids) if id in self._surroundings)

    def problems(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The problems of these passages, each once."""
        return tuple(dict.fromkeys(self._problems[id] for id in ids if id in self._problems))


class EvidenceIndex(CitedPassages):
    """Every passage shown and every source found, and what the stored documents say about cited ones.

    `passages` and `sources` are by id; they may grow while claims are repaired.
    """

    def __init__(self, passages: Mapping[str, Passage], sources: Mapping[str, Source], reader: DocumentReader) -> None:
        super().__init__(sources)
        self.passages, self.reader = dict(passages), reader
        self._passage_ids: set[str] = set()
        self._library: Library | None = None

    @property
    def citable_ids(self) -> CitableIds:
        """The things a marker may name, as of now."""
        return CitableIds(self.passages, self.sources)

    def add(self, passages: Iterable[Passage], sources: Iterable[Source]) -> None:
        """Add what may be cited."""
        self.passages.update({passage.id: passage for passage in passages})
        self.sources.update({source.id: source for source in sources})

    def _tables(self, hashes: Sequence[str]) -> list[ReadTable]:
        """The tables of stored documents. Blocking. An unreadable document has none; the gate reports it."""
        tables: list[ReadTable] = []
        records: list[tuple[Document, list[TablePiece]]] = []
        for document in self._library.documents_by_hash(hashes) if self._library is not None else ():
            try:
                tables += self.reader.tables(document)
                spans = self.reader.spans(document)
            except StoreError:
                continue
            pieces = [TablePiece("", span.text, span.start, span.heading) for span in spans]
            records.append((document, pieces))
        over_all = table_of_documents(records)
        return [*tables, over_all] if over_all is not None else tables

    async def look_up_passages(self, run: Run, passages: Iterable[Passage]) -> None:
        """Look passages up in their documents, before `check_passages` and without a step: stored documents do not
        change.
        """
        self._library = run.world.library
        fresh = {passage.id: passage for passage in passages if passage.id not in self._surroundings}
        if fresh:
            self.add_documents(await asyncio.to_thread(self._located_in, run.world.library, fresh))

    async def check_passages(self, run: Run, passages: Iterable[Passage]) -> None:
        """Compare passages with their stored documents, each once, in one step; problems are kept for the gate."""
        self._library = run.world.library
        fresh = {passage.id: passage for passage in passages if passage.id not in self._passage_ids}
        if not fresh:
            return
        self._passage_ids.update(fresh)

        async def work(_: StepContext) -> Documents:
            return await asyncio.to_thread(self._located_in, run.world.library, fresh)

        hashes = {id: passage.text_sha256 for id, passage in fresh.items()}
        try:
            self.add_documents(await run.step("gate", work, returns=Documents, input=hashes))
        except Failed as failed:
            message = f"the cited passages were not compared with their documents: {stop_reason_phrase(failed.reason)}"
            self._problems.update(dict.fromkeys(fresh, message))

    def _located_in(self, library: Library, passages: Mapping[str, Passage]) -> Documents:
        hashes = {passage.document_sha256 for passage in passages.values()}
        return compare_with_documents(passages, text_reader(library, self.reader, hashes))


def text_reader(library: Library, reader: DocumentReader, hashes: Collection[str] = ()) -> TextOf:
    """A function that returns a stored document's text by its hash; those of `hashes` are found at once.
    Blocking.
    """
    documents = {document.sha256: document for document in library.documents_by_hash(hashes)}

    def read_text(sha256: str) -> bytes:
        document = documents.get(sha256) or library.document(sha256)
        if document is None:
            raise StoreError(f"document {sha256[:12]} is not in the library: `assay db check` names what is missing")
        return reader.text(document)

    return read_text


def find_unrecorded(report: str, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Factual sentences of `report` without a record, and records that are not where they say.

    A sentence added after the checks is neither checked nor counted.
    """
    # Emphasis at the ends of a sentence may belong to another one.
    words = {start: sentence.text.strip(PAIRED_SIGNS) for start, sentence in claims_by_start(report).items()}
    recorded_starts = {claim.start for claim in claims}
    problems = [
        f"a sentence of the report is no recorded claim: {text[:200]!r}"
        for start, text in words.items()
        if start not in recorded_starts
    ]
    problems += [
        f"claim {claim.id} does not stand in the report as it is recorded"
        for claim in claims
        if words.get(claim.start) != claim.text.strip(PAIRED_SIGNS)
    ]
    return tuple(problems)


def claims_by_start(report: str) -> dict[int, ReportSentence]:
    """The claims of a report by where each begins, by which records find their sentences."""
    return {sentence.start: sentence for sentence in claims_of(report)}


def compare_with_documents(passages: Mapping[str, Passage], text_of: TextOf) -> Documents:
    """Compare every cited passage with its stored document: both hashes, and the byte range."""
    wrong: dict[str, str] = {}
    before: list[str] = []
    after: list[str] = []
    surroundings: list[Surroundings] = []
    cached_text = cache(text_of)
    for id, passage in passages.items():
        try:
            text = cached_text(passage.document_sha256)
        except StoreError as error:
            wrong[id] = f"passage {id}: {error}"
            continue
        problem = _mismatch(id, passage, text)
        if problem:
            wrong[id] = f"passage {id} {problem}"
            continue
        if _is_cut_before(text, passage):
            before.append(id)
        if _is_cut_after(text, passage):
            after.append(id)
        above, below = surrounding_text(text, passage.start, passage.end)
        surroundings.append(Surroundings(id=id, before=above, after=below))
    return Documents(wrong=wrong, cut_before=tuple(before), cut_after=tuple(after), located=tuple(surroundings))


def _mismatch(id: str, passage: Passage, text: bytes) -> str:
    """The fault of a passage; empty if there is none."""
    if sha256(text) != passage.document_sha256:
        return "is of a document whose text does not have its hash"
    return passage_problem(id, passage, text)


_ENDED = (".", "!", "?", "。", "！", "？", "؟", "۔", "।", "…", ":", "：")
_CLOSERS = "\"'”’»)]*_`」』】）"
_LONG = 250
"""Only a passage at least this long may be cut inside a sentence: the segmenter's pieces have at least half its
limit.
"""


def _is_cut_before(text: bytes, passage: Passage) -> bool:
    """True if the passage begins inside a sentence of its document."""
    before = text[max(0, passage.start - 200) : passage.start].decode(errors="ignore")
    line = before.rpartition("\n")[2].strip()
    if line.strip("-*+•>#|:0123456789.) \t"):
        return not line.rstrip(_CLOSERS).endswith(_ENDED)
    above = before.rstrip()
    is_continued = not line and "\n\n" not in before[len(above) :].replace("\r", "") and bool(above)
    return is_continued and passage.text[:1].islower() and not above.rstrip(_CLOSERS).endswith(_ENDED)


def _is_cut_after(text: bytes, passage: Passage) -> bool:
    """True if the passage ends inside a sentence of its document."""
    if len(passage.text) < _LONG or passage.text.rstrip(_CLOSERS).endswith(_ENDED):
        return False
    after = text[passage.end : passage.end + 200].decode(errors="ignore").replace("\r", "").lstrip(" \t")
    if not after.startswith("\n"):
        return bool(after.strip("| \t"))
    return not after.startswith("\n\n") and after[1:].lstrip()[:1].islower()
