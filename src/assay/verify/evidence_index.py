"""The evidence of a run for its report, as verification sees it: citable passages, cited ones, and their places."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from assay.core.citations.whole_source import WholeSource
from assay.core.errors import Failed, StoreError
from assay.core.markers import Marker, parse
from assay.core.ports import Library
from assay.core.report_sentences import ReportSentence
from assay.core.sources import Passage, Source, Surroundings
from assay.core.tables.cells import ReadTable
from assay.evidence.documents import DocumentReader
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.verify import gate
from assay.verify.evidence import ClaimEvidence
from assay.verify.rules.quotes import verbatim


class CitableIds(msgspec.Struct, frozen=True):
    """Every passage and source that a marker may name, by id."""

    passages: Mapping[str, Passage]
    sources: Mapping[str, Source]

    def has(self, id: str) -> bool:
        """True if `id` names something."""
        return id in self.passages or id in self.sources

    def cited(self, sentence: ReportSentence) -> tuple[Passage, ...]:
        """The passages `sentence` cites, in order, each once. Ids which do not exist name nothing."""
        return self._named(sentence.markers, sentence.text)

    def _named(self, markers: Sequence[Marker], statement: str) -> tuple[Passage, ...]:
        """The passages that markers name; of a source cited as a whole, those that `statement` means."""
        found: dict[str, Passage] = {}
        for marker in markers:
            found.update((id, self.passages[id]) for id in marker.passages if id in self.passages)
            for source in marker.sources:
                whole = WholeSource(each for each in self.passages.values() if each.source == source)
                found.update((passage.id, passage) for passage in whole.meant(statement))
        return tuple(found.values())

    def all_cited(self, found: Sequence[ReportSentence]) -> list[tuple[ReportSentence, tuple[Passage, ...]]]:
        """Each claim of a text, or of whole blocks of it, with the passages it cites.

        A sentence without a marker inherits the citation of the next sentence with one in its block, since many writers
        cite only at a paragraph's end. If one of these passages contains its words, it inherits that passage.
        """
        cited = [(sentence, self.cited(sentence)) for sentence in found]
        following: tuple[int, tuple[Marker, ...]] = (-1, ())
        for at in range(len(cited) - 1, -1, -1):
            sentence, _ = cited[at]
            if sentence.markers:
                following = (sentence.block, sentence.markers)
            elif sentence.block == following[0]:
                lent = self._named(following[1], sentence.text)
                passage = verbatim(sentence.text, ClaimEvidence(passages=lent, sources=self.sources))
                cited[at] = (sentence, (passage,) if passage else lent)
        return cited


def inherits(sentence: ReportSentence, passages: Sequence[Passage]) -> bool:
    """True if a sentence has the citation of a later one."""
    return bool(passages) and not sentence.markers


def dropped(report: str | Sequence[Marker], shown: CitableIds) -> int:
    """How many ids in the report's markers do not exist, apart from those that only a range implies."""
    markers = parse(report) if isinstance(report, str) else report
    return sum(not shown.has(id) for marker in markers for id in marker.ids if id not in marker.implied)


class EvidenceIndex:
    """Every passage shown and every source found, and what the stored documents say about cited ones.

    `passages` and `sources` are by id; they may grow while claims are repaired.
    """

    def __init__(self, passages: Mapping[str, Passage], sources: Mapping[str, Source], reader: DocumentReader) -> None:
        self.passages, self.sources, self.reader = dict(passages), dict(sources), reader
        self._before: set[str] = set()
        self._after: set[str] = set()
        self._located: dict[str, Surroundings] = {}
        self._problems: dict[str, str] = {}
        self._held: set[str] = set()
        self._library: Library | None = None

    @property
    def shown(self) -> CitableIds:
        """The things a marker may name."""
        return CitableIds(self.passages, self.sources)

    def add(self, passages: Iterable[Passage], sources: Iterable[Source]) -> None:
        """Add what may be cited."""
        self.passages.update({passage.id: passage for passage in passages})
        self.sources.update({source.id: source for source in sources})

    def evidence(self, passages: Iterable[Passage]) -> ClaimEvidence:
        """The evidence of a claim, with where its passages are cut and what surrounds them, if known."""
        cited = tuple(passages)
        ids = {passage.id for passage in cited}
        return ClaimEvidence(
            passages=cited,
            sources=self.sources,
            cut_before=frozenset(self._before & ids),
            cut_after=frozenset(self._after & ids),
            around={id: self._located[id] for id in ids if id in self._located},
            tables=partial(self._tables, tuple(dict.fromkeys(passage.document_sha256 for passage in cited))),
        )

    def _tables(self, hashes: Sequence[str]) -> list[ReadTable]:
        """The tables of stored documents. Blocking. An unreadable document has none; the gate reports it."""
        found: list[ReadTable] = []
        for hash in hashes:
            document = self._library.document(hash) if self._library is not None else None
            if document is not None:
                try:
                    found += self.reader.tables(document)
                except StoreError:
                    continue
        return found

    async def look(self, run: Run, passages: Iterable[Passage]) -> None:
        """Look passages up in their documents, before `hold` and without a step: stored documents do not change."""
        self._library = run.world.library
        fresh = {passage.id: passage for passage in passages if passage.id not in self._located}
        if fresh:
            self._take(await asyncio.to_thread(gate.documents, fresh, text_of(run.world.library, self.reader)))

    async def hold(self, run: Run, passages: Iterable[Passage]) -> None:
        """Compare passages with their stored documents, each once, in one step; problems are kept for the gate."""
        self._library = run.world.library
        fresh = {passage.id: passage for passage in passages if passage.id not in self._held}
        if not fresh:
            return
        self._held.update(fresh)

        async def work(_: StepContext) -> gate.Documents:
            return await asyncio.to_thread(gate.documents, fresh, text_of(run.world.library, self.reader))

        hashes = {id: passage.text_sha256 for id, passage in fresh.items()}
        try:
            self._take(await run.step("gate", work, returns=gate.Documents, input=hashes))
        except Failed as failed:
            message = f"the cited passages were not held against their documents: {failed.reason}"
            self._problems.update(dict.fromkeys(fresh, message))

    def _take(self, held: gate.Documents) -> None:
        self._before.update(held.cut_before)
        self._after.update(held.cut_after)
        self._located.update((each.id, each) for each in held.located)
        self._problems.update(held.wrong)

    def located(self, ids: Iterable[str]) -> tuple[Surroundings, ...]:
        """The places of passages in their documents, in the given order."""
        return tuple(self._located[id] for id in dict.fromkeys(ids) if id in self._located)

    def problems(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The problems of these passages, each once."""
        return tuple(dict.fromkeys(self._problems[id] for id in ids if id in self._problems))


def text_of(library: Library, reader: DocumentReader) -> gate.TextOf:
    """A function that returns a stored document's text by its hash."""

    def found(sha256: str) -> bytes:
        document = library.document(sha256)
        if document is None:
            raise StoreError(f"document {sha256[:12]} is not in the library: `assay db check` names what is missing")
        return reader.text(document)

    return found
