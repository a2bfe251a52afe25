"""A client's options for a run, idempotent requests, and their translation for the library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from assay.core.brief import ForkPoint, Role
from assay.core.clean import error_words
from assay.core.options import declared_options
from assay.core.plan import Plan
from assay.core.run_options import ForkOptions, RunOptions
from assay.core.usage import Budget
from assay.plugins import split
from assay.server.problems import Fault, refusal
from assay.server.protocol_runs import add_fields, body_type
from assay.server.wire import RouteCall
from assay.services.briefs import named_models
from assay.services.providers import INTERNAL_PROVIDERS
from assay.services.webhooks import RUN_EVENTS, RunWebhookEvent
from assay.settings import Settings

# `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a repeated request is not done again.

MAX_KEY_CHARS = 255


async def run_once(call: RouteCall, body: msgspec.Struct, do: Callable[[], Awaitable[str]]) -> str:
    """Return the result of `do`; for a repeated request with a key, that of the first time.

    Raises:
        Refusal: the header is not a valid key.
        RequestDiffers: the key came with another request before.
        InProgress: the first request is still in progress.
    """
    header = call.request.headers.get("idempotency-key", "").strip()
    if not header:
        return await do()
    key = header[1:-1] if len(header) > 1 and header[0] == header[-1] == '"' else header
    if not 0 < len(key) <= MAX_KEY_CHARS or not key.isascii() or not key.isprintable():
        raise refusal("bad-request", f"an Idempotency-Key is 1 to {MAX_KEY_CHARS} printable ASCII characters in quotes")
    route = f"{call.request.method} {call.request.scope['path']}"
    request_data = msgspec.json.encode([route, body])
    return await call.assay.once(f"{call.owner}/{key}", request_data, do)


WEB, REPOSITORIES = ("http://", "https://"), ("git+http://", "git+https://")


class RequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base class of all bodies: unknown names are refused."""


S = TypeVar("S", bound=msgspec.Struct)


def add_options(section: str, table: type = RunOptions) -> Callable[[type[S]], type[S]]:
    """Add the fields of a table's options to a body, those at this place in the body of a run.

    A fork has all of them at its root, except limits; missing ones stay as they were.
    """

    def with_options(body: type[S]) -> type[S]:
        fields = {}
        for declaration in declared_options(table).values():
            option_section, _, name = declaration.option.api.rpartition(".")
            if name and (option_section == section or (table is ForkOptions and option_section != "budget")):
                kind = body_type(declaration, declaration.option.api_type)
                fields[name] = kind | None if table is ForkOptions and declaration.kind is not bool else kind
        return add_fields(body, fields)

    return with_options


class AddedScope(RequestBody, frozen=True, kw_only=True):
    """Documents in addition to a run's: collections, pages, and paths on the server in the allowed folders."""

    collections: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@add_options("scope")
class WantedScope(AddedScope, frozen=True, kw_only=True):
    """Where a run searches.

    `collections` are names; `urls` are pages to read; `paths` are files and folders on the server, in those that the
    setting `server.folders` allows. By default the run has the default collection. `web` says whether the web is
    searched too, only on the hosts in `sites_allow`, without those in `sites_deny` and pages published before `since`
    or after `until` (a day, a month or a year). `country` (de, us) is where the search is made from; `fresh` requests
    cached pages again.
    """


@add_options("report")
class WantedReport(RequestBody, frozen=True, kw_only=True):
    """The form of the report: `length` is short, normal, long or a number of words; `language` a code (BCP 47).

    `template` has Markdown headings to fill; with a `schema` (JSON Schema) the report is the fields it asks for.
    """


@add_options("checks")
class WantedChecks(RequestBody, frozen=True, kw_only=True):
    """How much to verify; None follows the settings."""


class WantedWebhook(RequestBody, frozen=True, kw_only=True):
    """An address that receives events of this run only, and which ones.

    Messages are signed with `secret` (Standard Webhooks: whsec_ and then 24 to 64 random bytes in Base64), which the
    client creates and which is never shown again.
    """

    url: str
    secret: str
    events: tuple[RunWebhookEvent, ...] = RUN_EVENTS


