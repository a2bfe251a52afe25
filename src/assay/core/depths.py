"""The limits of each strategy at each depth, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from assay.core.errors import ConfigError

SetDepth = Literal["light", "medium", "extended"]


class DepthRules(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a strategy at a depth.

    `seconds` are for the whole run, `words` the default length of a report (0: as many as needed). `questions` is the
    number of clarifying questions, `background_queries` that of queries before the plan.

    At least `min_steps` are done before research may end early, at most `max_steps` are planned, in at most `plans`
    plans. `cycles` is the number of rounds in which agents are sent; `reasoning_cycles` replaces it for a model with
    native reasoning, which decides more at a time (0: the same). `agents_a_cycle` agents are sent in one round,
    `agents_at_once` work in parallel.

    `agent_turns` is the number of turns of an agent, `calls` that of its tool calls, 0 for any number. An agent with
    `queries` and `pages` is driven by code: so many searches, and so many documents opened. `thoughts` limits calls of
    `think` before a decision, `recalls` how often the writer looks again at what was read.

    An agent is asked for its findings after `agent_share` of its run's remaining time, at most `agent_seconds`, and is
    stopped after `stop_share`, at most `stop_seconds`. `look_seconds` are for the searches of `web_search`.

    The rest limit the tokens of a reply: of triage, orchestrator, reflector, a survey's choice and the judgement of
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


def _rules(seconds: float, steps: tuple[int, int], turns: int, words: int, **extra: int) -> DepthRules:
    min_steps, max_steps = steps
    return DepthRules(
        seconds=seconds, min_steps=min_steps, max_steps=max_steps, agent_turns=turns, words=words, **extra
    )


ORCHESTRATED_DEPTHS: dict[SetDepth, DepthRules] = {
    "light": _rules(120, (1, 3), 3, 300, cycles=2, reasoning_cycles=4, agents_at_once=2),
    "medium": _rules(600, (3, 6), 6, 900, cycles=4, reasoning_cycles=4, agents_at_once=3),
    "extended": _rules(1800, (5, 6), 8, 2_000, cycles=8, reasoning_cycles=4, agents_at_once=3),
}
"""The rules of the orchestrated strategy."""
REFLECTIVE_DEPTHS: dict[SetDepth, DepthRules] = {
    "light": _rules(120, (1, 3), 3, 300, cycles=4, agents_at_once=1, queries=2, pages=3),
    "medium": _rules(600, (3, 6), 12, 900, cycles=7, agents_at_once=1, calls=12),
    "extended": _rules(1800, (5, 10), 40, 2_000, cycles=11, agents_at_once=1, calls=40),
}
"""The rules of the reflective strategy: one step per cycle, and one more cycle for what failed."""


def depths_of(strategy: str) -> dict[SetDepth, DepthRules]:
    """The default rules of a strategy; another package's strategy uses those of the orchestrated one."""
    return REFLECTIVE_DEPTHS if strategy == "reflective" else ORCHESTRATED_DEPTHS


def rules_for_reasoning(rules: DepthRules) -> DepthRules:
    """The rules for a deciding model with native reasoning."""
    cycles = min(rules.cycles, rules.reasoning_cycles) if rules.reasoning_cycles else rules.cycles
    return msgspec.structs.replace(rules, cycles=cycles)


def changed_depths(strategy: str, changes: Mapping[SetDepth, Mapping[str, int | float]]) -> dict[SetDepth, DepthRules]:
    """The rules of a strategy at every depth, with the user's numbers in place of the defaults.

    If only one of `min_steps` and `max_steps` is set, the other gives way.

    Raises:
        ConfigError: both are set, and the minimum is greater than the maximum.
    """
    return {depth: _apply_changes(strategy, depth, changes.get(depth, {})) for depth in depths_of(strategy)}


def _apply_changes(strategy: str, depth: SetDepth, changes: Mapping[str, int | float]) -> DepthRules:
    rules = _order_step_limits(msgspec.structs.replace(depths_of(strategy)[depth], **changes), changes)
    if strategy == "reflective" and "cycles" not in changes:
        rules = msgspec.structs.replace(rules, cycles=rules.max_steps + 1)
    if rules.min_steps > rules.max_steps:
        raise ConfigError(
            f"the depth {depth} has at least {rules.min_steps} and at most {rules.max_steps} steps; "
            f"set depths.{depth}.min_steps and depths.{depth}.max_steps so that the first is not the greater"
        )
    return rules


def _order_step_limits(rules: DepthRules, changes: Mapping[str, int | float]) -> DepthRules:
    if "min_steps" not in changes:
        return msgspec.structs.replace(rules, min_steps=min(rules.min_steps, rules.max_steps))
    if "max_steps" not in changes:
        return msgspec.structs.replace(rules, max_steps=max(rules.min_steps, rules.max_steps))
    return rules
