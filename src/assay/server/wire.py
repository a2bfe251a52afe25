"""Typed routes: a function's signature declares the path, query and body that it takes, and its response.

    @routes.get("/runs/{run}")
    async def show(call: Call, run: str, query: Shown) -> RunDetail: ...

Parameters named in the path are taken from there; `query` and `body` are structs. Invalid requests are refused before
the function is called. The OpenAPI document is made from the same signatures (`openapi`).
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_type_hints

import msgspec
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.app.assay import Assay
from assay.core.lazy import regex
from assay.core.ports.users import Permission
from assay.server.backend import Backend, backend_of, owner_of
from assay.server.gate import check_permission
from assay.server.guards import body_of
from assay.server.problems import DIGITS, Fault, Refusal, refusal


class _Number(IntegerConvertor):
    """A number in a path, but not one of thousands of digits, which Python refuses to read and `int` would match."""

    regex = rf"[0-9]{{1,{DIGITS}}}"


register_url_convertor("number", _Number())


# What a request has that its type does not allow: the place, and the names or values allowed there.

MAX_NAMES = 20
"""The most names or values listed in a message."""

KEY = "`key` in "
"""Begins the place in a message about an object's key."""

SOME_KEY = "[...]"
"""Stands in such a message for a key, which it does not tell."""

