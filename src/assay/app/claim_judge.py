"""A model judges claims against texts given with them, as calls of a run with its journal in memory.

Verdicts follow the order of a run: no judge is asked about what the rules decide. Answers are stored in the home, so
that an interrupted check does not pay twice.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from assay.app.layout import store_of
from assay.core.brief import Brief
from assay.core.claims import Check, Verdict
from assay.core.errors import UsageError
from assay.core.events import UsageUpdated, decode
from assay.core.ports import Model, RateLimiter, World
from assay.core.ports.store import Store
from assay.core.usage import Budget, Usage
from assay.run.engine import Engine, Outcome, Pipeline
from assay.run.process import SystemClock
from assay.run.run import Branch, Run
from assay.services import briefs, daily
from assay.services.arguments import checked_keywords
from assay.services.claim_checks import BadRow, CheckedRow, ClaimRow, RowChecker, Warn, added_checks, checked_row
from assay.services.providers import load_model, model_rate_limiter
from assay.settings import Settings, load
from assay.store.memory import memory_store
from assay.verify.checks import drop_faults, examine
from assay.verify.claim_check import DEFAULT_RULES, CheckRules, PendingClaim, check_claim
from assay.verify.evidence import text_evidence
from assay.verify.judge import ask_judge

AT_ONCE = 8
"""Parallel calls, the limit of most services for one key."""
BATCH = 64
_BANDS: dict[Verdict, tuple[float, float]] = {
    "supported": (0.75, 0.99),
    "partial": (0.25, 0.49),
    "unsupported": (0.02, 0.24),
    "contradicted": (0.01, 0.2),
}
"""The range of the score for a judge's verdict; within it the weight of words decides. Not calibrated: judges
differ.
"""

Row = ClaimRow | BadRow
RowResult = CheckedRow | BadRow


@checked_keywords()
async def judge_rows(
    rows: Iterable[Row],
    notify: Callable[[RowResult], None],
    *,
    model: str,
    settings: Settings | None = None,
    home: str | Path | None = None,
    remember: bool = True,
    models: Mapping[str, Model] = {},
    max_usd: float | None = None,
    max_tokens: int | None = None,
    warn: Warn = warnings.warn,
) -> Usage:
    """Check each claim with `model` (PROVIDER:NAME) as judge, and return the usage.

    Args:
        rows: read on demand, some at a time, in a thread.
        notify: called with each verdict, in the order of the rows.
        home: where answers are stored; None for the home in the settings.
        remember: False stores no answers.
        models: the caller's own models, by name.
        max_usd: the most it may cost, in US dollars; the remaining claims are unchecked. None: from the settings.
        max_tokens: the most tokens it may use, likewise.
        warn: called for each failed check of another package; a Python warning by default. Checks named in the setting
            `checks_off` are not asked.

    Raises:
        UnknownName, ConfigError: there is no such model, or it is not set up correctly.
        UsageError: the model cannot judge, or money is limited and its price not known.
    """
    settings = settings or load()
    judge = models[model] if model in models else load_model(settings, model)
    check_can_judge(model, judge)
    folder = Path(home or settings.home)
    store = store_of(folder if remember else None, settings)
    accounts = store if remember else open_accounts(settings, folder)
    checker = RowChecker(added_checks(settings.checks_off))

    async def pipeline(run: Run) -> Outcome:
        await _judge_all(run.with_gate("verify"), iter(rows), notify, checker)
        return Outcome()

    try:
        brief = _brief(model, await budget_today(accounts, settings, max_usd, max_tokens))
        world = _world(model, judge, store, model_rate_limiter(store, settings))
        used = await _run_pipeline(pipeline, brief, world, accounts)
    finally:
        await judge.close()
        for opened_store in {id(store): store, id(accounts): accounts}.values():
            await opened_store.close()
    for fault in checker.faults():
        warn(fault)
    return used


def open_accounts(settings: Settings, home: Path) -> Store:
    """The store whose runs share the daily limits: that of the home, or one in memory if there are none."""
    return store_of(home if daily.allowances(settings.limits) else None, settings)


async def budget_today(
    accounts: Store, settings: Settings, max_usd: float | None = None, max_tokens: int | None = None
) -> Budget:
    """The budget of what is no run, cut to what the day has left.

    Raises:
        UsageError: less is left than one call costs.
    """
    limits = await daily.add_outside(accounts.cache, daily.allowances(settings.limits))
    return await daily.budget_left(accounts.journal, limits, daily.budget_of(settings.limits, max_usd, max_tokens))


class ClaimJudge(msgspec.Struct, frozen=True):
    """A judge for claims with their evidence: the model `name`, and where it finds documents and stores answers.

    `rate_limiter` delays its calls, `budget` limits all of them together; they count as the `owner`'s.
    """

    name: str
    model: Model
    store: Store
    rate_limiter: RateLimiter | None = None
    budget: Budget = Budget()
    owner: str = ""

    async def judge(self, claims: Sequence[PendingClaim], rules: CheckRules = DEFAULT_RULES) -> Judgements:
        """Return the judge's verdict on each claim, `AT_ONCE` at a time; `rules` are those asked before.

        A failing judge leaves a claim unchecked, with the reason, and so does a spent budget.

        Raises:
            UsageError: the model cannot judge, or money is limited and its price not known.
        """
        check_can_judge(self.name, self.model)
        opinions: dict[str, Check] = {}
        semaphore, rules = asyncio.Semaphore(AT_ONCE), msgspec.structs.replace(rules, uses_judge=True)

        async def judge_claim(claim_run: Run, claim: PendingClaim) -> None:
            async with semaphore:
                checked_claim = await check_claim(claim_run, claim.id, claim.sentence, claim.evidence, rules)
            opinions[claim.id] = checked_claim.check

        async def pipeline(run: Run) -> Outcome:
            await run.with_gate("verify").gather(
                *(Branch(claim.id, partial(judge_claim, claim=claim)) for claim in claims)
            )
            return Outcome()

        world = _world(self.name, self.model, self.store, self.rate_limiter)
        brief = _brief(self.name, self.budget, self.owner)
        usage = await _run_pipeline(pipeline, brief, world, self.store) if claims else Usage()
        return Judgements(opinions=opinions, model=self.name, usage=usage)


class Judgements(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's verdicts by the claims' ids, and the usage."""

    opinions: Mapping[str, Check] = {}
    model: str = ""
    usage: Usage = Usage()


