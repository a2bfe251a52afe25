"""What a client wants of a run, once for each request, and how the library calls it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from assay.core.brief import ROLES, Point, Role
from assay.core.options import declared
from assay.core.plan import Plan
from assay.core.run_options import ForkOptions, RunOptions
from assay.core.usage import Budget
from assay.plugins import split
from assay.server.option_fields import sent, with_fields
from assay.server.problems import Fault, refusal
from assay.server.wire import RouteCall
from assay.services.providers import ASIDE
from assay.services.webhooks import RUN_EVENTS, RunWebhookEvent
from assay.settings import Settings

# `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a request sent again is not done again.

LONGEST = 255


async def once(call: RouteCall, body: msgspec.Struct, do: Callable[[], Awaitable[str]]) -> str:
    """What `do` gives; for a request with a key, what it gave the first time.

    Raises:
        Refusal: the header is no key.
        RequestDiffers: the key came with another request before.
        InProgress: the first request is still at it.
    """
    header = call.request.headers.get("idempotency-key", "").strip()
    if not header:
        return await do()
    key = header[1:-1] if len(header) > 1 and header[0] == header[-1] == '"' else header
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise refusal("bad-request", f"an Idempotency-Key is 1 to {LONGEST} printable ASCII characters in quotes")
    route = f"{call.request.method} {call.request.scope['path']}"
    asked = msgspec.json.encode([route, body])
    return await call.assay.once(f"{call.owner}/{key}", asked, do)


WEB = ("http://", "https://", "git+http://", "git+https://")


class RequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of all a client sends: a name nobody knows is refused."""


S = TypeVar("S", bound=msgspec.Struct)


def with_options(place: str, table: type = RunOptions) -> Callable[[type[S]], type[S]]:
    """Give a body the fields of a table's options which stand at this place in the body of a run.

    Those of a fork stand all at its root, but the limits; one which is left out there is as it was.
    """

    def made(body: type[S]) -> type[S]:
        fields = {}
        for each in declared(table).values():
            at, _, name = each.option.api.rpartition(".")
            if name and (at == place or (table is ForkOptions and at != "budget")):
                kind = sent(each, each.option.sent)
                fields[name] = kind | None if table is ForkOptions and each.kind is not bool else kind
        return with_fields(body, fields)

    return made


class AddedScope(RequestBody, frozen=True, kw_only=True):
    """Documents beside those a run had: collections, pages, and paths on the server which it lets be read."""

    collections: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@with_options("scope")
class WantedScope(AddedScope, frozen=True, kw_only=True):
    """Where a run looks.

    `collections` are names; `urls` pages to read beside them; `paths` files and folders on the server, in those which
    the setting `server.folders` allows. Without any the run has the default collection. `web` says whether the web is
    searched too; of it `sites_allow` are the only hosts, `sites_deny` left out, as are pages published before `since`
    or after `until` (a day, a month or a year). `country` (de, us) is where it is searched from; `fresh` asks for
    pages anew which earlier runs have kept.
    """


@with_options("report")
class WantedReport(RequestBody, frozen=True, kw_only=True):
    """How the report is to be: `length` short, normal, long or a number of words; `language` a code (BCP 47).

    `template` is Markdown headings to fill, `schema` a JSON Schema: the report is then the fields it asks for.
    """


@with_options("checks")
class WantedChecks(RequestBody, frozen=True, kw_only=True):
    """What of the verification is done; None goes by the settings."""


class WantedWebhook(RequestBody, frozen=True, kw_only=True):
    """An address which is told of this run alone, and of which events.

    What it is told is signed with `secret` (Standard Webhooks: whsec_ and then 24 to 64 random bytes in Base64), which
    the client has made, and which nobody is shown again.
    """

    url: str
    secret: str
    events: tuple[RunWebhookEvent, ...] = RUN_EVENTS


@with_options("")
class RunWanted(RequestBody, frozen=True, kw_only=True):
    """A run to be begun; what is left out is taken from the settings.

    `model` (PROVIDER:NAME) plays every role, `models` those they are named for, first choice first. With `ask`
    "required" the run waits where it has questions, with `review_plan` "required" for its plan to be approved.
    `answers` are given beforehand. `continues` is the run it goes on from, `thread` the conversation it is part of.
    `webhook` is told of it.
    """

    question: str
    scope: WantedScope = WantedScope()
    budget: Budget = Budget()
    report: WantedReport = WantedReport()
    checks: WantedChecks = WantedChecks()
    model: str | None = None
    models: dict[Role, tuple[str, ...]] = {}
    webhook: WantedWebhook | None = None


@with_options("", ForkOptions)
class ForkWanted(RequestBody, frozen=True, kw_only=True):
    """A run which goes on from a `point` of another: `plan`, `research` or `write`. What is None stays as it was.

    `exclude` are sources left out (ids, numbers, addresses, titles); what `scope` names is searched beside the others.
    """

    point: Point
    plan: Plan | None = None
    form: str | None = None
    exclude: tuple[str, ...] = ()
    scope: AddedScope = AddedScope()
    budget: Budget = Budget()
    model: str | None = None
    models: dict[Role, tuple[str, ...]] = {}


class QuestionWanted(RequestBody, frozen=True, kw_only=True):
    """A question about what a run has read; nothing new is searched."""

    question: str
    budget: Budget = Budget()
    report: WantedReport = WantedReport()
    model: str | None = None
    labels: dict[str, str] = {}


def wanted_of(body: RunWanted | ForkWanted | QuestionWanted) -> RunOptions:
    """The options of the library.

    Raises:
        Refusal: a model reads a file of the server.
    """
    models = {} if isinstance(body, QuestionWanted) else body.models
    found: dict[str, Any] = {"models": roles(body.model, models)}
    for name, each in declared(RunOptions).items():
        at, _, field = each.option.api.rpartition(".")
        for holder in (getattr(body, at, None) if at else None, body):
            if field and hasattr(holder, field):
                found[name] = getattr(holder, field)
                break
    return cast("RunOptions", found)


def roles(model: str | None, models: dict[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """Models by role: `model` plays all which none is named for, but the judge (see `core.ports.models`).

    Raises:
        Refusal: a model reads a file of the server.
    """
    common: dict[Role, tuple[str, ...]] = {role: (model,) for role in ROLES if role != "judge"} if model else {}
    named = common | models
    if any(split(name)[0] in ASIDE for names in named.values() for name in names):
        raise refused("/models", "a model which reads a file of the server is named in its settings alone")
    return named


def sources_of(scope: AddedScope, settings: Settings) -> list[str] | None:
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