_UNKNOWN = regex(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = regex(r"Object missing required field `(.*)`", re.DOTALL)
_VALUE = regex(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def decode_refusal(error: msgspec.ValidationError, kind: type[msgspec.Struct], where: str) -> Refusal:
    """A decoding error as a problem, with a pointer and the allowed names or values.

    Args:
        error: `Invalid enum value 'deep' - at $.depth`, or another.
        kind: the type which was wanted of the whole.
        where: what does not fit: "the body".
    """
    reason, _, json_path = str(error).partition(" - at ")
    is_key = json_path.startswith(KEY)
    path = json_path.removeprefix(KEY).strip("`").removeprefix("$").replace(SOME_KEY, "/*")
    path = path.replace("[", "/").replace("]", "").replace(".", "/")
    types = tuple(_types_at(msgspec.inspect.type_info(kind), [part for part in path.split("/") if part]))
    pointer = path.partition("/*")[0]
    if is_key:
        types = tuple(candidate.key_type for candidate in types if isinstance(candidate, msgspec.inspect.DictType))
    expected: tuple[str, ...] = ()
    if match := _UNKNOWN.fullmatch(reason):
        expected = _fields(types)
        pointer = f"{pointer}/{match[1]}"
    elif match := _MISSING.fullmatch(reason):
        pointer = f"{pointer}/{match[1]}"
    elif match := _VALUE.fullmatch(reason):
        expected = _values(types)
    close_matches = difflib.get_close_matches(match[1], expected, n=1) if match and expected == _fields(types) else []
    if close_matches:
        detail = f"{reason}; did you mean {close_matches[0]!r}?"
    else:
        names = f"use one of: {', '.join(expected[:MAX_NAMES])}" if expected else "this route has no options"
        detail = f"{reason}; {names}" if expected or kind is NoOptions else reason
    fault = Fault(pointer=pointer, detail=detail)
    return refusal("invalid", f"{where} does not fit: {detail}", errors=(fault,), known=expected)


def _types_at(type: Any, steps: list[str]) -> Iterator[Any]:
    """The types that a value at this place may have: all members of unions."""
    if isinstance(type, msgspec.inspect.UnionType):
        for member in type.types:
            yield from _types_at(member, steps)
    elif isinstance(type, msgspec.inspect.Metadata):
        yield from _types_at(type.type, steps)
    elif not steps:
        yield type
    elif isinstance(type, msgspec.inspect.StructType):
        for field in type.fields:
            if field.encode_name == steps[0]:
                yield from _types_at(field.type, steps[1:])
    elif isinstance(
        type,
        msgspec.inspect.VarTupleType
        | msgspec.inspect.ListType
        | msgspec.inspect.SetType
        | msgspec.inspect.FrozenSetType,
    ):
        yield from _types_at(type.item_type, steps[1:])
    elif isinstance(type, msgspec.inspect.DictType):
        yield from _types_at(type.value_type, steps[1:])


def _fields(types: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(
        field.encode_name
        for struct_type in types
        if isinstance(struct_type, msgspec.inspect.StructType)
        for field in struct_type.fields
    )


def _values(types: tuple[Any, ...]) -> tuple[str, ...]:
    values = [
        str(value)
        for value_type in types
        if isinstance(value_type, msgspec.inspect.LiteralType)
        for value in value_type.values
    ]
    values += [
        str(value.value)
        for value_type in types
        if isinstance(value_type, msgspec.inspect.EnumType)
        for value in value_type.cls
    ]
    return tuple(values)


JSON = "application/json"
API_PATH = "/api/"
BODY_BYTES = 1_000_000
"""The largest JSON body in bytes; uploads have their own limit (`uploads`)."""

Handler = Callable[..., Awaitable[object]]
H = TypeVar("H", bound=Handler)
S = TypeVar("S", bound=msgspec.Struct)


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query or the body of a route that reads none."""


@dataclass(slots=True)
class RouteCall:
    """A request to a typed route. `headers` are added to its response; `status` replaces the route's status."""

    request: Request
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0

    @property
    def backend(self) -> Backend:
        """The backend that all requests share."""
        return backend_of(self.request)

    @property
    def owner(self) -> str:
        return owner_of(self.request)

    def set_subject(self, subject: str) -> None:
        """Set the action and subject for the audit log if the path does not name them; never a secret or question."""
        self.request.scope.setdefault("state", {})["about"] = subject

    def set_login(self, name: str) -> None:
        """Set who logs in, for the audit log: a user's name, "" for an unknown one."""
        self.request.scope.setdefault("state", {})["login"] = name

    @property
    def assay(self) -> Assay:
        """The library as the caller sees it."""
        return self.backend.assay_for(self.owner)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route and its types. `media` are the media types of a response that is not JSON, `takes` those of a body that
    is not.

    `scope` is the right that a token needs, "" if no login is needed. `body` is None if none is read. `headers` are the
    request headers that are read; `pages` is the type of the JSON response where other media types are offered too.
    """

    method: str
    path: str
    handler: Handler
    tag: str
    names: tuple[str, ...]
    query: type[msgspec.Struct] | None
    body: type[msgspec.Struct] | None
    result: Any
    status: int = 200
    scope: Permission | Literal[""] = "read"
    media: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    pages: type[msgspec.Struct] | None = None

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.handler.__name__

    @property
    def docstring_parts(self) -> tuple[str, str]:
        """The first line of the function's docstring, and the rest."""
        first, _, details = inspect.cleandoc(self.handler.__doc__ or "").partition("\n")
        return first, details.strip()

    async def handle(self, request: Request) -> Response:
        """Read the request, call the function, and write its result."""
        if self.scope:
            check_permission(request, self.scope)
        call = RouteCall(request)
        arguments: dict[str, object] = {name: request.path_params[name] for name in self.names}
        if self.query is not None:
            arguments["query"] = read_query(request, self.query)
        if self.body is not None:
            arguments["body"] = await read_body(request, self.body)
        if self.path.startswith(API_PATH):  # links and probes elsewhere may have parameters that others added
            await self._refuse_unknown(request)
        result = await self.handler(call, **arguments)
        if isinstance(result, Response):
            result.headers.update(call.headers)
            return result
        if result is None:
            return Response(status_code=call.status or 204, headers=call.headers)
        return Response(msgspec.json.encode(result), call.status or self.status, call.headers, JSON)

    async def _refuse_unknown(self, request: Request) -> None:
        """Refuse what a request to a route without options has: a query, or a body."""
        if self.query is None:
            read_query(request, NoOptions)
        if self.body is None and not self.takes and request.method not in ("GET", "HEAD"):
            await read_body(request, NoOptions)

    def route(self) -> Route:
        """The route in starlette's form."""
        return Route(self.path, self.handle, methods=[self.method], name=self.name)


class RouteOptions(TypedDict, total=False):
    """The declarations of a route besides its types; see `Endpoint`."""

    status: int
    scope: Permission | Literal[""]
    media: tuple[str, ...]
    takes: tuple[str, ...]
    headers: tuple[str, ...]
    pages: type[msgspec.Struct] | None


class Endpoints:
    """The routes of one subject, in the order of definition."""

    def __init__(self, tag: str, prefix: str = "/api/v1") -> None:
        self.tag, self._prefix = tag, prefix
        self.endpoints: list[Endpoint] = []

    def get(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that only reads; HEAD is answered too."""
        return self._add("GET", path, options)

    def post(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that starts or changes something."""
        return self._add("POST", path, {"scope": "write", **options})

    def put(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that replaces something."""
        return self._add("PUT", path, {"scope": "write", **options})

    def patch(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that changes parts of something."""
        return self._add("PATCH", path, {"scope": "write", **options})

    def delete(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that deletes something."""
        return self._add("DELETE", path, {"scope": "write", **options})

    def _add(self, method: str, path: str, options: RouteOptions) -> Callable[[H], H]:
        def add(handler: H) -> H:
            full_path = self._prefix + path
            hints = get_type_hints(handler)
            names = tuple(
                name for name in inspect.signature(handler).parameters if re.search(rf"\{{{name}[:}}]", full_path)
            )
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=full_path,
                    handler=handler,
                    tag=self.tag,
                    names=names,
                    query=hints.get("query"),
                    body=hints.get("body"),
                    result=hints.get("return"),
                    **options,
                )
            )
            return handler

        return add


def read_query(request: Request, kind: type[S]) -> S:
    """The query of a request; a list is comma-separated, or repeats its name.

    Raises:
        Refusal: an unknown parameter, or a value which does not fit.
    """
    fields: dict[str, object] = {}
    lists = _lists(kind)
    for name in request.query_params:
        values = request.query_params.getlist(name)
        if name in lists:
            fields[name] = [part.strip() for value in values for part in value.split(",") if part.strip()]
        else:
            fields[name] = values[-1]
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        raise decode_refusal(error, kind, "the query") from error


def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    list_types = (msgspec.inspect.ListType, msgspec.inspect.VarTupleType)
    info = msgspec.inspect.type_info(kind)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if isinstance(field.type, list_types))


async def read_body(request: Request, kind: type[S]) -> S:
    """The JSON body of a request; an empty one counts as an empty object.

    Raises:
        Refusal: it is no JSON, too large, or does not fit.
    """
    body_of(request).max_bytes = BODY_BYTES
    data = await request.body()
    if not data:
        data = b"{}"
    elif request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise refusal("wrong-media-type", f"send the body as {JSON}")
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise decode_refusal(error, kind, "the body") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refusal("bad-request", f"the body is not JSON: {error}") from error


def struct_from(kind: type[S], original: object, **extra: object) -> S:
    """What the API shows of something: what `kind` has under the same names, and `extra`."""
    same = {
        name: getattr(original, name)
        for name in kind.__struct_fields__
        if name not in extra and hasattr(original, name)
    }
    return kind(**same, **extra)


def format_timestamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 UTC, "" for 0: never."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""
