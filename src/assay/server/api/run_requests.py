"""What a client wants of a run, and how the library calls it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.core.brief import ROLES, Depth, Mode, Point, Role
from assay.core.claims import CheckName, RepairName
from assay.core.plan import Plan
from assay.core.usage import Budget
from assay.plugins import split
from assay.server.problems import Fault, refusal
from assay.services.briefs import RunOptions
from assay.services.providers import ASIDE
from assay.services.revision import Revised
from assay.services.webhooks import RUN_EVENTS, RunWebhookEvent
from assay.settings import Settings

WEB = ("http://", "https://", "git+http://", "git+https://")


class RequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of all a client sends: a name nobody knows is refused."""


class WantedScope(RequestBody, frozen=True, kw_only=True):
    """Where a run looks.

    `collections` are names; `urls` pages to read beside them; `paths` files and folders on the server, in those which
    the setting `server.folders` allows. Without any the run has the default collection. `web` says whether the web is
    searched too; of it `sites_allow` are the only hosts, `sites_deny` left out, as are pages published before `since`
    or after `until` (a day, a month or a year). `country` (de, us) is where it is searched from; `fresh` asks for
    pages anew which earlier runs have kept.
    """

    collections: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    web: bool | None = None
    sites_allow: tuple[str, ...] = ()
    sites_deny: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    country: str | None = None
    fresh: bool = False
    allow_private: bool = False


class WantedReport(RequestBody, frozen=True, kw_only=True):
    """How the report is to be: `length` short, normal, long or a number of words; `language` a code (BCP 47).

    `template` is Markdown headings to fill, `schema` a JSON Schema: the report is then the fields it asks for.
    """

    length: str | int | None = None
    language: str | None = None
    template: str | None = None
    instructions: str | None = None
    schema: dict[str, Any] | None = None


class WantedChecks(RequestBody, frozen=True, kw_only=True):
    """What of the verification is done; None goes by the settings."""

    verify: bool | None = None
    checks_off: tuple[CheckName, ...] | None = None
    compare: bool | None = None
    repair: bool | None = None
    repairs_off: tuple[RepairName, ...] | None = None


class WantedWebhook(RequestBody, frozen=True, kw_only=True):
    """An address which is told of this run alone, and of which events.

    What it is told is signed with `secret` (Standard Webhooks: whsec_ and then 24 to 64 random bytes in Base64), which
    the client has made, and which nobody is shown again.
    """

    url: str
    secret: str
    events: tuple[RunWebhookEvent, ...] = RUN_EVENTS


class RunWanted(RequestBody, frozen=True, kw_only=True):
    """A run to be begun; what is left out is taken from the settings.

    `model` (PROVIDER:NAME) plays every role, `models` those they are named for, first choice first. With `ask`
    "required" the run waits where it has questions, with `review_plan` "required" for its plan to be approved.
    `answers` are given beforehand. `continues` is the run it goes on from, `thread` the conversation it is part of.
    `webhook` is told of it.
    """

    question: str
    mode: Mode | None = None
    depth: Depth | None = None
    strategy: str | None = None
    scope: WantedScope = WantedScope()
    budget: Budget = Budget()
    report: WantedReport = WantedReport()
    checks: WantedChecks = WantedChecks()
    model: str | None = None
    models: dict[Role, tuple[str, ...]] = {}
    ask: Literal["never", "required"] = "never"
    review_plan: Literal["never", "required"] = "never"
    answers: tuple[str, ...] = ()
    thread: str | None = None
    continues: str | None = None
    labels: dict[str, str] = {}
    webhook: WantedWebhook | None = None


class AddedScope(RequestBody, frozen=True, kw_only=True):
    """Documents beside those a run had: collections, pages, and paths on the server which it lets be read."""

    collections: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class ForkWanted(RequestBody, frozen=True, kw_only=True):
    """A run which goes on from a `point` of another: `plan`, `research` or `write`. What is None stays as it was.

    `exclude` are sources left out (ids, numbers, addresses, titles); what `scope` names is searched beside the others.
    """

    point: Point
    plan: Plan | None = None
    form: str | None = None
    exclude: tuple[str, ...] = ()
    scope: AddedScope = AddedScope()
    depth: Depth | None = None
    strategy: str | None = None
    budget: Budget = Budget()
    instructions: str | None = None
    length: str | int | None = None
    language: str | None = None
    template: str | None = None
    verify: bool | None = None
    repair: bool | None = None
    model: str | None = None
    models: dict[Role, tuple[str, ...]] = {}
    allow_private: bool = False


