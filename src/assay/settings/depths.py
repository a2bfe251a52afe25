"""The tables `[depths.light]`, `[depths.medium]` and `[depths.extended]`: every number which a depth decides."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from assay.core.depths import DEPTHS, STEPWISE, SetDepth
from assay.settings.sections import SettingsTable


class DepthSettings(SettingsTable):
    """The numbers of one depth; what is unset is the strategy's own."""

    seconds: float | None = Field(None, gt=0, description="active seconds a run takes at most")
    words: int | None = Field(None, ge=0, le=10_000, description="words of a report; 0: as many as the findings carry")
    questions: int | None = Field(None, ge=0, le=10, description="clarifying questions asked at most")
    background_queries: int | None = Field(None, ge=0, le=10, description="queries asked before the plan is made")
    min_steps: int | None = Field(None, ge=1, le=50, description="steps done before research may end early")
    max_steps: int | None = Field(None, ge=1, le=50, description="steps of a plan at most")
    plans: int | None = Field(None, ge=1, le=20, description="plans at most, the first included (reflective)")
    cycles: int | None = Field(None, ge=1, le=100, description="rounds in which agents are sent")
    reasoning_cycles: int | None = Field(
        None, ge=0, le=100, description="the same, where the model reasons by itself; 0: no fewer (orchestrated)"
    )
    agents_a_cycle: int | None = Field(
        None, ge=1, le=100, description="agents sent in one round at most (orchestrated)"
    )
    agents_at_once: int | None = Field(None, ge=1, le=100, description="agents which work at the same time")
    agent_turns: int | None = Field(None, ge=1, le=200, description="turns of an agent")
    calls: int | None = Field(None, ge=0, le=1_000, description="tool calls of an agent; 0: any number")
    queries: int | None = Field(
        None,
        ge=0,
        le=50,
        description="queries of a step which code drives; 0: the model drives (reflective; in web_search 2)",
    )
    pages: int | None = Field(
        None, ge=0, le=50, description="pages opened in a step which code drives (reflective; in web_search 3)"
    )
    thoughts: int | None = Field(None, ge=0, le=20, description="calls of `think` before a decision")
    recalls: int | None = Field(None, ge=0, le=50, description="times the writer looks again at what was read")
    agent_share: float | None = Field(
        None, gt=0, le=1, description="part of the time left after which an agent is asked for its findings"
    )
    agent_seconds: float | None = Field(None, gt=0, description="the same in seconds, at most")
    stop_share: float | None = Field(None, gt=0, le=1, description="part of the time left after which it is stopped")
    stop_seconds: float | None = Field(None, gt=0, description="the same in seconds, at most")
    look_seconds: float | None = Field(None, gt=0, description="seconds the searches of web_search take at most")
    decision_tokens: int | None = Field(
        None, ge=256, description="tokens of a decision at most: triage, orchestrator, reflector, coverage, survey"
    )
    query_tokens: int | None = Field(None, ge=256, description="tokens of a reply which words queries at most")
    plan_tokens: int | None = Field(None, ge=256, description="tokens of a plan at most")
    turn_tokens: int | None = Field(None, ge=256, description="tokens of an agent's turn at most")
    findings_tokens: int | None = Field(None, ge=256, description="tokens of an agent's findings at most")
    analysis_tokens: int | None = Field(None, ge=256, description="tokens of an analysis at most")
    answer_tokens: int | None = Field(None, ge=256, description="tokens of an answer without a plan at most")
    report_tokens: int | None = Field(None, ge=256, description="tokens of a report at most")
    row_tokens: int | None = Field(None, ge=256, description="tokens of a survey's rows of one batch at most")
    field_tokens: int | None = Field(None, ge=256, description="tokens of a reply which fills fields at most")
    verdict_tokens: int | None = Field(None, ge=256, description="tokens of a judge's verdict at most")
    revision_tokens: int | None = Field(None, ge=256, description="tokens of a revised sentence at most")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_steps is not None and self.max_steps is not None and self.min_steps > self.max_steps:
            raise ValueError(f"min_steps is {self.min_steps}, and max_steps only {self.max_steps}")
        return self


class Depths(SettingsTable):
    """The three depths."""

    light: DepthSettings = DepthSettings()
    medium: DepthSettings = DepthSettings()
    extended: DepthSettings = DepthSettings()

    @model_validator(mode="before")
    @classmethod
    def _of_the_environment(cls, values: Any) -> Any:
        """Accept `ASSAY_DEPTHS_MEDIUM_CYCLES`, which arrives as `medium_cycles`."""
        if not isinstance(values, dict):
            return values
        sorted_in: dict[str, Any] = {}
        for name, value in values.items():
            depth, _, number = str(name).partition("_")
            if number and depth in cls.model_fields and isinstance(sorted_in.setdefault(depth, {}), dict):
                sorted_in[depth] = {**sorted_in[depth], number: value}
            elif isinstance(value, dict) and isinstance(sorted_in.get(name), dict):
                sorted_in[name] = {**value, **sorted_in[name]}
            else:
                sorted_in[name] = value
        return sorted_in

    def changes(self) -> dict[SetDepth, dict[str, int | float]]:
        """The values that are set, by depth."""
        return {
            "light": self.light.model_dump(exclude_none=True),
            "medium": self.medium.model_dump(exclude_none=True),
            "extended": self.extended.model_dump(exclude_none=True),
        }


def default_of(depth: SetDepth, number: str) -> str:
    """A depth's default in the form for readers; both strategies' defaults if they differ."""
    parallel, stepwise = (f"{getattr(rules[depth], number):g}" for rules in (DEPTHS, STEPWISE))
    return parallel if parallel == stepwise else f"{parallel}; reflective: {stepwise}"
