"""Forms as the API's own types: a form has no option that the API does not have."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from assay.core.brief import ROLES, Brief, Section
from assay.core.errors import InProgress
from assay.core.options import DeclaredOption, declared_options, nest_values
from assay.core.run_options import RunOptions, WaitMode
from assay.core.sources import sha256
from assay.core.translation import N_
from assay.server.api.collections import MORE_FILES
from assay.server.api.run_requests import RunWanted
from assay.server.guards import body_of, form_of
from assay.server.problems import refusal
from assay.server.wire import BODY_BYTES, RouteCall
from assay.settings import Settings

S = TypeVar("S", bound=msgspec.Struct)


class PageForm(msgspec.Struct, frozen=True):
    """A submitted form: its texts by name, and its named files."""

    fields: dict[str, tuple[str, ...]]
    files: tuple[UploadFile, ...] = ()

    def text(self, name: str) -> str:
        """A text without surrounding space, "" if there is none."""
        return next(iter(self.fields.get(name, ())), "").strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """All non-empty texts with a name."""
        return tuple(text.strip() for text in self.fields.get(name, ()) if text.strip())

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a text, separated by spaces, commas or line ends."""
        return tuple(self.text(name).replace(",", " ").split())


EMPTY = PageForm({})


async def read_form(request: Request, max_bytes: int = BODY_BYTES) -> PageForm:
    """The form a browser sent; files are on disk. Close it with `request.close()`.

    Raises:
        Refusal: it cannot be read, or is too large.
    """
    body = body_of(request)
    body.max_bytes = max_bytes
    if max_bytes > BODY_BYTES:
        body.instead = MORE_FILES
    form = await form_of(request, fields=1_000)
    return PageForm(_fields(form), tuple(_files(form)))


def _fields(form: FormData) -> dict[str, tuple[str, ...]]:
    values_by_name: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            values_by_name.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in values_by_name.items()}


def _files(form: FormData) -> Iterator[UploadFile]:
    for _, value in form.multi_items():
        if not isinstance(value, str) and value.filename:
            yield value


MAX_KEY_CHARS = 64
WAIT_SECONDS, POLL_SECONDS = 60.0, 0.1
"""Seconds to wait for a run that the same form is beginning, and between two looks."""


async def begin_once(call: RouteCall, form: PageForm, begin: Callable[[], Awaitable[str]]) -> str:
    """The id of what `begin` starts for a form, a run or a schedule: where the same form was sent before, that of then.

    Without a script nothing holds back a second press of its button. A form that was changed in between is another
    one; so is each form that the server shows, by its hidden key.

    Raises:
        InProgress: the run of the first press is still not begun.
    """
    key = form.text("once")
    if not key or len(key) > MAX_KEY_CHARS:
        return await begin()
    files = [(file.filename, file.size) for file in form.files]
    form_data = msgspec.json.encode((call.request.scope["path"], form.fields, files))
    ends = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return await call.assay.once(f"{call.owner}/page/{sha256(key.encode() + form_data)}", form_data, begin)
        except InProgress:
            if time.monotonic() > ends:
                raise
            await asyncio.sleep(POLL_SECONDS)


def requested_run(form: PageForm, **extra: Any) -> RunWanted:
    """The run a form asks for; empty fields come from the settings.

    Raises:
        Refusal: a value is not allowed.
    """
    options: dict[str, Any] = {
        declaration.option.api: _form_value(form, declaration)
        for declaration in declared_options(RunOptions).values()
        if declaration.option.api
    }
    if minutes := form.text("minutes"):
        options["budget.seconds"] = _figure(minutes, "minutes") * 60
    request = nest_values({name: value for name, value in options.items() if value not in (None, "", ())})
    request |= {name: text for name in ("question", "model") if (text := form.text(name))}
    request["models"] = {role: model_names for role in ROLES if (model_names := form.words(f"model_{role}"))}
    request["scope"] = {"collections": form.texts("collection"), "urls": form.words("urls")} | request.get("scope", {})
    if "web_asked" in form.fields and not form.text("web"):
        request["scope"]["web"] = False  # it was offered and left out: no setting takes its place
    return convert_texts({**request, **extra}, RunWanted)


def form_for(brief: Brief, settings: Settings) -> PageForm:
    """The form that asks for the run of a brief again; what the settings say need not be said."""
    models = settings.roles()
    rules, budget = brief.scope.rules, brief.budget
    minutes = None if budget.seconds is None else budget.seconds / 60
    limits = {"minutes": minutes, "usd": budget.usd, "tokens": budget.tokens, "searches": budget.searches}
    fields: dict[str, tuple[str, ...]] = {
        "question": (brief.question,),
        "web_asked": ("1",),
        "collection": brief.scope.collections,
        "web": ("yes",) if brief.scope.web else (),
        "mode": (brief.mode,),
        "depth": (brief.depth,),
        "strategy": (brief.strategy if brief.strategy != settings.strategy else "",),
        "sites_allow": (", ".join(rules.domains),),
        "sites_deny": (", ".join(rules.denied),),
        "since": (rules.since,),
        "until": (rules.until,),
        "length": (str(brief.length) if brief.length != settings.length else "",),
        "language": (brief.language,) if brief.language_asked else (),
        "instructions": (brief.instructions,),
        "template": (_headings(brief.template),),
        "review_plan": ("1",) if brief.review == "required" else (),
        "ask": ("1",) if brief.ask == "required" else (),
    }
    fields |= {name: (f"{value:g}" if value < 1e6 else f"{value:.0f}",) for name, value in limits.items() if value}
    fields |= {
        f"model_{role}": (", ".join(role_models),)
        for role, role_models in brief.models.items()
        if tuple(role_models) != tuple(models.get(role, ()))
    }
    return PageForm(fields)


def _headings(template: Sequence[Section]) -> str:
    """A template as it was written."""
    return "\n".join(f"{'#' * section.level} {section.title}\n{section.hint}".rstrip() for section in template)


def check_places(form: PageForm) -> None:
    """Refuse a form that offers places to look and names none.

    Raises:
        Refusal: nothing is ticked, and no files or addresses are named.
    """
    if "web_asked" in form.fields and not (
        form.texts("collection") or form.text("web") or form.files or form.words("urls")
    ):
        raise refusal("invalid", N_("tick where to look, or add files"))


def _form_value(form: PageForm, option: DeclaredOption) -> str | bool | tuple[str, ...] | None:
    """The value of an option in a form, under the field name of the API."""
    name = option.option.api.rpartition(".")[2]
    text = form.text(name)
    if option.option.api_type is WaitMode:
        return "required" if text else "never"
    if get_origin(option.data) is Sequence:
        return form.words(name)
    if bool in (option.data, *get_args(option.data)):
        return {"yes": True, "no": False}.get(text)
    return text


def _figure(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise refusal("invalid", f"{name}: {text[:40]!r} is not a number") from None


def convert_texts(texts: Mapping[str, Any], kind: type[S]) -> S:
    """Texts as a type of the API.

    Raises:
        Refusal: a value does not fit; the message says which.
    """
    try:
        return msgspec.convert(texts, kind, strict=False)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at ")
        field = path.strip("`").removeprefix("$.").rpartition(".")[2]
        raise refusal("invalid", f"{field}: {reason}" if field else reason) from error