class QuestionWanted(RequestBody, frozen=True, kw_only=True):
    """A question about what a run has read; nothing new is searched."""

    question: str
    budget: Budget = Budget()
    report: WantedReport = WantedReport()
    model: str | None = None
    labels: dict[str, str] = {}


def wanted_of(body: RunWanted) -> RunOptions:
    """The options of the library."""
    scope = body.scope
    return {
        **budgeted(body.budget),
        **reported(body.report),
        "mode": body.mode,
        "depth": body.depth,
        "strategy": body.strategy,
        "verify": body.checks.verify,
        "checks_off": body.checks.checks_off,
        "compare": body.checks.compare,
        "repair": body.checks.repair,
        "repairs_off": body.checks.repairs_off,
        "ask": body.ask,
        "review_plan": body.review_plan,
        "answers": body.answers,
        "thread": body.thread,
        "continues": body.continues,
        "web": scope.web,
        "domains": scope.sites_allow,
        "not_domains": scope.sites_deny,
        "since": scope.since,
        "until": scope.until,
        "country": scope.country,
        "fresh": scope.fresh,
        "allow_private": scope.allow_private,
        "models": roles(body.model, body.models),
        "labels": body.labels,
    }


def asked_of(body: QuestionWanted) -> RunOptions:
    """The options of the library for a question about what a run has read."""
    return {
        **budgeted(body.budget),
        **reported(body.report),
        "models": roles(body.model, {}),
        "labels": body.labels,
    }


def budgeted(budget: Budget) -> RunOptions:
    """A budget as the library's options."""
    return {
        "max_usd": budget.usd,
        "max_tokens": budget.tokens,
        "max_time": budget.seconds,
        "max_searches": budget.searches,
        "max_pages": budget.pages,
        "max_agents": budget.agents,
    }


def reported(report: WantedReport) -> RunOptions:
    """The looks of a report as the library's options."""
    return {
        "length": report.length,
        "language": report.language,
        "template": report.template,
        "instructions": report.instructions,
        "schema": report.schema,
    }


def roles(model: str | None, models: dict[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """Models by role: `model` plays all which none is named for, but the judge (see `core.families`).

    Raises:
        Refusal: a model reads a file of the server.
    """
    common: dict[Role, tuple[str, ...]] = {role: (model,) for role in ROLES if role != "judge"} if model else {}
    named = common | models
    if any(split(name)[0] in ASIDE for names in named.values() for name in names):
        raise refused("/models", "a model which reads a file of the server is named in its settings alone")
    return named


def revised_of(body: ForkWanted) -> Revised:
    """The options of the library for a fork."""
    return {
        "max_usd": body.budget.usd,
        "max_tokens": body.budget.tokens,
        "max_time": body.budget.seconds,
        "max_searches": body.budget.searches,
        "max_pages": body.budget.pages,
        "max_agents": body.budget.agents,
        "depth": body.depth,
        "strategy": body.strategy,
        "verify": body.verify,
        "repair": body.repair,
        "instructions": body.instructions,
        "length": body.length,
        "language": body.language,
        "template": body.template,
        "allow_private": body.allow_private,
        "models": roles(body.model, body.models),
    }


def sources_of(scope: WantedScope | AddedScope, settings: Settings) -> list[str] | None:
    """The documents of a scope as the library names them; None for the default collection.

    Raises:
        Refusal: an address is none of the web, or a path is not in a folder which the server lets be read.
    """
    for at, url in enumerate(scope.urls):
        if not url.lower().startswith(WEB):
            raise refused(f"/scope/urls/{at}", f"{url!r} is no address of the web: it begins with http:// or https://")
    paths = [allowed(path, settings, f"/scope/paths/{at}") for at, path in enumerate(scope.paths)]
    collections = [f"@{name.removeprefix('@')}" for name in scope.collections]
    return [*collections, *scope.urls, *paths] or None


def allowed(path: str, settings: Settings, pointer: str) -> str:
    """A path on the server which may be read: it lies in a folder that `server.folders` names, links followed.

    Raises:
        Refusal: it does not.
    """
    try:
        real = Path(path).expanduser().resolve()
        folders: Sequence[Path] = [folder.expanduser().resolve() for folder in settings.server.folders]
    except (OSError, RuntimeError, ValueError) as error:
        raise refused(pointer, f"{path!r} cannot be looked at: {error}") from error
    if not any(real == folder or folder in real.parents for folder in folders):
        raise refused(
            pointer, f"{path!r} may not be read: upload it, or name its folder in the server's setting server.folders"
        )
    return str(real)


def refused(pointer: str, detail: str) -> Exception:
    """A value in a body which is wrong."""
    return refusal("invalid", detail, errors=(Fault(pointer=pointer, detail=detail),))
