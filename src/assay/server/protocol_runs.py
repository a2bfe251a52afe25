"""Runs for clients of a protocol: their options as fields of bodies and tools; start one, follow it."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import inspect
from collections import abc
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from inspect import Parameter
from types import GenericAlias, NoneType
from typing import Annotated, Any, Literal, Protocol, TypeVar, Union, Unpack, cast, get_args, get_origin
from weakref import WeakValueDictionary

import msgspec
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from assay.app.assay import Assay
from assay.core.errors import UnknownName, UnknownOption
from assay.core.events import Envelope
from assay.core.options import DeclaredOption, offered_options
from assay.core.ports import FINAL
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.services.arguments import Sources

BOOKKEEPING = ("assay.", "openai.")
"""Begin the labels by which the protocols know a run again; the page does not show them."""

S = TypeVar("S", bound=msgspec.Struct)


def add_fields(body: type[S], kinds: Mapping[str, Any]) -> type[S]:
    """A body with further fields of the given types; a missing one is None, empty, or its type's first word."""
    fields = [(name, kind, default_value(kind)) for name, kind in kinds.items()]
    return cast(
        "type[S]",
        msgspec.defstruct(
            body.__name__, fields, bases=(body,), namespace={"__doc__": body.__doc__}, module=body.__module__,
            frozen=True, kw_only=True, forbid_unknown_fields=True,
        ),
    )  # fmt: skip


def body_type(option: DeclaredOption, kind: Any) -> Any:
    """The type of an option in a body: `kind`, if that sets one."""
    if kind is not msgspec.UNSET:
        return kind
    parts = get_args(option.data) if get_origin(option.data) is Union else (option.data,)
    return Union[tuple(map(_field_type, parts))]  # noqa: UP007 - made of several


def _field_type(kind: Any) -> Any:
    match get_origin(kind), get_args(kind):
        case abc.Sequence, (element,):
            return GenericAlias(tuple, (element, ...))
        case abc.Mapping, pair:
            return GenericAlias(dict, pair)
    return kind


def default_value(kind: Any) -> Any:
    """The default of a field with this type."""
    if NoneType in get_args(kind):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return (get_origin(kind) or kind)()


F = TypeVar("F", bound=Callable[..., Any])


def add_options(function: F) -> F:
    """Give a function that takes `**options` a signature with each option that MCP offers."""
    signature = inspect.signature(function, eval_str=True)
    parameters = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    options = [*_arguments()]
    hints = {parameter.name: parameter.annotation for parameter in (*parameters, *options)} | {
        "return": signature.return_annotation
    }
    function.__annotations__ = hints
    function.__signature__ = signature.replace(parameters=[*parameters, *options])  # type: ignore[attr-defined]
    return function


def _arguments() -> Iterable[Parameter]:
    for name, (declaration, offer) in offered_options(RunOptions, "mcp").items():
        kind = body_type(declaration, offer.api_type)
        annotation: Any = Annotated.__class_getitem__((kind, Field(description=offer.description)))  # type: ignore[attr-defined]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default_value(kind), annotation=annotation)


def check_names(tool: str, arguments: Mapping[str, object], allowed: Iterable[str]) -> None:
    """Refuse a misspelt argument of the tool.

    Other names are passed over: clients add arguments of their own to every call.

    Raises:
        ToolError: as `UnknownOption` says it.
    """
    allowed = tuple(allowed)
    for name in arguments:
        if name not in allowed and difflib.get_close_matches(name, allowed, n=1):
            raise ToolError(str(UnknownOption(tool, name, allowed)))


# Runs: one is started, once for repeated requests, and followed.

REQUEST = "assay.request"
"""The label of a run that identifies the request that started it."""
REPEAT_WINDOW = timedelta(minutes=10)
"""Seconds within which the same request gets the same run: impatient clients repeat their requests."""
RUNS_EXAMINED = 200
"""How many of the latest runs are searched for one of the same request."""
CANCEL_SECONDS = 5.0
"""Seconds within which a run must stop before it is deleted."""
HEARTBEAT_SECONDS = 10.0
"""The longest silence of a stream in seconds: proxies and clients close silent connections."""


