"""Finds passages that may say what a claim says, among all shown ones and the full text of all documents read."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from assay.core.citations.whole_source import TermPlaces
from assay.core.errors import SearchError, StoreError
from assay.core.events import SourceAdded
from assay.core.messages import passage_text
from assay.core.ports import LedgerRow
from assay.core.relevance.scores import rank_by_both
from assay.core.relevance.topic_question import analysis_for, keys
from assay.core.sources import (
    SNIPPET,
    Document,
    Passage,
    PassageSpan,
    Source,
    content_spans,
    lane_of_source,
    ordinal_of,
)
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import DocumentPassages, Ledger
from assay.run.run import Run
from assay.run.sent_request import compare_texts
from assay.run.steps import StepContext
from assay.verify.claim_check import ClaimResult
from assay.verify.evidence_index import EvidenceIndex

log = logging.getLogger(__name__)
MOST = 6
"""Passages tried for one claim."""
MOST_PASSAGES = 20_000
"""Of all documents together; cited ones come first."""
LEAST_SHARE = 0.3
"""The share of a claim's words, by weight, that a passage must have."""
SHORTLIST, LEAST_BY_MEANING = 40, 0.15
"""Passages of a claim compared by meaning, if an embedder is set, and the share of words they must have then."""
SAMPLE = 5
"""The number of passages from which the language of the documents is detected."""
HEADING_SHARE = 0.5
"""The weight of a word that is only in the headings above a passage."""


class PickedPassage(msgspec.Struct, frozen=True):
    """A passage of a source's document, by its place in it."""

    source: str
    span: PassageSpan


class CandidatePassages(msgspec.Struct, frozen=True):
    """The passages picked for each claim, best first."""

    picked: dict[str, tuple[PickedPassage, ...]]


class RegisteredRows(msgspec.Struct, frozen=True):
    """The ledger rows that make passages citable."""

    step_tag: ClassVar[str] = "registered"

    rows: tuple[LedgerRow, ...]


async def candidates(
    run: Run, held: EvidenceIndex, ledger: Ledger, claims: Sequence[ClaimResult]
) -> dict[str, list[Passage]]:
    """For each claim the passages that share most with it, best first, without those it cites already.

    A passage that no model was shown is added to the ledger, so that it can be cited.

    Raises:
        LimitReached: there is no time left to read.
    """
    documents = _documents(run, held, ledger, claims)

    texts = {each.id: each.sentence.text for each in claims}
    similarity = run.world.similarity

    async def mine(step_context: StepContext) -> CandidatePassages:
        index = await asyncio.to_thread(lambda: PassageIndex(_passages(held.reader, documents)))
        if similarity is None:
            return await asyncio.to_thread(_pick_by_words, index, texts)
        return await _pick_by_meaning(run, step_context, index, texts, documents)

    asked = [[each.id, each.sentence.text] for each in claims]
    mined = await run.step("mine", mine, returns=CandidatePassages, input=[asked, list(documents)])
    picked = [pick for picks in mined.picked.values() for pick in picks]
    known = await _register(run, held, ledger, picked)
    own = {each.id: set(each.passages) for each in claims}
    found = {id: [known[_key(pick)] for pick in picks if _key(pick) in known] for id, picks in mined.picked.items()}
    chosen = {id: [each for each in passages if each.id not in own[id]] for id, passages in found.items()}
    await held.check_passages(run, (passage for passages in chosen.values() for passage in passages))
    return chosen


def _documents(run: Run, held: EvidenceIndex, ledger: Ledger, claims: Sequence[ClaimResult]) -> dict[str, Document]:
    """The documents read, each once, by the id of a source: cited ones first; an agent's id before others.

    Search snippets of unread pages do not count.
    """
    cited = {passage.document_sha256 for each in claims for passage in each.evidence.passages}
    first = run.brief.lane

    def rank(source: Source) -> tuple[bool, bool, bool]:
        lane = lane_of_source(source.id)
        return source.document_sha256 not in cited, lane < first, lane == run.lane

    found: dict[str, Source] = {}
    for source in sorted(held.sources.values(), key=rank):
        if source.media_type != SNIPPET:
            found.setdefault(source.document_sha256, source)
    documents = ((source.id, ledger.document(source.id)) for source in found.values())
    return {id: document for id, document in documents if document is not None}


def _pick_by_words(index: PassageIndex, claims: Mapping[str, str]) -> CandidatePassages:
    return CandidatePassages({id: tuple(index.best_passages(text)) for id, text in claims.items()})


