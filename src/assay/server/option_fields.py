"""Options of a run as fields of clients' bodies and as arguments of tools: their types in data, and their defaults."""

from __future__ import annotations

import difflib
import inspect
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from types import GenericAlias, NoneType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from assay.core.errors import UnknownOption
from assay.core.options import Declared, offered
from assay.core.run_options import RunOptions

S = TypeVar("S", bound=msgspec.Struct)


def with_fields(body: type[S], kinds: Mapping[str, Any]) -> type[S]:
    """A body with further fields of the given types; a missing one is None, empty, or its type's first word."""
    fields = [(name, kind, unsaid(kind)) for name, kind in kinds.items()]
    return cast(
        "type[S]",
        msgspec.defstruct(
            body.__name__, fields, bases=(body,), namespace={"__doc__": body.__doc__}, module=body.__module__,
            frozen=True, kw_only=True, forbid_unknown_fields=True,
        ),
    )  # fmt: skip


def sent(option: Declared, kind: Any) -> Any:
    """The type of an option in a body: `kind`, if that sets one."""
    if kind is not msgspec.UNSET:
        return kind
    parts = get_args(option.data) if get_origin(option.data) is Union else (option.data,)
    return Union[tuple(map(_field_type, parts))]  # noqa: UP007 - made of several


def _field_type(kind: Any) -> Any:
    match get_origin(kind), get_args(kind):
        case abc.Sequence, (each,):
            return GenericAlias(tuple, (each, ...))
        case abc.Mapping, pair:
            return GenericAlias(dict, pair)
    return kind


def unsaid(kind: Any) -> Any:
    """The default of a field with this type."""
    if NoneType in get_args(kind):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return (get_origin(kind) or kind)()


F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F) -> F:
    """Give a function that takes `**options` a signature with each option that MCP offers."""
    whole = inspect.signature(function, eval_str=True)
    named = [each for each in whole.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    options = [*_arguments()]
    changed = {each.name: each.annotation for each in (*named, *options)} | {"return": whole.return_annotation}
    function.__annotations__ = changed
    function.__signature__ = whole.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
    return function


def _arguments() -> Iterable[Parameter]:
    for name, (each, offer) in offered(RunOptions, "mcp").items():
        kind = sent(each, offer.sent)
        described: Any = Annotated.__class_getitem__((kind, Field(description=offer.about)))  # type: ignore[attr-defined]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=unsaid(kind), annotation=described)


def check_names(tool: str, given: Mapping[str, object], known: Iterable[str]) -> None:
    """Refuse a misspelt argument of the tool.

    Other names are passed over: clients add arguments of their own to every call.

    Raises:
        ToolError: as `UnknownOption` says it.
    """
    known = tuple(known)
    for name in given:
        if name not in known and difflib.get_close_matches(name, known, n=1):
            raise ToolError(str(UnknownOption(tool, name, known)))
