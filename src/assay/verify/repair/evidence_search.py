"""Looking for what a claim says with the run's own tools: a few searches, and the pages they bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import msgspec

from assay.core.errors import Failed, LimitReached
from assay.core.events import SourceAdded, ToolFailed, ToolFinished, ToolStarted
from assay.core.ports import LedgerRow
from assay.core.sources import SNIPPET
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.verify.analyzed_text import COMMON, Word, read
from assay.verify.claim_check import ClaimResult
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.repair.candidates import Means

MOST_CLAIMS = 6
"""Claims of one report which are searched for."""
TERMS = 12
LEAST_TERMS = 3
RESULTS = 5
PAGES = 2
"""Pages read for one claim, where a search brings only what it says of them."""


class ClaimSearchRows(msgspec.Struct, frozen=True):
    """The rows of the ledger a search for a claim added."""

    step_tag: ClassVar[str] = "looked"

    rows: tuple[LedgerRow, ...]


async def search_for(run: Run, held: EvidenceIndex, means: Means, claims: Sequence[ClaimResult]) -> bool:
    """Search for claims which fail; whether anything came up that was not there before.

    What a limit or a failing tool leaves undone is left: the claims are then repaired with what there is.
    """
    if "search" not in means.tools:
        return False
    before = set(held.sources), set(held.passages)
    branches = (Branch(each.id, partial(_look, means=means, claim=each)) for each in claims[:MOST_CLAIMS])
    found = await run.gather(*branches)
    for each, seen in zip(claims, found, strict=False):
        await _keep(run, means.ledger, each.id, seen)
    passages, sources = means.ledger.everything()
    held.add(passages.values(), sources.values())
    return (set(held.sources), set(held.passages)) != before


async def _look(run: Run, *, means: Means, claim: ClaimResult) -> list[Observation]:
    """What the searches for a claim show, and the pages they name."""
    seen: list[Observation] = []
    for place, query in enumerate(queries(claim.sentence.text)):
        found = await _call(run, means, f"search-{place}", "search", {"query": query, "limit": RESULTS})
        if found is None:
            continue
        seen.append(found)
        pages = [each.document.url for each in found.shown if each.document.media_type == SNIPPET][:PAGES]
        if pages and "open" in means.tools:
            opened = await _call(run, means, f"open-{place}", "open", {"documents": pages, "find": query})
            seen += [opened] if opened is not None else []
    return seen


async def _call(run: Run, means: Means, call: str, tool: str, arguments: Mapping[str, object]) -> Observation | None:
    run.emit(ToolStarted(call=call, tool=tool, arguments=msgspec.json.encode(arguments).decode()))
    try:
        found = await means.tools[tool].run(run.child(call), means.ledger, arguments)
    except LimitReached as limit:
        run.emit(ToolFailed(call=call, tool=tool, reason=f"limit reached: {limit.reason}"))
        return None
    except Failed as failed:
        run.emit(ToolFailed(call=call, tool=tool, reason=failed.reason))
        return None
    run.emit(ToolFinished(call=call, tool=tool, summary=found.summary))
    return found


async def _keep(run: Run, ledger: Ledger, claim: str, seen: Sequence[Observation]) -> None:
    """Give ids to what a search for a claim showed, one claim after the other: the same ids on every replay."""
    shown = [each for one in seen for each in one.shown]
    if not shown:
        return

    async def register(step_context: StepContext) -> ClaimSearchRows:
        added = ledger.register(run.lane, shown, queries=(), pages=())
        for source in added.sources:
            step_context.emit(SourceAdded(source=source))
        for row in added.rows:
            step_context.record(row)
        return ClaimSearchRows(added.rows)

    asked = [(each.document.sha256, [span.ordinal for span in each.spans]) for each in shown]
    ledger.apply((await run.child(claim).step("keep", register, returns=ClaimSearchRows, input=asked)).rows)


def queries(claim: str) -> list[str]:
    """One or two queries for what a claim says: its telling words; of a long one, those of each half apart."""
    telling = [word for word in read(claim).words if _tells(word)]
    if len(telling) <= TERMS:
        return [_query(telling)] if len(telling) >= LEAST_TERMS else []
    middle = len(telling) // 2
    return [_query(telling[:middle][:TERMS]), _query(telling[middle:][:TERMS])]


def _tells(word: Word) -> bool:
    return word.kind != "sign" and word.text.casefold() not in COMMON


def _query(telling: Sequence[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in telling))
