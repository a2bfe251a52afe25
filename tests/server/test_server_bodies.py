"""Bodies which come too slowly, and small rules of the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from simulated_time import in_simulated_time
from starlette.datastructures import Headers

from assay.core.errors import Cancelled, StoreError, UnknownName
from assay.core.events import Envelope
from assay.server import guards
from assay.server.guards import LimitedBody
from assay.server.openai.calls import WaitingResponse
from assay.server.problems import Refusal, problem_of, problems
from assay.server.representations import accepts
from assay.server.streams import ACCESS, HEARTBEAT, RETRY_FRAME, EventStream, Tickets, run_frames, type_filter


def body(messages: list[dict[str, Any]], **headers: str) -> LimitedBody:
    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    return LimitedBody(Headers({name.replace("_", "-"): value for name, value in headers.items()}), receive)


async def test_a_body_which_does_not_go_on_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "BODY_SECONDS", 0.05)
    slow = body([{"type": "http.request", "body": b"{", "more_body": True}])
    assert (await slow.receive())["body"] == b"{"
    with pytest.raises(Refusal) as refused:
        await slow.receive()
    assert refused.value.problem.status == 408


async def test_behind_its_end_a_connection_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "BODY_SECONDS", 0.05)
    whole = body([{"type": "http.request", "body": b"{}", "more_body": False}])
    await whole.receive()
    with pytest.raises(TimeoutError):  # of the test, not of the body
        async with asyncio.timeout(0.2):
            await whole.receive()


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("", "text/event-stream"),
        ("*/*", "text/event-stream"),
        ("application/json", "application/json"),
        ("application/json, text/event-stream;q=0.5", "application/json"),
        ("text/*;q=0.2, application/json;q=0.1", "text/event-stream"),
        ("text/html", ""),
        ("text/event-stream;q=0, */*;q=0.1", "application/json"),
        ("application/json;q=x", ""),
    ],
)
def test_what_is_accepted_is_chosen_as_http_says(header: str, chosen: str) -> None:
    assert accepts({"accept": header} if header else {}, ("text/event-stream", "application/json")) == chosen


def test_types_are_picked_by_name_and_group() -> None:
    wanted = type_filter(("report.*", "run.completed"))
    assert [name for name in ("report.delta", "reports.x", "run.completed", "run.failed") if wanted(name)] == [
        "report.delta",
        "run.completed",
    ]
    assert type_filter(())("anything")


async def test_silence_is_filled_with_a_comment() -> None:
    event = Envelope(seq=7, run_id="r", at="", path=(), type="run.started", data=msgspec.Raw(b"{}"))

    async def groups():
        yield ()
        yield (event,)

    chunks = [chunk async for chunk in run_frames(groups(), type_filter(()))]
    assert chunks[1].startswith(b":")
    assert chunks[2].startswith(b"id: 7\nevent: run.started\ndata: {")


@pytest.mark.parametrize("error", [StoreError("the database is away"), UnknownName("run", "x", ()), Cancelled("stop")])
async def test_a_stream_that_cannot_go_on_ends_like_any_other(error: Exception) -> None:
    sent, counted = list[dict[str, Any]](), Tickets(1, 1)

    async def chunks():
        yield b"data: 1\n\n"
        raise error

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    stream = EventStream(chunks(), counted.ticket("ana"))
    await stream({"type": "http", "asgi": {"spec_version": "2.4"}}, asyncio.Event().wait, send)
    assert b"".join(each.get("body", b"") for each in sent) == b"data: 1\n\n" + RETRY_FRAME
    assert (sent[-1]["more_body"], counted.total) == (False, 0)


@pytest.mark.parametrize("may", [True, False])
@in_simulated_time
async def test_an_answer_is_not_for_who_lost_access_while_waiting(may: bool) -> None:
    sent = list[dict[str, Any]]()

    async def groups():
        for _ in range(10):
            await asyncio.sleep(HEARTBEAT)
            yield ()

    async def access() -> bool:
        return may

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    waiting = WaitingResponse(groups(), Tickets(1, 1).ticket("bob"), lambda _: None, lambda: {"report": "it"})
    scope = {"type": "http", "asgi": {"spec_version": "2.4"}, "state": {ACCESS: access}}
    await waiting(scope, asyncio.Event().wait, send)
    assert (b"report" in b"".join(each.get("body", b"") for each in sent)) is may


def test_every_error_of_the_library_has_a_problem() -> None:
    from assay.core import errors

    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.AssayError)]
    made = {kind: kind.__new__(kind) for kind in kinds if kind is not errors.AssayError}
    for error in made.values():
        error.__dict__.update(kind="run", name="x", known=(), seconds=None, retry_after=0)
    codes = {kind.__name__: problem_of(error).type.rpartition(":")[2] for kind, error in made.items()}
    assert {name for name, code in codes.items() if code == "bug"} == set()
    assert set(codes.values()) <= problems().keys()
