"""Shared by both of OpenAI's protocols: the caller, a run for a request, a response that keeps its connection alive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope
from assay.server.backend import assay_of, backend_of, owner_of
from assay.server.openai.requests import AskedRun
from assay.server.problems import Problem
from assay.server.protocol_runs import HEARTBEAT_SECONDS, Caller, request_key
from assay.server.streams import Ticket, while_allowed

JSON = "application/json"
DONE = b"data: [DONE]\n\n"


def caller_of(request: Request) -> Caller:
    """The caller."""
    return Caller(assay_of(request), backend_of(request), owner_of(request))


async def begin_run(request: Request, body: msgspec.Struct, run_request: AskedRun) -> tuple[str, Ticket]:
    """Start the requested run; return its id, and the ticket for the response that waits for it.

    A repeated request gets the run it has started.

    Raises:
        Refusal: the user has as many streams open as allowed; nothing is started.
        UsageError, UnknownName: as `Assay.create`.
    """
    caller = caller_of(request)
    idempotency_key = request.headers.get("idempotency-key", "")
    key = request_key("openai", caller.owner, request.url.path, idempotency_key, body)
    may_repeat = bool(idempotency_key) or request.headers.get("x-stainless-retry-count", "0") != "0"
    if run_request.named and not run_request.wanted.get("continues") and await caller.has_ended(run_request.named):
        run_request.wanted["continues"] = run_request.named
    ticket = ticket_for(request)
    try:
        run_id = await caller.begin(
            run_request.question, key=key, may_repeat=may_repeat, sources=run_request.sources, **run_request.wanted
        )
    except BaseException:
        ticket.close()
        raise
    return run_id, ticket


def ticket_for(request: Request) -> Ticket:
    """Permission to keep a connection open for long.

    Raises:
        Refusal: the user has as many open as allowed.
    """
    return backend_of(request).streams.ticket(owner_of(request))


def json_response(value: object) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), media_type=JSON)


class WaitingResponse(StreamingResponse):
    """A slow JSON response: white space is sent before it, so that nobody considers the connection dead.

    A problem is answered with its own status, unless white space was sent before it. There is no answer for a user who
    may no longer read it.
    """

    media_type = JSON

    def __init__(
        self,
        groups: AsyncIterator[Sequence[Envelope]],
        ticket: Ticket,
        take: Callable[[Envelope], object],
        result: Callable[[], object],
    ) -> None:
        """Take every event of `groups`, then answer with the `result`, which may be a problem."""

        async def chunks() -> AsyncIterator[bytes]:
            try:
                async for group in groups:
                    for envelope in group:
                        take(envelope)
                    if not group:
                        yield b"\n"
            except (Cancelled, UnknownName):  # the server stops, and the next one continues the run; or it was deleted
                pass
            answer = result()
            yield self._refuse(answer) if isinstance(answer, Problem) else msgspec.json.encode(answer)

        self._chunks, self._ticket = chunks(), ticket
        super().__init__(self._chunks, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    def _refuse(self, problem: Problem) -> bytes:
        """The body of a refusal; its status and headers count only if nothing was sent yet."""
        refused = error_response(problem)
        self.status_code = refused.status_code
        self.headers.update({name: text for name, text in refused.headers.items() if name != "content-length"})
        if problem.retry_after is None:
            self.headers["x-should-retry"] = "false"  # a client that repeats the request would pay for another run
        return bytes(refused.body)

    async def stream_response(self, send: Send) -> None:
        """Send the head together with the first piece of the body, which decides the status."""
        pieces = aiter(self.body_iterator)
        first = await anext(pieces)

        async def all_pieces() -> AsyncIterator[Any]:
            yield first
            async for piece in pieces:
                yield piece

        self.body_iterator = all_pieces()
        await super().stream_response(send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body_iterator = while_allowed(self._chunks, scope)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ticket.close()


def events(caller: Caller, run_id: str) -> AsyncIterator[Sequence[Envelope]]:
    """The log of a run from its first event, until it ends."""
    return caller.groups(run_id, idle_seconds=HEARTBEAT_SECONDS)


# Refusals in OpenAI's form of an error.

_TYPES = {404: "not_found", 429: "too_many_requests", 401: "authentication_error", 403: "permission_error"}


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """An error: `code` is ours, `type` one of those clients know."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a refusal."""

    error: ErrorBody


def error_response(problem: Problem) -> Response:
    """A problem in the form of this protocol."""
    status = 400 if problem.status == 422 else problem.status  # clients only know this one
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    return Response(msgspec.json.encode(error_body(problem)), status, headers, JSON)


def error_body(problem: Problem) -> ErrorAnswer:
    """A problem as an error; if a field of the request is wrong, `param` names it."""
    kind = _TYPES.get(problem.status, "server_error" if problem.status >= 500 else "invalid_request")
    param = problem.errors[0].pointer.strip("/").replace("/", ".") if problem.errors else None
    code = problem.type.rpartition(":")[2].replace("-", "_")
    return ErrorAnswer(
        error=ErrorBody(message=problem.detail or problem.title, type=kind, param=param or None, code=code)
    )
