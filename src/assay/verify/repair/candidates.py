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
MAX_CLAIM_PASSAGES = 6
"""Passages tried for one claim."""
MAX_PASSAGES = 20_000
"""Of all documents together; cited ones come first."""
MIN_WORD_SHARE = 0.3
"""The share of a claim's words, by weight, that a passage must have."""
SHORTLIST, MIN_MEANING_SHARE = 40, 0.15
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
    run: Run, evidence_index: EvidenceIndex, ledger: Ledger, claims: Sequence[ClaimResult]
) -> dict[str, list[Passage]]:
    """For each claim the passages that share most with it, best first, without those it cites already.

    A passage that no model was shown is added to the ledger, so that it can be cited.

    Raises:
        LimitReached: there is no time left to read.
    """
    documents = _documents(run, evidence_index, ledger, claims)

    texts = {claim.id: claim.sentence.text for claim in claims}
    similarity = run.world.similarity

    async def mine(step_context: StepContext) -> CandidatePassages:
        index = await asyncio.to_thread(lambda: PassageIndex(_passages(evidence_index.reader, documents)))
        if similarity is None:
            return await asyncio.to_thread(_pick_by_words, index, texts)
        return await _pick_by_meaning(run, step_context, index, texts, documents)

    step_input = [[claim.id, claim.sentence.text] for claim in claims]
    mined = await run.step("mine", mine, returns=CandidatePassages, input=[step_input, list(documents)])
    all_picks = [pick for picks in mined.picked.values() for pick in picks]
    passages_by_key = await _register(run, evidence_index, ledger, all_picks)
    cited_ids = {claim.id: set(claim.passages) for claim in claims}
    candidates_by_claim = {
        id: [passages_by_key[_key(pick)] for pick in picks if _key(pick) in passages_by_key]
        for id, picks in mined.picked.items()
    }
    uncited = {
        id: [passage for passage in passages if passage.id not in cited_ids[id]]
        for id, passages in candidates_by_claim.items()
    }
    await evidence_index.check_passages(run, (passage for passages in uncited.values() for passage in passages))
    return uncited


def _documents(
    run: Run, evidence_index: EvidenceIndex, ledger: Ledger, claims: Sequence[ClaimResult]
) -> dict[str, Document]:
    """The documents read, each once, by the id of a source: cited ones first; an agent's id before others.

    Search snippets of unread pages do not count.
    """
    cited_hashes = {passage.document_sha256 for claim in claims for passage in claim.evidence.passages}
    first = run.brief.lane

    def rank(source: Source) -> tuple[bool, bool, bool]:
        lane = lane_of_source(source.id)
        return source.document_sha256 not in cited_hashes, lane < first, lane == run.lane

    sources: dict[str, Source] = {}
    for source in sorted(evidence_index.sources.values(), key=rank):
        if source.media_type != SNIPPET:
            sources.setdefault(source.document_sha256, source)
    documents = ((source.id, ledger.document(source.id)) for source in sources.values())
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
    shortlists = {
        id: [(position, share) for position, share in index.rank_places(text)[:SHORTLIST] if share >= MIN_MEANING_SHARE]
        for id, text in claims.items()
    }
    positions = list(dict.fromkeys(position for shortlist in shortlists.values() for position, _ in shortlist))
    embedder_texts = [_embedder_text(index.passages[position], documents) for position in positions]
    try:
        similarities = await compare_texts(run, list(claims.values()), embedder_texts)
    except SearchError as failed:
        log.warning("evidence is looked for by words alone: %s", failed)
        return await asyncio.to_thread(_pick_by_words, index, claims)
    step_context.spend(similarities.usage)
    column = {position: rank for rank, position in enumerate(positions)}
    picked = {}
    for (id, shortlist), row in zip(shortlists.items(), similarities.rows, strict=True):
        order = rank_by_both([share for _, share in shortlist], [row[column[position]] for position, _ in shortlist])
        picked[id] = tuple(index.passages[shortlist[rank][0]] for rank in order[:MAX_CLAIM_PASSAGES])
    return CandidatePassages(picked)


def _embedder_text(passage: PickedPassage, documents: Mapping[str, Document]) -> str:
    """A passage as the embedder reads it."""
    span = passage.span
    above = span.heading[-1] if span.heading else documents[passage.source].title
    return passage_text(above, span.label, span.text)


