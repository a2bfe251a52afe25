"""`/v1/responses`: start one and wait for it, stream it, or leave it; read it later, from any event on; end it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.server.openai.calls import DONE, WaitingResponse, begin_run, caller_of, events, json_response, ticket_for
from assay.server.openai.requests import ResponseRequest, response_run
from assay.server.openai.response_stream import ResponseProjection
from assay.server.openai.text import read_model, response_id, run_id_of
from assay.server.problems import Fault, refusal, whole_number
from assay.server.protocol_runs import CANCEL_SECONDS, Caller
from assay.server.streams import HEARTBEAT_FRAME, EventStream, frame
from assay.server.wire import read_body


class DeletedResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A response is gone."""

    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


class InputText(msgspec.Struct, frozen=True, kw_only=True):
    """A text of the input."""

    type: Literal["input_text"] = "input_text"
    text: str


class InputItem(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the input."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["user"] = "user"
    status: Literal["completed"] = "completed"
    content: tuple[InputText, ...]


class InputItems(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a response: its question."""

    object: Literal["list"] = "list"
    data: tuple[InputItem, ...]
    first_id: str
    last_id: str
    has_more: bool = False


async def create(request: Request) -> Response:
    """`POST /v1/responses`."""
    body = await read_body(request, ResponseRequest)
    caller = caller_of(request)
    run_request = response_run(body, await read_model(caller.assay, body.model))
    if body.previous_response_id:
        await _find_run(caller, body.previous_response_id, "previous_response_id")
    run_id, ticket = await begin_run(request, body, run_request)
    projection = ResponseProjection()
    if body.stream:
        return EventStream(frames(events(caller, run_id), projection, -1), ticket)
    if body.background:
        ticket.close()
        return json_response((await replay_events(caller, run_id, projection)).response)
    return WaitingResponse(events(caller, run_id), ticket, projection.add_event, lambda: projection.response)


async def retrieve(request: Request) -> Response:
    """`GET /v1/responses/{id}`: its state, or its stream after an event."""
    caller, run_id = await _caller_and_run(request)
    query = request.query_params
    wants_stream = query.get("stream", "").lower() in ("true", "1") and request.method != "HEAD"
    projection = ResponseProjection([*query.getlist("include"), *query.getlist("include[]")])
    if wants_stream:
        begins = query.get("starting_after", "")
        after = whole_number(begins) if begins else -1
        if after is None:
            raise refusal("invalid", f"starting_after is the number of an event, not {begins[:40]!r}")
        parts = frames(events(caller, run_id), projection, after)
        return EventStream(parts, ticket_for(request))
    return json_response((await replay_events(caller, run_id, projection)).response)


async def cancel(request: Request) -> Response:
    """`POST /v1/responses/{id}/cancel`; changes nothing if it has ended."""
    caller, run_id = await _caller_and_run(request)
    if (await caller.assay.find(run_id)).status not in FINAL:
        await caller.assay.control(run_id, "cancel", wait=CANCEL_SECONDS)
    return json_response((await replay_events(caller, run_id, ResponseProjection())).response)


async def delete(request: Request) -> Response:
    """`DELETE /v1/responses/{id}`; deletes the run, and cancels it first if it is active."""
    caller, run_id = await _caller_and_run(request)
    await caller.remove(run_id)
    return json_response(DeletedResponse(id=response_id(run_id)))


async def input_items(request: Request) -> Response:
    """`GET /v1/responses/{id}/input_items`."""
    caller, run_id = await _caller_and_run(request)
    item = InputItem(id=f"in_{run_id}", content=(InputText(text=(await caller.view(run_id)).question),))
    return json_response(InputItems(data=(item,), first_id=item.id, last_id=item.id))


async def frames(
    groups: AsyncIterator[Sequence[Envelope]], projection: ResponseProjection, after: int
) -> AsyncIterator[bytes]:
    """The parts of a stream after number `after` as server-sent events, until the run ends.

    If the server stops before, the stream ends without its last event, and continues with `starting_after`; if the run
    was deleted, it cannot continue.
    """
    try:
        async for group in groups:
            parts = [part for envelope in group for part in projection.add_event(envelope)]
            new = [part for part in parts if part.sequence_number > after]
            if chunk := b"".join(frame(msgspec.json.encode(part), event=part.type) for part in new):
                yield chunk
            elif not group:
                yield HEARTBEAT_FRAME
    except (Cancelled, UnknownName):
        return
    yield DONE


async def replay_events(caller: Caller, run_id: str, projection: ResponseProjection) -> ResponseProjection:
    """The projection after all events of a run so far."""
    for envelope in await caller.assay.events(run_id):
        projection.add_event(envelope)
    return projection


async def _caller_and_run(request: Request) -> tuple[Caller, str]:
    """The caller, and the run whose response is in the path.

    Raises:
        Refusal: there is none.
    """
    caller = caller_of(request)
    return caller, await _find_run(caller, request.path_params["id"])


async def _find_run(caller: Caller, id: str, field: str = "") -> str:
    """The run whose response has this id, which is in the path or in a `field` of the body.

    Raises:
        Refusal: there is none.
    """
    try:
        run_id = run_id_of(id)
        if (await caller.assay.find(run_id)).run_id == run_id:  # the start of an id does not count
            return run_id
    except UnknownName:
        pass
    unknown = f"there is no response {id!r}"
    if field:
        raise refusal("invalid", unknown, errors=(Fault(pointer=f"/{field}", detail=unknown),))
    raise refusal("unknown-name", unknown)


ROUTES = (
    Route("/v1/responses", create, methods=["POST"]),
    Route("/v1/responses/{id}", retrieve, methods=["GET"]),
    Route("/v1/responses/{id}", delete, methods=["DELETE"]),
    Route("/v1/responses/{id}/cancel", cancel, methods=["POST"]),
    Route("/v1/responses/{id}/input_items", input_items, methods=["GET"]),
)
