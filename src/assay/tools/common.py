"""What every tool needs: room for its result, and the answers other lanes already have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from assay.core.ports import LedgerRow
from assay.core.sources import PassageSpan
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.steps import StepContext, digest

LEAST_ROOM, MOST_ROOM = 1_500, 14_000
CHARACTERS_A_TOKEN = 3


def room(run: Run) -> int:
    """How many characters of passages one result may show: an eighth of the agents' window, within bounds."""
    tokens = run.profile("analytical").window // 8
    return max(LEAST_ROOM, min(MOST_ROOM, tokens * CHARACTERS_A_TOKEN))


def fit(shown: Iterable[DocumentPassages], characters: int) -> tuple[DocumentPassages, ...]:
    """The beginning of `shown` which fits, at least its first passage."""
    kept: list[DocumentPassages] = []
    for each in shown:
        spans = within(each.spans, characters, at_least=0 if kept else 1)
        characters -= sum(len(span.text) for span in spans)
        if spans:
            kept.append(DocumentPassages(document=each.document, spans=spans))
    return tuple(kept)


def within(spans: Sequence[PassageSpan], characters: int, at_least: int = 1) -> tuple[PassageSpan, ...]:
    """The first spans which fit into `characters`."""
    kept: list[PassageSpan] = []
    for span in spans:
        characters -= len(span.text)
        if characters < 0 and len(kept) >= at_least:
            break
        kept.append(span)
    return tuple(kept)


def key(tool: str, arguments: object) -> str:
    """What a call is kept under: equal arguments, equal key."""
    return f"{tool} {digest(arguments)}"


def row(run: Run, key: str, step_context: StepContext) -> LedgerRow:
    """The row which says that the step of `step_context` holds what is kept under `key`: for a run that continues
    this.
    """
    return LedgerRow(kind="answer", id=key, lane=run.lane, data=msgspec.json.encode(step_context.key))


async def once(
    run: Run, ledger: Ledger, key: str, work: Callable[[], Awaitable[Observation]]
) -> tuple[Observation, bool]:
    """What a call gets, and whether another lane got it before; to be called inside a step.

    Of several lanes which ask the same at the same time one does the work and the others wait for it; where it
    fails or is stopped, the next one tries.

    Raises:
        Failed: what `work` raises.
    """
    async with run.alone(key):
        answer = kept(ledger, key)
        if answer is not None:
            return answer, True
        answer = await work()
        keep(ledger, key, answer)
        return answer, False


def kept(ledger: Ledger, key: str) -> Observation | None:
    """What this call got before, in any lane."""
    data = ledger.answered(key)
    return None if data is None else msgspec.json.decode(data, type=Observation)


def keep(ledger: Ledger, key: str, observation: Observation) -> None:
    """Keep what a call got; the content is the same for whoever asks again."""
    if ledger.answered(key) is None:
        ledger.answer(key, msgspec.json.encode(observation))
