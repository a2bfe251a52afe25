"""How far a strategy goes at each depth: every number which decides that, and the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.core.errors import ConfigError

SetDepth = Literal["light", "medium", "extended"]


class DepthRules(msgspec.Struct, frozen=True, kw_only=True):
    """How far a strategy goes at a depth.

    `seconds` are for the whole run, `words` what a report has where nobody says how long it is to be (0: as many as it
    takes). `questions` may be asked back, `background_queries` are asked before the plan.

    `min_steps` are done before research may end early, `max_steps` planned at most, in `plans` at most. `cycles` counts
    the rounds in which agents are sent, `reasoning_cycles` those of a model which reasons by itself and decides more at
    a time (0: as many), `agents_a_cycle` the agents sent in one of them, `agents_at_once` those which work in parallel.

    `agent_turns` are the turns of an agent, `calls` the tool calls it may make, 0 for any number. An agent with
    `queries` and `pages` is driven by code: so many searches, and so many documents opened. `thoughts` limits how often
    `think` is called before a decision, `recalls` how often the writer looks again at what was read.

    An agent is asked for its findings after `agent_share` of the time its run has left, `agent_seconds` at most, and is
    stopped after `stop_share` of it, `stop_seconds` at most. `look_seconds` are for the searches of `web_search`.

    The rest are the most tokens of a reply: of triage, orchestrator, reflector, the choice of a survey and judging
    coverage (`decision_tokens`), of queries, planner, agents at each turn, findings, an analysis, an answer without a
    plan, a report, the rows of a batch of documents, a form's fields, a judge's verdict, and a revised sentence.
    """

    seconds: float
    min_steps: int
    max_steps: int
    cycles: int
    agents_at_once: int
    agent_turns: int
    calls: int = 0
    queries: int = 0
    pages: int = 0
    words: int = 0
    reasoning_cycles: int = 0
    agents_a_cycle: int = 12
    plans: int = 3
    questions: int = 3
    background_queries: int = 3
    thoughts: int = 3
    recalls: int = 3
    agent_share: float = 0.40
    agent_seconds: float = 720.0
    stop_share: float = 0.80
    stop_seconds: float = 1800.0
    look_seconds: float = 15.0
    decision_tokens: int = 1_024
    query_tokens: int = 512
    plan_tokens: int = 2_048
    turn_tokens: int = 1_000
    findings_tokens: int = 10_000
    analysis_tokens: int = 4_000
    answer_tokens: int = 2_048
    report_tokens: int = 20_000
    row_tokens: int = 6_000
    field_tokens: int = 8_000
    verdict_tokens: int = 700
    revision_tokens: int = 600


def _parallel(seconds: float, steps: tuple[int, int], cycles: int, at_once: int, turns: int, words: int) -> DepthRules:
    least, most = steps
    return DepthRules(
        seconds=seconds,
        min_steps=least,
        max_steps=most,
        cycles=cycles,
        agents_at_once=at_once,
        agent_turns=turns,
        words=words,
        reasoning_cycles=4,
    )


DEPTHS: dict[SetDepth, DepthRules] = {
    "light": _parallel(120, (1, 3), 2, 2, 3, words=300),
    "medium": _parallel(600, (3, 6), 4, 3, 6, words=900),
    "extended": _parallel(1800, (5, 6), 8, 3, 8, words=2_000),
}
"""The rules of the orchestrated strategy."""


def _stepwise(seconds: float, steps: tuple[int, int], turns: int, words: int, **limits: int) -> DepthRules:
    """One step a cycle, and one cycle more for what failed."""
    least, most = steps
    return DepthRules(
        seconds=seconds,
        min_steps=least,
        max_steps=most,
        cycles=most + 1,
        agents_at_once=1,
        agent_turns=turns,
        words=words,
        **limits,
    )


STEPWISE: dict[SetDepth, DepthRules] = {
    "light": _stepwise(120, (1, 3), 3, words=300, queries=2, pages=3),
    "medium": _stepwise(600, (3, 6), 12, words=900, calls=12),
    "extended": _stepwise(1800, (5, 10), 40, words=2_000, calls=40),
}
"""The rules of the reflective strategy."""


def depths_of(strategy: str) -> dict[SetDepth, DepthRules]:
    """The default rules of a strategy; one of somebody else goes by those of the orchestrated one."""
    return STEPWISE if strategy == "reflective" else DEPTHS


def depth_rules(strategy: str, depth: SetDepth, *, reasoning: bool = False) -> DepthRules:
    """The default rules of a strategy at a depth; `reasoning` says that the model which decides reasons by itself."""
    rules = depths_of(strategy)[depth]
    return decided_by_reasoning(rules) if reasoning else rules


def decided_by_reasoning(rules: DepthRules) -> DepthRules:
    """The rules where the model which decides reasons by itself."""
    cycles = min(rules.cycles, rules.reasoning_cycles) if rules.reasoning_cycles else rules.cycles
    return msgspec.structs.replace(rules, cycles=cycles)


def changed_depths(strategy: str, changes: Mapping[SetDepth, Mapping[str, int | float]]) -> dict[SetDepth, DepthRules]:
    """The rules of a strategy at every depth, with the numbers somebody set in place of the defaults.

    Of the least and the most of steps, the one nobody set gives way to the other.

    Raises:
        ConfigError: both are set, and the least is the greater.
    """
    return {depth: _changed(strategy, depth, changes.get(depth, {})) for depth in depths_of(strategy)}


def _changed(strategy: str, depth: SetDepth, changes: Mapping[str, int | float]) -> DepthRules:
    rules = _in_order(msgspec.structs.replace(depths_of(strategy)[depth], **changes), changes)
    if strategy == "reflective" and "cycles" not in changes:
        rules = msgspec.structs.replace(rules, cycles=rules.max_steps + 1)
    if rules.min_steps > rules.max_steps:
        raise ConfigError(
            f"the depth {depth} has at least {rules.min_steps} and at most {rules.max_steps} steps; "
            f"set depths.{depth}.min_steps and depths.{depth}.max_steps so that the first is not the greater"
        )
    return rules


def _in_order(rules: DepthRules, changes: Mapping[str, int | float]) -> DepthRules:
    if "min_steps" not in changes:
        return msgspec.structs.replace(rules, min_steps=min(rules.min_steps, rules.max_steps))
    if "max_steps" not in changes:
        return msgspec.structs.replace(rules, max_steps=max(rules.min_steps, rules.max_steps))
    return rules
