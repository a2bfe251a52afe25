"""The brief of a run which is forked off another: that of the other, and what is to be different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypedDict

import msgspec

from assay.core.brief import Brief, Depth, Fork, Point, Role
from assay.core.errors import UsageError
from assay.core.events import Envelope
from assay.core.families import judges
from assay.core.report import build_report
from assay.core.usage import Budget
from assay.core.view import fold
from assay.run.replay import Replayed
from assay.services.briefs import RunOptions, make_brief, named_models
from assay.settings import Settings


class Revised(TypedDict, total=False):
    """What of a run may be otherwise in its fork: the options of `RunOptions` by these names. What is left out stays.

    Limits are the fork's own: what the run it is forked off has spent does not count. That private documents may be
    sent elsewhere has to be said again where other models are.
    """

    depth: Depth | None
    strategy: str | None
    max_time: float | None
    max_tokens: int | None
    max_usd: float | None
    max_searches: int | None
    max_pages: int | None
    max_agents: int | None
    verify: bool | None
    repair: bool | None
    instructions: str | Path | None
    length: str | int | None
    language: str | None
    template: str | Path | None
    review_plan: Literal["never", "optional", "required"] | None
    allow_private: bool
    model: str | Sequence[str] | None
    models: Mapping[Role, str | Sequence[str]]


FIELDS: dict[str, tuple[str, ...]] = {
    "depth": ("depth",),
    "strategy": ("strategy",),
    "verify": ("verify",),
    "repair": ("repair",),
    "instructions": ("instructions",),
    "length": ("length",),
    "language": ("language", "language_asked", "locale"),
    "template": ("template",),
    "review_plan": ("review",),
}
"""The fields of a brief which an option sets."""
LIMITS = {
    "max_time": "seconds",
    "max_tokens": "tokens",
    "max_usd": "usd",
    "max_searches": "searches",
    "max_pages": "pages",
    "max_agents": "agents",
}
OF_RESEARCH = {"depth": "--depth", "strategy": "--strategy", "review_plan": "--review-plan"}
"""What only plan and research heed."""


def revised(old: Brief, fork: Fork, settings: Settings, wanted: Revised) -> Brief:
    """The brief of a fork; its scope, and its thread, are still those of the run it is forked off.

    Raises:
        UsageError: an option is not of its kind, or would change nothing from this point on.
    """
    said = {option for option, value in wanted.items() if value is not None and value != {}}
    _check(old, fork.point, said)
    asked = make_brief(old.question, settings, _as_wanted(wanted))
    changes = {name: getattr(asked, name) for option in said for name in FIELDS.get(option, ())}
    return msgspec.structs.replace(
        old,
        **changes,
        budget=_budget(old.budget, asked.budget, said),
        models=_models(old.models, named_models(wanted.get("model"), wanted.get("models", {}))),
        allow_private=asked.allow_private or (old.allow_private and said.isdisjoint(("model", "models"))),
        date=old.date if fork.point == "write" else datetime.now(UTC).date().isoformat(),
        prompts=asked.prompts,
        release=asked.release,
        steps_format=asked.steps_format,
        fork=fork,
    )


def _as_wanted(wanted: Revised) -> RunOptions:
    return {**wanted}  # type: ignore[typeddict-item]


def _check(old: Brief, point: Point, said: Iterable[str]) -> None:
    if point == "write":
        for option in [OF_RESEARCH[option] for option in said if option in OF_RESEARCH]:
            raise UsageError(f"{option} changes nothing of a report from the same findings; fork from research or plan")
    if point == "research" and "review_plan" in said:
        raise UsageError("--review-plan needs a plan to be made: fork from plan")
    if old.schema and "template" in said:
        raise UsageError("the report of this run is the fields of a schema; it takes no template")


def _budget(old: Budget, asked: Budget, said: Iterable[str]) -> Budget:
    return msgspec.structs.replace(
        old, **{LIMITS[option]: getattr(asked, LIMITS[option]) for option in said if option in LIMITS}
    )


def _models(old: Mapping[Role, tuple[str, ...]], named: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of each role; a judge whom nobody ever named goes by those of the others, as they are now."""
    models = dict(old) | dict(named)
    unnamed = "judge" not in named and tuple(old.get("judge", ())) == judges(old)
    return models | {"judge": judges(models)} if unnamed else models


# A run computed again, and its report held against the stored one.


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay of a run came to.

    `steps` were taken as they are stored, `events` computed again. `differences` say where these differ from the stored
    log; `same_report` whether the report (`assay.report/1`) is the same, byte for byte.
    """

    run_id: str
    steps: int
    events: int
    same_report: bool
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether all of it is."""
        return self.same_report and not self.differences


def compared(replayed: Replayed, stored: list[Envelope]) -> Replay:
    """What came of a replay, beside the stored log."""
    before, after = (msgspec.json.encode(build_report(fold(log))) for log in (stored, replayed.log))
    return Replay(
        run_id=replayed.run_id,
        steps=replayed.steps,
        events=replayed.events,
        same_report=before == after,
        differences=replayed.differences,
    )
