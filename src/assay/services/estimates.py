"""Estimates what a run will take, by the rules of its depth or by similar runs before it.

By the rules, each kind of call is made a least and a most number of times, with a number of tokens. The token figures
in the table were measured on runs of Assay; the numbers of calls follow from the strategies' limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import get_args

import msgspec

from assay.core.brief import Brief, DepthRules, Estimate, Role, SetDepth, Span
from assay.core.errors import UsageError
from assay.core.events import TriageClassified
from assay.core.messages import Profile
from assay.core.ports import Journal, RunSpending, World
from assay.core.usage import MEASURES, Budget, Usage
from assay.core.view import RunView
from assay.run.budget import REPORT_SHARE, VERIFY_SHARE, reasoning_tokens
from assay.run.execution import WRITER_SHARE

RUNS_EXAMINED = 40
"""Runs examined to find similar ones."""
MIN_SIMILAR_RUNS = 3
"""With this many similar runs, they are used instead of the rules."""
MAX_SIMILAR_RUNS = 10
DEPTH_EVENTS = 60
"""Events of a run that contain its depth."""
RESEARCH_BUDGET_SHARE, RESEARCH_TIME_SHARE = 1 - REPORT_SHARE - VERIFY_SHARE, 1 - WRITER_SHARE
"""The parts of the budget and of the time for research."""
SECONDS_PER_CALL = (1.5, 20.0)
LOCAL_SECONDS_PER_CALL = (0.01, 0.2)
"""For a model inside this program."""


class CallEstimate(msgspec.Struct, frozen=True):
    """A kind of call: the role, the number of calls, and the tokens in and out."""

    role: Role
    calls: Span
    inputs: Span
    outputs: Span


async def estimate(
    journal: Journal, brief: Brief, world: World, depth: SetDepth | None = None, steps: int = 0
) -> Estimate:
    """Estimate a run of `brief`; `depth` and the `steps` of its plan, if they are known."""
    before = similar_runs(brief, await journal.spending(limit=RUNS_EXAMINED))
    if depth is not None and brief.depth == "auto":
        before = [run for run in before if await _depth(journal, run.run_id) == depth]
    if len(before) >= MIN_SIMILAR_RUNS:
        return clamp_estimate(brief.budget, estimate_from_runs(before[:MAX_SIMILAR_RUNS]))
    profiles = {role: world.models[names[0]].profile for role, names in brief.models.items() if names}
    return clamp_estimate(brief.budget, estimate_from_rules(brief, profiles, depth, steps))


async def estimate_stored_run(journal: Journal, view: RunView, world: Callable[[Brief], World]) -> Estimate:
    """Estimate a stored run, by its depth and plan as far as they are known.

    Raises:
        UsageError: there is no such run yet.
    """
    if view.brief is None:
        raise UsageError("a run that is not stored has no estimate: use Assay.foresee")
    depth = next((name for name in get_args(SetDepth) if name == view.depth), None)
    guess = await estimate(journal, view.brief, world(view.brief), depth, len(view.plan.steps) if view.plan else 0)
    so_far = await journal.spending(only={view.run_id})
    if guess.basis == "runs" or depth is None or not so_far or not so_far[0].usage.model_calls:
        return guess
    return at_pace(guess, so_far[0], view.brief.rules(depth).agents_at_once)


def at_pace(guess: Estimate, so_far: RunSpending, at_once: int) -> Estimate:
    """An estimate by rules whose least time is at the pace of the run's own calls: a model may be slow."""
    done, seconds = so_far.usage.model_calls, so_far.active_seconds
    least = seconds + max(0.0, guess.calls.least - done) * seconds / done / at_once
    time = Span(max(guess.seconds.least, min(least, guess.seconds.most)), guess.seconds.most)
    return msgspec.structs.replace(guess, seconds=time)


async def _depth(journal: Journal, run_id: str) -> str:
    """The depth triage chose for a run, from its first events."""
    for envelope in await journal.events(run_id, limit=DEPTH_EVENTS):
        if envelope.type == TriageClassified.kind:
            return msgspec.json.decode(envelope.data, type=TriageClassified).depth
    return ""


