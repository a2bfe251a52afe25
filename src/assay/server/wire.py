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
from collections.abc import Awaitable, Callable, Iterator, Mapping
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
from assay.core.sources import sha256
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
    reason, _, place = str(error).partition(" - at ")
    keyed = place.startswith(KEY)
    path = place.removeprefix(KEY).strip("`").removeprefix("$").replace(SOME_KEY, "/*")
    path = path.replace("[", "/").replace("]", "").replace(".", "/")
    there = tuple(_types_at(msgspec.inspect.type_info(kind), [part for part in path.split("/") if part]))
    pointer = path.partition("/*")[0]
    if keyed:
        there = tuple(each.key_type for each in there if isinstance(each, msgspec.inspect.DictType))
    known: tuple[str, ...] = ()
    if found := _UNKNOWN.fullmatch(reason):
        known = _fields(there)
        pointer = f"{pointer}/{found[1]}"
    elif found := _MISSING.fullmatch(reason):
        pointer = f"{pointer}/{found[1]}"
    elif found := _VALUE.fullmatch(reason):
        known = _values(there)
    near = difflib.get_close_matches(found[1], known, n=1) if found and known == _fields(there) else []
    if near:
        detail = f"{reason}; did you mean {near[0]!r}?"
    else:
        detail = f"{reason}; use one of: {', '.join(known[:MAX_NAMES])}" if known else reason
    fault = Fault(pointer=pointer, detail=detail)
    return refusal("invalid", f"{where} does not fit: {detail}", errors=(fault,), known=known)


def _types_at(type: Any, steps: list[str]) -> Iterator[Any]:
    """The types that a value at this place may have: all members of unions."""
    if isinstance(type, msgspec.inspect.UnionType):
        for each in type.types:
            yield from _types_at(each, steps)
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
        field.encode_name for each in types if isinstance(each, msgspec.inspect.StructType) for field in each.fields
    )


def _values(types: tuple[Any, ...]) -> tuple[str, ...]:
    listed = [str(value) for each in types if isinstance(each, msgspec.inspect.LiteralType) for value in each.values]
    listed += [str(value.value) for each in types if isinstance(each, msgspec.inspect.EnumType) for value in each.cls]
    return tuple(listed)


JSON = "application/json"
BODY_BYTES = 1_000_000
"""The largest JSON body in bytes; uploads have their own limit (`uploads`)."""

Handler = Callable[..., Awaitable[object]]
H = TypeVar("H", bound=Handler)
S = TypeVar("S", bound=msgspec.Struct)


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
        """The owner of the request."""
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
        first, _, rest = inspect.cleandoc(self.handler.__doc__ or "").partition("\n")
        return first, rest.strip()

    async def handle(self, request: Request) -> Response:
        """Read the request, call the function, and write its result."""
        if self.scope:
            check_permission(request, self.scope)
        call = RouteCall(request)
        given: dict[str, object] = {name: request.path_params[name] for name in self.names}
        if self.query is not None:
            given["query"] = read_query(request, self.query)
        if self.body is not None:
            given["body"] = await read_body(request, self.body)
        result = await self.handler(call, **given)
        if isinstance(result, Response):
            result.headers.update(call.headers)
            return result
        if result is None:
            return Response(status_code=call.status or 204, headers=call.headers)
        return Response(msgspec.json.encode(result), call.status or self.status, call.headers, JSON)

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

    def get(self, path: str, **more: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that only reads; HEAD is answered too."""
        return self._add("GET", path, more)

    def post(self, path: str, **more: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that starts or changes something."""
        return self._add("POST", path, {"scope": "write", **more})

    def put(self, path: str, **more: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that replaces something."""
        return self._add("PUT", path, {"scope": "write", **more})

    def patch(self, path: str, **more: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that changes parts of something."""
        return self._add("PATCH", path, {"scope": "write", **more})

    def delete(self, path: str, **more: Unpack[RouteOptions]) -> Callable[[H], H]:
        """Declare a route that deletes something."""
        return self._add("DELETE", path, {"scope": "write", **more})

    def _add(self, method: str, path: str, more: RouteOptions) -> Callable[[H], H]:
        def add(handler: H) -> H:
            whole = self._prefix + path
            hints = get_type_hints(handler)
            names = tuple(
                name for name in inspect.signature(handler).parameters if re.search(rf"\{{{name}[:}}]", whole)
            )
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=whole,
                    handler=handler,
                    tag=self.tag,
                    names=names,
                    query=hints.get("query"),
                    body=hints.get("body"),
                    result=hints.get("return"),
                    **more,
                )
            )
            return handler

        return add


def read_query(request: Request, kind: type[S]) -> S:
    """The query of a request; a list is comma-separated, or repeats its name.

    Raises:
        Refusal: an unknown parameter, or a value which does not fit.
    """
    given: dict[str, object] = {}
    lists = _lists(kind)
    for name in request.query_params:
        values = request.query_params.getlist(name)
        if name in lists:
            given[name] = [part.strip() for value in values for part in value.split(",") if part.strip()]
        else:
            given[name] = values[-1]
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise decode_refusal(error, kind, "the query") from error


def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    listed = (msgspec.inspect.ListType, msgspec.inspect.VarTupleType)
    info = msgspec.inspect.type_info(kind)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return frozenset(each.encode_name for each in fields if isinstance(each.type, listed))


async def read_body(request: Request, kind: type[S]) -> S:
    """The JSON body of a request; an empty one counts as an empty object.

    Raises:
        Refusal: it is no JSON, too large, or does not fit.
    """
    body_of(request).most = BODY_BYTES
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


def struct_from(kind: type[S], of: object, **more: object) -> S:
    """What the API shows of something: what `kind` has under the same names, and `more`."""
    same = {name: getattr(of, name) for name in kind.__struct_fields__ if name not in more and hasattr(of, name)}
    return kind(**same, **more)


def format_timestamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 UTC, "" for 0: never."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else ""


def etag_of(text: str) -> str:
    """The ETag of a text."""
    return f'"{sha256(text.encode())[:20]}"'


def accepts(headers: Mapping[str, str], offered: tuple[str, ...]) -> str:
    """The media type offered that the client prefers (RFC 9110, 12.5.1), the first of equals; "" for none.

    Without a header all are.
    """
    accept = headers.get("accept", "").strip() or "*/*"
    wanted = [_accepted_type(part) for part in accept.split(",") if part.strip()]
    best, most = "", 0.0
    for type in offered:
        fits = [(len(pattern.rstrip("*")), quality) for pattern, quality in wanted if _fits(pattern, type)]
        quality = max(fits)[1] if fits else 0.0
        if quality > most:
            best, most = type, quality
    return best


def _accepted_type(part: str) -> tuple[str, float]:
    pattern, *parameters = (each.strip().lower() for each in part.split(";"))
    given = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        return pattern, min(max(float(given), 0.0), 1.0)
    except ValueError:
        return pattern, 0.0


def _fits(pattern: str, type: str) -> bool:
    return pattern in ("*/*", type) or (pattern.endswith("/*") and type.startswith(pattern[:-1]))
