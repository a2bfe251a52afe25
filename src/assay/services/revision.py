"""The brief of a fork: that of the original run, with changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from typing import cast

import msgspec

from assay.core.brief import Brief, Fork, Point, Role
from assay.core.errors import UsageError
from assay.core.events import Envelope
from assay.core.options import declared
from assay.core.ports.models import judges
from assay.core.report import build_report
from assay.core.run_options import ForkOptions, RunOptions
from assay.core.view import fold
from assay.run.replay import Replayed
from assay.services.briefs import make_brief, named_models
from assay.settings import Settings


def revised(old: Brief, fork: Fork, settings: Settings, wanted: ForkOptions) -> Brief:
    """The brief of a fork; scope and thread are still those of the original run.

    Raises:
        UsageError: an option has a wrong value, or would change nothing from this point on.
    """
    said = {option for option, value in wanted.items() if value is not None and value != {}}
    _check(old, fork.point, said)
    asked = make_brief(old.question, settings, cast("RunOptions", wanted))
    fields = {field for option in said for field in declared(ForkOptions)[option].fields}
    changes = {name: getattr(asked, name) for name in fields if "." not in name}
    limits = {name.removeprefix("budget."): attrgetter(name)(asked) for name in fields if name.startswith("budget.")}
    changes["models"] = _models(old.models, named_models(wanted.get("model"), wanted.get("models", {})))
    same_models = said.isdisjoint(("model", "models"))
    changes["allow_private"] = asked.allow_private or (old.allow_private and same_models)
    return msgspec.structs.replace(
        old,
        **changes,
        budget=msgspec.structs.replace(old.budget, **limits),
        date=old.date if fork.point == "write" else datetime.now(UTC).date().isoformat(),
        prompts=asked.prompts,
        release=asked.release,
        steps_format=asked.steps_format,
        fork=fork,
    )


def _check(old: Brief, point: Point, said: Iterable[str]) -> None:
    for option in map(declared(ForkOptions).__getitem__, said):
        flag, until = option.flags[0].name if option.flags else option.name, option.option.until
        if point == "write" and until != "write":
            raise UsageError(f"{flag} does not change a report from the same findings; fork from research or plan")
        if point == "research" and until == "plan":
            raise UsageError(f"{flag} needs a new plan: fork from plan")
    if old.schema and "template" in said:
        raise UsageError("this run fills a schema, so it takes no template: leave out --template")


def _models(old: Mapping[Role, tuple[str, ...]], named: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of each role; a judge that nobody named follows from the other roles as they are now."""
    models = dict(old) | dict(named)
    unnamed = "judge" not in named and tuple(old.get("judge", ())) == judges(old)
    return models | {"judge": judges(models)} if unnamed else models


# A replayed run, and its report compared with the stored one.


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a replay.

    `steps` were taken from the journal, `events` were computed again. `differences` say where these differ from the
    stored log; `same_report` whether the report (`assay.report/1`) is the same, byte for byte.
    """

    run_id: str
    steps: int
    events: int
    same_report: bool
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether everything is the same."""
        return self.same_report and not self.differences


def compared(replayed: Replayed, stored: list[Envelope]) -> Replay:
    """The result of a replay, compared with the stored log."""
    before, after = (msgspec.json.encode(build_report(fold(log))) for log in (stored, replayed.log))
    return Replay(
        run_id=replayed.run_id,
        steps=replayed.steps,
        events=replayed.events,
        same_report=before == after,
        differences=replayed.differences,
    )