@add_options("")
class RunWanted(RequestBody, frozen=True, kw_only=True):
    """A run to start; missing fields come from the settings.

    `model` (PROVIDER:NAME) takes every role, `models` single ones, first choice first. With `ask` "required" the run
    waits if it has questions, with `review_plan` "required" until its plan is approved. `answers` are given beforehand.
    `continues` is the run it continues, `thread` its conversation. `webhook` receives its events.
    """

    question: str
    scope: WantedScope = WantedScope()
    budget: Budget = Budget()
    report: WantedReport = WantedReport()
    checks: WantedChecks = WantedChecks()
    model: str | None = None
    models: dict[Role, tuple[str, ...]] = {}
    webhook: WantedWebhook | None = None


@add_options("", ForkOptions)
class ForkWanted(RequestBody, frozen=True, kw_only=True):
    """A run that continues from a `point` of another: `plan`, `research` or `write`. None leaves an option unchanged.

    `exclude` are sources to leave out (ids, numbers, addresses, titles); those in `scope` are searched in addition.
    """

    point: ForkPoint
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


def options_of(body: RunWanted | ForkWanted | QuestionWanted) -> RunOptions:
    """The options of the library.

    Raises:
        Refusal: a model would read a file of the server.
    """
    models = {} if isinstance(body, QuestionWanted) else body.models
    options: dict[str, Any] = {"models": models_by_role(body.model, models)}
    for name, declaration in declared_options(RunOptions).items():
        section, _, field = declaration.option.api.rpartition(".")
        for holder in (getattr(body, section, None) if section else None, body):
            if field and hasattr(holder, field):
                options[name] = getattr(holder, field)
                break
    return cast("RunOptions", options)


def models_by_role(model: str | None, models: dict[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """Models by role: `model` for all roles without one, except the judge (see `core.ports.models`).

    Raises:
        Refusal: a model would read a file of the server.
    """
    role_models = named_models(model, models)
    if any(split(name)[0] in INTERNAL_PROVIDERS for names in role_models.values() for name in names):
        raise body_error("/models", "a model which reads a file of the server is named in its settings alone")
    return role_models


def sources_of(scope: AddedScope, settings: Settings) -> list[str] | None:
    """The documents of a scope as the library names them; None for the default collection.

    Raises:
        Refusal: an address is not one of the web, or a path is not in an allowed folder.
    """
    for index, url in enumerate(scope.urls):
        # connectors are found by their name as it is written: any other form would be taken for a path
        if not (url.lower().startswith(WEB) or url.startswith(REPOSITORIES)):
            raise body_error(
                f"/scope/urls/{index}", f"{url!r} is no address of the web: it begins with http:// or https://"
            )
    paths = [check_path(path, settings, f"/scope/paths/{index}") for index, path in enumerate(scope.paths)]
    collections = [f"@{name.removeprefix('@')}" for name in scope.collections]
    return [*collections, *scope.urls, *paths] or None


def check_path(path: str, settings: Settings, pointer: str) -> str:
    """A path on the server that may be read: in a folder of `server.folders`, after following links.

    Raises:
        Refusal: it is not.
    """
    try:
        real = Path(path).expanduser().resolve()
        folders: Sequence[Path] = [folder.expanduser().resolve() for folder in settings.server.folders]
    except (OSError, RuntimeError, ValueError) as error:
        raise body_error(pointer, f"{path!r} cannot be looked at: {error_words(error)}") from error
    if not any(real == folder or folder in real.parents for folder in folders):
        raise body_error(
            pointer, f"{path!r} may not be read: upload it, or name its folder in the server's setting server.folders"
        )
    return str(real)


def body_error(pointer: str, detail: str) -> Exception:
    """The error for a wrong value in a body."""
    return refusal("invalid", detail, errors=(Fault(pointer=pointer, detail=detail),))
