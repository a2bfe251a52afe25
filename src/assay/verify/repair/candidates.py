"""Passages which may say what a claim says: out of all the run has shown, and the whole text of all it has read."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.errors import StoreError
from assay.core.events import SourceAdded
from assay.core.ports import LedgerRow
from assay.core.sources import SNIPPET, Document, Passage, Source, Span, lane_of_source, ordinal_of
from assay.core.text import words
from assay.evidence.documents import Reader
from assay.evidence.ledger import Excerpt, Ledger
from assay.run.run import Run
from assay.run.steps import Scratch
from assay.verify.checking import Checked
from assay.verify.holdings import Holdings
from assay.verify.rarity import Rarity

MOST = 6
"""Passages looked at for one claim."""
MOST_PASSAGES = 20_000
"""Of all documents together; what is cited is looked at first."""
LEAST_SHARE = 0.3
"""Of a claim's words, by weight, which a passage must have."""
HEADING_SHARE = 0.5
"""What a word counts which stands only in the headings above a passage."""


class Picked(msgspec.Struct, frozen=True):
    """A passage of a source's document, by its place in it."""

    source: str
    span: Span


class Mined(msgspec.Struct, frozen=True):
    """What was picked for each claim, the best first."""

    picked: dict[str, tuple[Picked, ...]]


class Registered(msgspec.Struct, frozen=True):
    """The rows of the ledger which make passages citable."""

    rows: tuple[LedgerRow, ...]


async def candidates(run: Run, held: Holdings, ledger: Ledger, claims: Sequence[Checked]) -> dict[str, list[Passage]]:
    """For each claim the passages which share most with it, the best first, but those it cites already.

    A passage no model was shown yet is put on the ledger, so that it can be cited.

    Raises:
        LimitReached: there is no time left to read.
    """
    documents = _documents(run, held, ledger, claims)

    async def mine(_: Scratch) -> Mined:
        return await asyncio.to_thread(_mined, held.reader, documents, {each.id: each.sentence.text for each in claims})

    asked = [[each.id, each.sentence.text] for each in claims]
    mined = await run.step("mine", mine, returns=Mined, input=[asked, list(documents)])
    picked = [pick for picks in mined.picked.values() for pick in picks]
    known = await _register(run, held, ledger, picked)
    own = {each.id: set(each.passages) for each in claims}
    found = {id: [known[_key(pick)] for pick in picks if _key(pick) in known] for id, picks in mined.picked.items()}
    chosen = {id: [each for each in passages if each.id not in own[id]] for id, passages in found.items()}
    await held.hold(run, (passage for passages in chosen.values() for passage in passages))
    return chosen


def _documents(run: Run, held: Holdings, ledger: Ledger, claims: Sequence[Checked]) -> dict[str, Document]:
    """The documents read, each once, by the id of a source: cited ones first; an agent's id before any other.

    What a search said of a page nobody has read is none.
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


def _mined(reader: Reader, documents: Mapping[str, Document], claims: Mapping[str, str]) -> Mined:
    index = Index(_passages(reader, documents))
    return Mined({id: tuple(index.best(text)) for id, text in claims.items()})


def _passages(reader: Reader, documents: Mapping[str, Document]) -> Iterable[Picked]:
    """The passages of all documents; one whose text is not there has none: the gate says so where it is cited."""
    count = 0
    for id, document in documents.items():
        try:
            spans = reader.spans(document)
        except StoreError:
            continue
        for span in spans[: MOST_PASSAGES - count]:
            yield Picked(id, span)
        count += min(len(spans), MOST_PASSAGES - count)


class Index:
    """Passages by their words. A word weighs by its rarity among them (`verify.rarity`)."""

    def __init__(self, passages: Iterable[Picked]) -> None:
        self.passages = list(passages)
        inside = [frozenset(words(each.span.text)) for each in self.passages]
        above = (words(" ".join(each.span.heading)) for each in self.passages)
        self.text = Rarity(inside)
        self.heading = Rarity(set(heading) - own for heading, own in zip(above, inside, strict=True))

    def best(self, claim: str) -> list[Picked]:
        """The passages which share most words with `claim`."""
        weights = {word: self.text.weight(word) for word in set(words(claim))}
        scores: defaultdict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for at in self.text.places(word):
                scores[at] += weight
            for at in self.heading.places(word):
                scores[at] += weight * HEADING_SHARE
        least = LEAST_SHARE * sum(weights.values())
        ranked = sorted(scores.items(), key=lambda pair: (-round(pair[1], 6), pair[0]))
        return [self.passages[at] for at, score in ranked[:MOST] if score >= least]


# the ledger


def _key(pick: Picked) -> tuple[str, int]:
    return pick.source, pick.span.ordinal


async def _register(
    run: Run, held: Holdings, ledger: Ledger, picked: Sequence[Picked]
) -> dict[tuple[str, int], Passage]:
    """The passages picked, by source and place; those not shown yet are put on the ledger in one step."""
    lanes = {source: _lane(run, source) for source in dict.fromkeys(pick.source for pick in picked)}
    shown = {source: _excerpt(ledger, source, picked) for source in lanes}

    async def register(scratch: Scratch) -> Registered:
        rows: list[LedgerRow] = []
        for lane in sorted(set(lanes.values())):
            added = ledger.register(lane, [excerpt for source, excerpt in shown.items() if lanes[source] == lane])
            for each in added.sources:
                scratch.emit(SourceAdded(source=each))
            rows += added.rows
        for row in rows:
            scratch.record(row)
        return Registered(tuple(rows))

    asked = [[source, [span.ordinal for span in excerpt.spans]] for source, excerpt in shown.items()]
    ledger.apply((await run.step("register", register, returns=Registered, input=asked)).rows)
    found: dict[tuple[str, int], Passage] = {}
    for source, excerpt in shown.items():
        for block in ledger.blocks(lanes[source], [excerpt]):
            held.add(block.passages, [block.source])
            found.update(((source, ordinal_of(passage.id)), passage) for passage in block.passages)
    return found


def _lane(run: Run, source: str) -> int:
    """The lane which cites a source's passages: that which met it; of an earlier run, verification's own."""
    lane = lane_of_source(source)
    return lane if lane >= run.brief.lane else run.lane


def _excerpt(ledger: Ledger, source: str, picked: Sequence[Picked]) -> Excerpt:
    spans = {pick.span.ordinal: pick.span for pick in picked if pick.source == source}
    document = ledger.document(source)
    if document is None:
        raise LookupError(f"source {source} was picked from and is not in the ledger")
    return Excerpt(document=document, spans=tuple(spans.values()))
