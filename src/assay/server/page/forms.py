"""What people fill in, as the API's own types: a form knows no option that the API does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from assay.core.brief import ROLES
from assay.server.api.run_requests import RunWanted
from assay.server.guards import body_of
from assay.server.problems import refusal
from assay.server.wire import BODY_BYTES

S = TypeVar("S", bound=msgspec.Struct)
Fields = Mapping[str, tuple[str, ...]]

_TEXTS = ("question", "mode", "depth", "strategy", "model")
_SCOPE_TEXTS = ("since", "until")
_REPORT = ("length", "language", "template", "instructions")
_FIGURES = ("usd", "tokens", "searches", "pages", "agents")


class PageForm(msgspec.Struct, frozen=True):
    """A form as it was sent: its texts by name, and the files that have one."""

    fields: dict[str, tuple[str, ...]]
    files: tuple[UploadFile, ...] = ()

    def text(self, name: str) -> str:
        """A text without the space around it, "" where there is none."""
        return next(iter(self.fields.get(name, ())), "").strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """All texts of a name which say something."""
        return tuple(text.strip() for text in self.fields.get(name, ()) if text.strip())

    def lines(self, name: str) -> tuple[str, ...]:
        """The words of a text which are apart by spaces, commas or line ends."""
        return tuple(part for part in self.text(name).replace(",", " ").split() if part)


async def read_form(request: Request, most: int = BODY_BYTES) -> PageForm:
    """The form a browser sent; files lie on disk. To be closed by `request.close()`.

    Raises:
        Refusal: it cannot be read, or is too large.
    """
    body_of(request).most = most
    try:
        form = await request.form(max_files=100, max_fields=1_000, max_part_size=BODY_BYTES)
    except MultiPartException as error:
        raise refusal("bad-request", f"the form cannot be read: {error.message}") from error
    return PageForm(_fields(form), tuple(_files(form)))


def _fields(form: FormData) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def _files(form: FormData) -> Iterator[UploadFile]:
    for _, value in form.multi_items():
        if not isinstance(value, str) and value.filename:
            yield value


def run_wanted(form: PageForm, **more: Any) -> RunWanted:
    """The run a form asks for; what is left empty is taken from the settings.

    Raises:
        Refusal: a value is none of those there are.
    """
    asked: dict[str, Any] = {name: text for name in _TEXTS if (text := form.text(name))}
    if models := {role: named for role in ROLES if (named := form.lines(f"model_{role}"))}:
        asked["models"] = models
    asked["scope"] = _scope(form)
    asked["budget"] = _budget(form)
    asked["report"] = {name: text for name in _REPORT if (text := form.text(name))}
    asked["ask"] = "required" if form.text("ask") else "never"
    asked["review_plan"] = "required" if form.text("review_plan") else "never"
    if form.text("verify") == "no":
        asked["checks"] = {"verify": False}
    return converted({**asked, **more}, RunWanted)


def _scope(form: PageForm) -> dict[str, Any]:
    scope: dict[str, Any] = {name: text for name in _SCOPE_TEXTS if (text := form.text(name))}
    scope["collections"] = form.texts("collection")
    scope["urls"] = form.lines("urls")
    scope["sites_allow"], scope["sites_deny"] = form.lines("sites_allow"), form.lines("sites_deny")
    web = form.text("web")
    if web in ("yes", "no"):
        scope["web"] = web == "yes"
    return scope


def _budget(form: PageForm) -> dict[str, Any]:
    budget: dict[str, Any] = {name: text for name in _FIGURES if (text := form.text(name))}
    if minutes := form.text("minutes"):
        budget["seconds"] = _figure(minutes, "minutes") * 60
    return budget


def _figure(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise refusal("invalid", f"{name}: {text[:40]!r} is no number") from None


def converted(given: Mapping[str, Any], kind: type[S]) -> S:
    """Texts as a type of the API.

    Raises:
        Refusal: a value does not fit; the message says which.
    """
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at ")
        field = place.strip("`").removeprefix("$.").rpartition(".")[2]
        raise refusal("invalid", f"{field}: {said}" if field else said) from error