def check_can_judge(name: str, model: Model) -> None:
    """Refuse a model that cannot judge.

    Raises:
        UsageError: it cannot.
    """
    if model.profile.deterministic:
        raise UsageError(f"{name} cannot judge claims; leave out --model to check them by rules alone")


async def _run_pipeline(pipeline: Pipeline, brief: Brief, world: World, accounts: Store) -> Usage:
    """Run `pipeline` over a separate journal and return the usage, which counts in the daily limits of `accounts`."""

    async def prepare() -> tuple[Brief, World]:
        return brief, world

    store = memory_store()
    engine, used = Engine(store.journal, pipeline), Usage()
    try:
        handle = engine.start(prepare)
        async for envelope in handle:
            event = decode(envelope)
            used = used + event.usage if isinstance(event, UsageUpdated) else used
        await handle.wait()
    finally:
        await engine.close()
        await store.close()
        await daily.count_outside(accounts.cache, brief.owner, used)
    return used


def _brief(model: str, budget: Budget, owner: str = "") -> Brief:
    return Brief(
        question="Are the claims supported?",
        date=datetime.now(UTC).date().isoformat(),
        models={"judge": (model,)},
        budget=budget,
        owner=owner,
        prompts=briefs.prompt_hashes(),
    )


def _world(name: str, model: Model, store: Store, rate_limiter: RateLimiter | None) -> World:
    return World(
        models={name: model},
        searches=(),
        library=store.library,
        blobs=store.blobs,
        clock=SystemClock(),
        cache=store.cache,
        prompts=briefs.replaced_texts(),
        rate_limiter=rate_limiter,
    )


async def _judge_all(run: Run, rows: Iterator[Row], notify: Callable[[RowResult], None], checker: RowChecker) -> None:
    semaphore, number = asyncio.Semaphore(AT_ONCE), 0
    while batch := await asyncio.to_thread(lambda: list(islice(rows, BATCH))):
        number += 1
        for result in await _judge_batch(run.child(f"batch-{number}"), batch, semaphore, checker):
            notify(result)


async def _judge_batch(
    run: Run, batch: Sequence[Row], semaphore: asyncio.Semaphore, checker: RowChecker
) -> list[RowResult]:
    def branch(number: int, row: Row) -> Branch[RowResult]:
        async def work(row_run: Run) -> RowResult:
            async with semaphore:
                return row if isinstance(row, BadRow) else await judge_row(row_run, row, checker)

        return Branch(f"row-{number}", work)

    return await run.gather(*(branch(number, row) for number, row in enumerate(batch)))


async def judge_row(run: Run, row: ClaimRow, checker: RowChecker) -> CheckedRow:
    """Check one claim: by the rules if they decide, else by the judge of `run`."""
    first = checker.decide(row)
    if first.rule != "lexical":
        return checked_row(row, first)
    evidence = text_evidence(row.doc)
    findings = examine(row.claim, evidence, added_checks=checker.added)
    opinion = await ask_judge(run, row.claim, evidence, drop_faults(findings))
    verdict = opinion.check.verdict
    low, high = _BANDS.get(verdict, (0.0, 1.0))
    return CheckedRow(
        id=row.id,
        verdict=verdict,
        score=round(low + (high - low) * first.score, 4),
        rule=opinion.check.rule,
        reasons=tuple(filter(None, (opinion.check.reason, *first.reasons))),
        slots=opinion.slots,
    )