def _passages(reader: DocumentReader, documents: Mapping[str, Document]) -> Iterable[PickedPassage]:
    """The passages of all documents. A missing text has none; the gate reports it if it is cited."""
    count = 0
    for id, document in documents.items():
        try:
            spans = content_spans(reader.spans(document))
        except StoreError:
            continue
        for span in spans[: MAX_PASSAGES - count]:
            yield PickedPassage(id, span)
        count += min(len(spans), MAX_PASSAGES - count)


class PassageIndex:
    """Passages by the keys of their words, as search and the built-in model compare them (`core.relevance`).

    A key is weighted by its rarity among them.
    """

    def __init__(self, passages: Iterable[PickedPassage]) -> None:
        self.passages = list(passages)
        self._analysis = analysis_for("\n".join(passage.span.text for passage in self.passages[:SAMPLE]))
        inside = [self._keys(passage.span.text) for passage in self.passages]
        above = (self._keys(" ".join(passage.span.heading)) for passage in self.passages)
        self.text = TermPlaces(inside)
        self.heading = TermPlaces(heading - passage_keys for heading, passage_keys in zip(above, inside, strict=True))

    def best_passages(self, claim: str) -> list[PickedPassage]:
        """The passages that share most words with `claim`."""
        return [
            self.passages[position]
            for position, share in self.rank_places(claim)[:MAX_CLAIM_PASSAGES]
            if share >= MIN_WORD_SHARE
        ]

    def rank_places(self, claim: str) -> list[tuple[int, float]]:
        """The places of the passages that share words with `claim`, and the share of its weight; best first."""
        weights = {key: self.text.weight(key) for key in self._keys(claim)}
        scores: defaultdict[int, float] = defaultdict(float)
        for key, weight in weights.items():
            for position in self.text.places(key):
                scores[position] += weight
            for position in self.heading.places(key):
                scores[position] += weight * HEADING_SHARE
        total = sum(weights.values()) or 1.0
        shares = ((position, round(score / total, 6)) for position, score in scores.items())
        return sorted(shares, key=lambda pair: (-pair[1], pair[0]))

    def _keys(self, text: str) -> frozenset[str]:
        return frozenset(keys(text, self._analysis))


# the ledger


def _key(pick: PickedPassage) -> tuple[str, int]:
    return pick.source, pick.span.ordinal


async def _register(
    run: Run, evidence_index: EvidenceIndex, ledger: Ledger, picks: Sequence[PickedPassage]
) -> dict[tuple[str, int], Passage]:
    """The picked passages, by source and place; new ones are added to the ledger in one step."""
    lanes = {source: _lane(run, source) for source in dict.fromkeys(pick.source for pick in picks)}
    excerpts = {source: _excerpt(ledger, source, picks) for source in lanes}

    async def register(step_context: StepContext) -> RegisteredRows:
        rows: list[LedgerRow] = []
        for lane in sorted(set(lanes.values())):
            registration = ledger.register(
                lane, [excerpt for source, excerpt in excerpts.items() if lanes[source] == lane]
            )
            for new_source in registration.sources:
                step_context.emit(SourceAdded(source=new_source))
            rows += registration.rows
        step_context.record(*rows)
        return RegisteredRows(tuple(rows))

    step_input = [[source, [span.ordinal for span in excerpt.spans]] for source, excerpt in excerpts.items()]
    ledger.apply((await run.step("register", register, returns=RegisteredRows, input=step_input)).rows)
    passages_by_key: dict[tuple[str, int], Passage] = {}
    for source, excerpt in excerpts.items():
        for block in ledger.blocks(lanes[source], [excerpt]):
            evidence_index.add(block.passages, [block.source])
            passages_by_key.update(((source, ordinal_of(passage.id)), passage) for passage in block.passages)
    return passages_by_key


def _lane(run: Run, source: str) -> int:
    """The lane that cites a source's passages: the one that found it; for an earlier run's, verification's own."""
    lane = lane_of_source(source)
    return lane if lane >= run.brief.lane else run.lane


def _excerpt(ledger: Ledger, source: str, picks: Sequence[PickedPassage]) -> DocumentPassages:
    spans = {pick.span.ordinal: pick.span for pick in picks if pick.source == source}
    document = ledger.document(source)
    if document is None:
        raise LookupError(f"source {source} was picked from and is not in the ledger")
    return DocumentPassages(document=document, spans=tuple(spans.values()))
