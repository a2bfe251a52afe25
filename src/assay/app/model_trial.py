"""Tries a model: a small piece of research with a known answer, one without an answer, and sentences to judge.

The documents are about things that do not exist, so no model knows the answers. They and the sentences are few: a trial
shows what a model cannot do, and is no measure of how well it does the rest.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.app.assay import Assay
from assay.app.claim_judge import budget_today, judge_rows, open_accounts
from assay.core.errors import AssayError, ModelFailed
from assay.core.ports import Model
from assay.core.ports.store import Store
from assay.core.report import build_report
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.services import daily
from assay.services.arguments import checked_keywords
from assay.services.claim_checks import BadRow, CheckedRow, ClaimRow
from assay.services.providers import load_model
from assay.settings import Settings, load
from assay.verify.judge.control import CONTROL_QUESTIONS

DOCUMENTS = {
    "ferry.md": """# The ferry Svalin

The ferry Svalin was built in Marhavn. She carries 412 passengers, and crosses to Ostholm in seven hours.

Her captain is Runa Teigen. In winter the ferry sails only on Thursdays.
""",
    "harbour.md": """# The harbour of Ostholm

The harbour of Ostholm was dredged to a depth of nine metres, because larger ferries were expected.

A pilot is needed in fog. The harbour master lives above the customs house.
""",
    "lighthouse.md": """# The lighthouse of Ostholm

The lighthouse shows two white flashes every twenty seconds. Its keeper has been replaced by a machine.

Visitors may climb it on Sundays.
""",
}
QUESTION = "How many passengers does the ferry Svalin carry, and how deep is the harbour of Ostholm?"
FACTS = ("412", "nine met")
UNANSWERED = "What did it cost to build the lighthouse of Ostholm?"

ACCEPTED = ("quoted", "supported")
MIN_REFUSED = 5
"""False sentences, of six, that a usable judge refuses."""
MIN_ACCEPTED = 3
"""True sentences, of six, that it accepts: one that refuses everything is safe, and of no use."""


class ResearchTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the trial: how many of `facts` its report has, how it ended, and what went wrong.

    `by_code` says that code wrote the report, because the model could not. `calls` and `tokens` are those of the model.
    """

    facts: int
    stated: int
    stop_reason: str
    by_code: bool = False
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    error: str = ""
    warnings: tuple[str, ...] = ()


class JudgeTrial(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge did: of `true` sentences it accepted some, of `false` ones it refused some; `error` if it cannot."""

    true: int = 0
    accepted: int = 0
    false: int = 0
    refused: int = 0
    error: str = ""


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a model did in the trial: `research` has an answer, `no_answer` has none."""

    model: str
    research: ResearchTrial
    no_answer: ResearchTrial
    judge: JudgeTrial

    @property
    def can_research(self) -> bool:
        """True if the model itself wrote a report with all facts, and found nothing where there is nothing."""
        says_no = self.no_answer.stop_reason == "no_evidence"
        return self.research.stated == self.research.facts and not self.research.by_code and says_no

    @property
    def can_judge(self) -> bool:
        """True if it refuses false sentences, and accepts half of the true ones."""
        return self.judge.refused >= MIN_REFUSED and self.judge.accepted >= MIN_ACCEPTED


@checked_keywords()
async def try_model(model: str, *, settings: Settings | None = None, models: Mapping[str, Model] = {}) -> TrialOutcome:
    """Try `model` (PROVIDER:NAME) in all roles: some 40 calls, which may cost money and take minutes.

    Args:
        settings: where its key and address are; None for those of the user.
        models: the caller's own models, by name.

    Raises:
        UnknownName, ConfigError: there is no such model, or it is not set up correctly.
        UsageError: the daily limits leave too little.
        ModelFailed: it does not answer.
    """
    settings = settings or load()
    if model not in models:
        await load_model(settings, model).close()  # without a name, runs would take the default model
    with tempfile.TemporaryDirectory(prefix="assay-trial-") as folder:
        paths = [Path(folder, name) for name in DOCUMENTS]
        for path in paths:
            path.write_text(DOCUMENTS[path.name], encoding="utf-8")
        accounts = open_accounts(settings, settings.home)
        try:
            async with Assay(settings, models=models) as assay:
                research = await _research(assay, accounts, model, QUESTION, paths, FACTS)
                if research.error and not research.calls:
                    raise ModelFailed(research.error)
                no_answer = await _research(assay, accounts, model, UNANSWERED, paths, ())
        finally:
            await accounts.close()
    return TrialOutcome(
        model=model, research=research, no_answer=no_answer, judge=await _judge(model, settings=settings, models=models)
    )


async def _research(
    assay: Assay, accounts: Store, model: str, question: str, paths: list[Path], facts: tuple[str, ...]
) -> ResearchTrial:
    """A run in memory, which counts in the daily limits of `accounts`."""
    started, budget = time.monotonic(), await budget_today(accounts, assay.settings)
    limits = RunOptions(max_usd=budget.usd, max_tokens=budget.tokens)
    options = RunOptions(model=model, web=False, mode="deep_research", checks_off=["judge"], **limits)
    handle = assay.start(question, sources=paths, **options)
    error = ""
    try:
        await handle.report()
    except AssayError as failed:
        error = str(failed)
    finally:
        view = await assay.view(handle.run_id)
        await daily.count_outside(accounts.cache, "", view.usage.total)
    return _outcome(view, facts, time.monotonic() - started, error)


def _outcome(view: RunView, facts: tuple[str, ...], seconds: float, error: str) -> ResearchTrial:
    text = build_report(view).markdown
    cited = [claim.text for claim in view.claims if claim.passages]
    return ResearchTrial(
        facts=len(facts),
        stated=sum(any(fact in sentence for sentence in cited) for fact in facts) if text else 0,
        stop_reason=view.stop_reason,
        by_code=view.stop_reason == "unwritten",
        seconds=round(seconds, 1),
        calls=view.usage.total.model_calls,
        tokens=view.usage.total.tokens,
        error=error,
        warnings=tuple(dict.fromkeys(warning.message for warning in view.warnings)),
    )


async def _judge(model: str, *, settings: Settings | None, models: Mapping[str, Model]) -> JudgeTrial:
    results: dict[str | int | None, str] = {}

    def notify(row: CheckedRow | BadRow) -> None:
        results[row.id] = row.verdict if isinstance(row, CheckedRow) else ""

    rows = [
        ClaimRow(id=number, doc=question.text, claim=question.sentence)
        for number, question in enumerate(CONTROL_QUESTIONS)
    ]
    try:
        await judge_rows(rows, notify, model=model, settings=settings, remember=False, models=models)
    except AssayError as failed:
        return JudgeTrial(error=str(failed))
    true = [number for number, question in enumerate(CONTROL_QUESTIONS) if question.is_true]
    false = [number for number, question in enumerate(CONTROL_QUESTIONS) if not question.is_true]
    return JudgeTrial(
        true=len(true),
        accepted=sum(results[number] in ACCEPTED for number in true),
        false=len(false),
        refused=sum(results[number] not in ACCEPTED for number in false),
    )
