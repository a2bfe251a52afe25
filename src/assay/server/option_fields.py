"""Options of a run as fields of clients' bodies: their types in data, and their defaults."""

from __future__ import annotations

from collections import abc
from collections.abc import Mapping
from types import GenericAlias, NoneType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec

from assay.core.options import Declared

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