async def _pick_by_meaning(
    run: Run,
    step_context: StepContext,
    index: PassageIndex,
    claims: Mapping[str, str],
    documents: Mapping[str, Document],
) -> CandidatePassages:
    """The best passages by words and by meaning, among those that share some words with a claim."""
    found = {
        id: [(at, share) for at, share in index.rank_places(text)[:SHORTLIST] if share >= LEAST_BY_MEANING]
        for id, text in claims.items()
    }
    places = list(dict.fromkeys(at for ranked in found.values() for at, _ in ranked))
    read = [_embedder_text(index.passages[at], documents) for at in places]
    try:
        near = await compare_texts(run, list(claims.values()), read)
    except SearchError as failed:
        log.warning("evidence is looked for by words alone: %s", failed)
        return await asyncio.to_thread(_pick_by_words, index, claims)
    step_context.spend(near.usage)
    column = {at: place for place, at in enumerate(places)}
    picked = {}
    for (id, ranked), row in zip(found.items(), near.rows, strict=True):
        order = rank_by_both([share for _, share in ranked], [row[column[at]] for at, _ in ranked])
        picked[id] = tuple(index.passages[ranked[place][0]] for place in order[:MOST])
    return CandidatePassages(picked)


def _embedder_text(picked: PickedPassage, documents: Mapping[str, Document]) -> str:
    """A passage as the embedder reads it."""
    span = picked.span
    above = span.heading[-1] if span.heading else documents[picked.source].title
    return passage_text(above, span.label, span.text)


def _passages(reader: DocumentReader, documents: Mapping[str, Document]) -> Iterable[PickedPassage]:
    """The passages of all documents. A missing text has none; the gate reports it if it is cited."""
    count = 0
    for id, document in documents.items():
        try:
            spans = content_spans(reader.spans(document))
        except StoreError:
            continue
        for span in spans[: MOST_PASSAGES - count]:
            yield PickedPassage(id, span)
        count += min(len(spans), MOST_PASSAGES - count)


class PassageIndex:
    """Passages by the keys of their words, as search and the built-in model compare them (`core.relevance`).

    A key is weighted by its rarity among them.
    """

    def __init__(self, passages: Iterable[PickedPassage]) -> None:
        self.passages = list(passages)
        self._analysis = analysis_for("\n".join(each.span.text for each in self.passages[:SAMPLE]))
        inside = [self._keys(each.span.text) for each in self.passages]
        above = (self._keys(" ".join(each.span.heading)) for each in self.passages)
        self.text = TermPlaces(inside)
        self.heading = TermPlaces(heading - own for heading, own in zip(above, inside, strict=True))

    def best_passages(self, claim: str) -> list[PickedPassage]:
        """The passages that share most words with `claim`."""
        return [self.passages[at] for at, share in self.rank_places(claim)[:MOST] if share >= LEAST_SHARE]

    def rank_places(self, claim: str) -> list[tuple[int, float]]:
        """The places of the passages that share words with `claim`, and the share of its weight; best first."""
        weights = {key: self.text.weight(key) for key in self._keys(claim)}
        scores: defaultdict[int, float] = defaultdict(float)
        for key, weight in weights.items():
            for at in self.text.places(key):
                scores[at] += weight
            for at in self.heading.places(key):
                scores[at] += weight * HEADING_SHARE
        total = sum(weights.values()) or 1.0
        shares = ((at, round(score / total, 6)) for at, score in scores.items())
        return sorted(shares, key=lambda pair: (-pair[1], pair[0]))

    def _keys(self, text: str) -> frozenset[str]:
        return frozenset(keys(text, self._analysis))


# the ledger


def _key(pick: PickedPassage) -> tuple[str, int]:
    return pick.source, pick.span.ordinal


async def _register(
    run: Run, held: EvidenceIndex, ledger: Ledger, picked: Sequence[PickedPassage]
) -> dict[tuple[str, int], Passage]:
    """The picked passages, by source and place; new ones are added to the ledger in one step."""
    lanes = {source: _lane(run, source) for source in dict.fromkeys(pick.source for pick in picked)}
    shown = {source: _excerpt(ledger, source, picked) for source in lanes}

    async def register(step_context: StepContext) -> RegisteredRows:
        rows: list[LedgerRow] = []
        for lane in sorted(set(lanes.values())):
            added = ledger.register(lane, [excerpt for source, excerpt in shown.items() if lanes[source] == lane])
            for each in added.sources:
                step_context.emit(SourceAdded(source=each))
            rows += added.rows
        step_context.record(*rows)
        return RegisteredRows(tuple(rows))

    asked = [[source, [span.ordinal for span in excerpt.spans]] for source, excerpt in shown.items()]
    ledger.apply((await run.step("register", register, returns=RegisteredRows, input=asked)).rows)
    found: dict[tuple[str, int], Passage] = {}
    for source, excerpt in shown.items():
        for block in ledger.blocks(lanes[source], [excerpt]):
            held.add(block.passages, [block.source])
            found.update(((source, ordinal_of(passage.id)), passage) for passage in block.passages)
    return found


def _lane(run: Run, source: str) -> int:
    """The lane that cites a source's passages: the one that found it; for an earlier run's, verification's own."""
    lane = lane_of_source(source)
    return lane if lane >= run.brief.lane else run.lane


def _excerpt(ledger: Ledger, source: str, picked: Sequence[PickedPassage]) -> DocumentPassages:
    spans = {pick.span.ordinal: pick.span for pick in picked if pick.source == source}
    document = ledger.document(source)
    if document is None:
        raise LookupError(f"source {source} was picked from and is not in the ledger")
    return DocumentPassages(document=document, spans=tuple(spans.values()))