class _ComparableFields(msgspec.Struct, frozen=True):
    """The fields of a brief that make runs comparable."""

    mode: str = "auto"
    depth: str = "auto"
    strategy: str = ""
    verify: bool = True
    schema: str = ""
    models: dict[str, tuple[str, ...]] = {}
    tools: tuple[str, ...] = ()
    budget: Budget = Budget()

    @property
    def kind(self) -> tuple[object, ...]:
        mode = "auto" if self.mode == "deep_research" else self.mode
        return mode, self.depth, self.strategy, self.verify, self.schema, tuple(self.models.items()), self.tools


def similar_runs(brief: Brief, runs: Iterable[RunSpending]) -> list[RunSpending]:
    """Similar runs among the latest that completed without reaching a limit."""
    target = msgspec.convert(msgspec.to_builtins(brief), type=_ComparableFields)
    similar = []
    for run in runs:
        if run.status == "completed" and run.usage.model_calls:
            run_fields = msgspec.json.decode(run.brief, type=_ComparableFields, strict=False)
            answered_directly = target.kind[0] == "auto" and not run.usage.agents
            if run_fields.kind == target.kind and not answered_directly and not _was_limited(run_fields.budget, run):
                similar.append(run)
    return similar


def _was_limited(budget: Budget, run: RunSpending) -> bool:
    """True if a limit may have ended a run: research leaves the writer's part."""
    shares = {"usd": RESEARCH_BUDGET_SHARE, "tokens": RESEARCH_BUDGET_SHARE}
    limits = [(getattr(budget, name), getattr(run.usage, name), shares.get(name, 1.0)) for name in MEASURES]
    limits.append((budget.seconds, run.active_seconds, RESEARCH_TIME_SHARE))
    return any(limit is not None and used >= share * limit for limit, used, share in limits)


def estimate_from_runs(runs: Sequence[RunSpending]) -> Estimate:
    """From the least to the most that `runs` used."""

    def span(value: Callable[[RunSpending], float]) -> Span:
        values = [value(run) for run in runs]
        return Span(min(values), max(values))

    unpriced = any(run.usage.unpriced_calls for run in runs)
    return Estimate(
        calls=span(lambda run: run.usage.model_calls),
        tokens=span(lambda run: run.usage.tokens),
        seconds=span(lambda run: run.active_seconds),
        usd=None if unpriced else span(lambda run: run.usage.usd),
        basis="runs",
        runs=len(runs),
    )


def estimate_from_rules(
    brief: Brief, profiles: dict[Role, Profile], depth: SetDepth | None = None, steps: int = 0
) -> Estimate:
    """The ranges that the rules of the depth allow; if it is not known yet, those of all depths."""
    fixed_depth = depth or (brief.depth if brief.depth != "auto" else None)
    depths: list[SetDepth] = [fixed_depth] if fixed_depth else ["light", "medium", "extended"]
    estimates = [_estimate_at_depth(brief, profiles, candidate, steps) for candidate in depths]
    return Estimate(
        calls=_merge_spans(estimate.calls for estimate in estimates),
        tokens=_merge_spans(estimate.tokens for estimate in estimates),
        seconds=_merge_spans(estimate.seconds for estimate in estimates),
        usd=_merge_spans(estimate.usd for estimate in estimates if estimate.usd)
        if all(estimate.usd for estimate in estimates)
        else None,
    )


def _merge_spans(spans: Iterable[Span]) -> Span:
    all_spans = list(spans)
    return Span(min(span.least for span in all_spans), max(span.most for span in all_spans))


def _estimate_at_depth(brief: Brief, profiles: dict[Role, Profile], depth: SetDepth, steps: int) -> Estimate:
    native = profiles["analytical"].native_reasoning
    rules = brief.rules(depth, reasoning=native)
    # the built-in model cannot judge
    lines = [line for line in _lines(brief, rules, steps) if line.role != "judge" or not profiles["judge"].quotes]
    calls = Span(sum(line.calls.least for line in lines), sum(line.calls.most for line in lines))
    unpriced = any(profiles[line.role].price is None for line in lines)
    return Estimate(
        calls=calls,
        tokens=Span(_tokens(lines, profiles, upper=False).tokens, _tokens(lines, profiles, upper=True).tokens),
        seconds=_seconds(calls, rules, list(profiles.values())),
        usd=None if unpriced else Span(_usd(lines, profiles, upper=False), _usd(lines, profiles, upper=True)),
    )