class Runs(Protocol):
    """Starts and follows runs for a protocol; no run depends on a connection."""

    async def begin(
        self, owner: str, question: str, *, sources: Sources | None = None, **options: Unpack[RunOptions]
    ) -> str:
        """Store a run and have it executed; return its id."""
        ...

    async def begin_ask(self, owner: str, reference: str, question: str, **options: Unpack[RunOptions]) -> str:
        """Store a run that answers from what another has read, and have it executed; return its id."""
        ...

    async def continue_run(self, owner: str, reference: str) -> None:
        """Have a run executed that was answered or paused, or whose process died."""
        ...

    async def view(self, owner: str, reference: str) -> RunView:
        """A run as it is now."""
        ...

    def groups(
        self, owner: str, run_id: str, after: int = 0, idle_seconds: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `idle_seconds` seconds without
        any.
        """
        ...


_begin_locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()
"""By loop and key: held while a request's run is looked up and started, since repeated requests arrive close together.
Others do not wait for it.
"""


class Caller(msgspec.Struct, frozen=True):
    """The caller: the library as they see it, their name, and how their runs are executed."""

    assay: Assay
    runs: Runs
    owner: str = ""

    async def begin(
        self,
        question: str,
        *,
        key: str = "",
        may_repeat: bool = True,
        sources: Sources | None = None,
        **options: Unpack[RunOptions],
    ) -> str:
        """Start a run; return its id. With a `key`, return the run that the same key started shortly before, if there
        is one.

        Args:
            question: what is to be found out.
            key: names the request.
            may_repeat: whether the request may have come before; without, the key is only noted.
            sources: as for `Assay.create`.
            options: as for `Assay.create`.

        Raises:
            UsageError, UnknownName: as `Assay.create`.
        """
        if not key:
            return await self.runs.begin(self.owner, question, sources=sources, **options)
        async with _begin_locks.setdefault((id(asyncio.get_running_loop()), key), asyncio.Lock()):
            if may_repeat and (run_id := await self.find_begun(key)):
                return run_id
            options["labels"] = {**(options.get("labels") or {}), REQUEST: key}
            return await self.runs.begin(self.owner, question, sources=sources, **options)

    async def has_ended(self, run_id: str) -> bool:
        """True if there is a run with this id that another run can continue."""
        try:
            row = await self.assay.find(run_id)
        except UnknownName:
            return False
        return row.run_id == run_id and row.status in FINAL

    async def find_begun(self, key: str) -> str:
        """The run that this request started shortly before and that has not failed; "" if there is none."""
        since = datetime.now(UTC) - REPEAT_WINDOW
        for row in await self.assay.listed(RUNS_EXAMINED):
            if datetime.fromisoformat(row.created_at) < since:
                break
            if row.labels.get(REQUEST) == key and row.status not in ("failed", "cancelled"):
                return row.run_id
        return ""

    async def ask(self, reference: str, question: str, **options: Unpack[RunOptions]) -> str:
        """Start a run that answers from what another has read; return its id.

        Raises:
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        return await self.runs.begin_ask(self.owner, reference, question, **options)

    async def continue_run(self, reference: str) -> None:
        """Have a run executed if it can continue: it has not ended, is not paused, and waits for nobody."""
        row = await self.assay.find(reference)
        answered = row.status == "waiting" and await self.assay.is_answered(row.run_id)
        if not row.queued and (answered or row.status in ("created", "running")):
            await self.runs.continue_run(self.owner, row.run_id)

    async def view(self, reference: str) -> RunView:
        """A run as it is now.

        Raises:
            UnknownName: there is no such run.
        """
        return await self.runs.view(self.owner, reference)

    def groups(
        self, run_id: str, after: int = 0, idle_seconds: float = HEARTBEAT_SECONDS
    ) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `idle_seconds` seconds without
        any.
        """
        return self.runs.groups(self.owner, run_id, after=after, idle_seconds=idle_seconds)

    async def remove(self, reference: str) -> None:
        """Delete a run; an active one is cancelled first.

        Raises:
            UnknownName: there is no such run.
            LeaseHeld: its process does not let go of it.
        """
        row = await self.assay.find(reference)
        if row.status not in FINAL:
            await self.assay.control(row.run_id, "cancel", wait=CANCEL_SECONDS)
        await self.assay.delete(row.run_id)


def request_key(*parts: object) -> str:
    """A short name for a request, equal for equal parts; the parts are plain data."""
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:24]
