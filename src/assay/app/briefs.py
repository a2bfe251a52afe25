"""What a caller wants of a run, and the brief it becomes: what is not said is taken from the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypedDict

import msgspec

from assay import agents, phases
from assay.core.brief import Brief, Depth, Mode, Role
from assay.core.errors import UsageError
from assay.core.usage import Budget
from assay.settings import Settings


class Wanted(TypedDict, total=False):
    """The options of a run. None, where it is allowed, is the same as leaving an option out.

    `max_time` is in active seconds; `max_tokens` counts input and output together; `models` holds names
    (PROVIDER:NAME) by role, first choice first, then its fallbacks.
    """

    mode: Mode | None
    depth: Depth | None
    strategy: str | None
    max_time: float | None
    max_tokens: int | None
    verify: bool | None
    instructions: str
    ask: Literal["never", "optional", "required"] | None
    models: Mapping[Role, Sequence[str]]


def make_brief(question: str, settings: Settings, wanted: Wanted) -> Brief:
    """The brief of a run about `question`, of today; its scope is still the default one.

    Raises:
        UsageError: the question is empty, or an option is not of its kind.
    """
    limits = settings.limits
    max_time, max_tokens = wanted.get("max_time"), wanted.get("max_tokens")
    verify = wanted.get("verify")
    brief = Brief(
        question=question.strip(),
        date=datetime.now(UTC).date().isoformat(),
        mode=wanted.get("mode") or settings.mode,
        depth=wanted.get("depth") or settings.depth,
        strategy=wanted.get("strategy") or settings.strategy,
        budget=Budget(
            seconds=limits.time if max_time is None else max_time,
            tokens=limits.tokens if max_tokens is None else max_tokens,
        ),
        instructions=wanted.get("instructions", ""),
        verify=settings.verify if verify is None else verify,
        ask=wanted.get("ask") or settings.ask,
        models=settings.roles() | {role: tuple(names) for role, names in wanted.get("models", {}).items()},
        prompts=phases.prompts() | agents.prompts(),
    )
    if not brief.question:
        raise UsageError("the question is empty")
    try:
        return msgspec.json.decode(msgspec.json.encode(brief), type=Brief)
    except msgspec.ValidationError as error:
        raise UsageError(f"{error}") from error