def _lines(brief: Brief, rules: DepthRules, steps: int) -> list[CallEstimate]:
    if brief.mode == "agent":
        return [*_agents(rules, Span(1, 1)), *_judge_calls(brief)]
    if brief.mode in ("simple", "web_search"):
        return [
            _line("simple", (1, 2), (800, 6_000), (30, 600)),
            _line("complex", (1, 1), (1_000, 20_000), (100, 2_000)),
        ]
    fewest, longest = (steps, steps) if steps else (rules.min_steps, rules.max_steps)
    before = [
        _line("simple", (1, 1), (900, 4_000), (30, 300)),
        _line("simple", (0, 1), (600, 2_500), (30, 200)),
        _line("analytical", (1, 2), (1_000, 6_000), (150, 1_500)),
    ]
    writer_line = _line("complex", (1, 1 if brief.schema == "" else 3), (2_000, 40_000), (200, 5_000))
    agents = Span(1, longest if brief.strategy == "reflective" else longest + rules.agents_at_once)
    assess_lines = [_line("simple", (0, 1), (1_000, 12_000), (40, 500))] if brief.assess else []
    writing_up = [*assess_lines, writer_line, *_judge_calls(brief)]
    return [
        *before,
        *_decision_calls(brief, rules, longest),
        *_agents(rules, Span(min(fewest, agents.most), agents.most)),
        *writing_up,
    ]


Bounds = tuple[float, float]


def _line(role: Role, calls: Bounds, inputs: Bounds, outputs: Bounds) -> CallEstimate:
    return CallEstimate(role, Span(*calls), Span(*inputs), Span(*outputs))


def _decision_calls(brief: Brief, rules: DepthRules, steps: int) -> list[CallEstimate]:
    """The calls between the agents' work, by the strategy."""
    if brief.strategy != "reflective":
        return [_line("analytical", (2, rules.cycles + 2), (1_500, 12_000), (40, 700))]
    return [
        _line("simple", (0, steps), (1_000, 8_000), (40, 600)),
        _line("analytical", (0, 2), (1_500, 8_000), (150, 1_500)),
    ]


def _agents(rules: DepthRules, agents: Span) -> list[CallEstimate]:
    turns = Span(1, 1) if rules.queries else Span(2, rules.agent_turns)
    return [
        _line("analytical", (agents.least * turns.least, agents.most * turns.most), (1_500, 12_000), (40, 500)),
        _line("analytical", (agents.least, agents.most * 1.5), (2_500, 16_000), (100, 2_500)),
    ]


def _judge_calls(brief: Brief) -> list[CallEstimate]:
    if not brief.verify or "judge" in brief.checks_off:
        return []
    return [_line("judge", (0, 40), (500, 2_500), (30, 300))]


def _tokens(lines: Sequence[CallEstimate], profiles: dict[Role, Profile], *, upper: bool) -> Usage:
    return sum((_line_usage(line, profiles[line.role], upper=upper) for line in lines), Usage())


def _line_usage(line: CallEstimate, profile: Profile, *, upper: bool) -> Usage:
    calls = line.calls.most if upper else line.calls.least
    inputs = min(line.inputs.most, profile.window * 0.75) if upper else line.inputs.least
    outputs = (
        min(line.outputs.most, profile.max_output) + reasoning_tokens(profile, "low") / 2
        if upper
        else line.outputs.least
    )
    return Usage(input_tokens=round(calls * inputs), output_tokens=round(calls * outputs))


def _usd(lines: Sequence[CallEstimate], profiles: dict[Role, Profile], *, upper: bool) -> float:
    prices = [(line, profiles[line.role], profiles[line.role].price) for line in lines]
    return sum(price.cost(_line_usage(line, profile, upper=upper)) for line, profile, price in prices if price)


def _seconds(calls: Span, rules: DepthRules, profiles: Sequence[Profile]) -> Span:
    least, longest = LOCAL_SECONDS_PER_CALL if all(profile.quotes for profile in profiles) else SECONDS_PER_CALL
    fastest = calls.least * least / rules.agents_at_once
    return Span(min(fastest, rules.seconds), min(max(1.0, calls.most * longest), rules.seconds))


def clamp_estimate(budget: Budget, guess: Estimate) -> Estimate:
    """An estimate cut to the limits."""

    def clamp(span: Span, limit: float | None) -> Span:
        return span if limit is None else Span(min(span.least, limit), min(span.most, limit))

    usd = None if guess.usd is None else clamp(guess.usd, budget.usd)
    return msgspec.structs.replace(
        guess, usd=usd, tokens=clamp(guess.tokens, budget.tokens), seconds=clamp(guess.seconds, budget.seconds)
    )
