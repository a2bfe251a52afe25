"""What every model adapter must do, over every adapter that needs no network."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.core.messages import CallDone, Delta, Message, Reply, Request, Task, TextDelta, ToolDefinition
from assay.core.ports import Access, Model
from assay.models.extractive import create as create_extractive
from assay.models.script import Scripted, calls, says

SHOWN = "## S1001 Bug Fix Releases <https://peps.example/pep-0006/>\n[S1001.0] PEP: 6\n[S1001.1] Status: Superseded"


def scripted() -> Model:
    return Scripted(
        [
            says("A plan, in a few words, which is streamed in pieces.", task="plan", repeat=True),
            calls(("search", {"query": "a"}), ("search", {"query": "b"}), text="Two searches.", repeat=True),
        ]
    )


def extractive() -> Model:
    return create_extractive("extractive", Access())


MODELS = [scripted, extractive]
TASKS: list[Task] = ["triage", "background", "plan", "orchestrate", "research", "find", "write", "answer"]


def request(task: Task) -> Request:
    tools = tuple(ToolDefinition(name=name, description="", parameters={}) for name in ("search", "open"))
    question = "What is the status of PEP 6?"
    messages = (
        Message(role="user", name="question", text=question),
        Message(role="user", name="brief", text=f'{{"question":"{question}"}}'),
        Message(role="user", name="task", text=question),
        Message(role="tool", call_id="call-1", text=SHOWN),
        Message(role="user", name="evidence", text=SHOWN),
        Message(role="user", name="findings", text="Task: x\nStatus of PEP 6 (Bug Fix Releases): Superseded [S1001.1]"),
    )
    return Request(task=task, system="You are tested.", messages=messages, tools=tools)


async def play(model: Model, asked: Request) -> tuple[list[Delta], list[Reply]]:
    deltas: list[Delta] = []
    replies: list[Reply] = []
    async for part in model.stream(asked):
        if isinstance(part, Reply):
            replies.append(part)
        else:
            assert not replies, "a delta after the reply"
            deltas.append(part)
    return deltas, replies


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("task", TASKS)
async def test_deltas_add_up_to_exactly_one_reply(make: Callable[[], Model], task: Task) -> None:
    deltas, replies = await play(make(), request(task))
    (reply,) = replies
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.text
    done = [delta for delta in deltas if isinstance(delta, CallDone)]
    assert tuple(delta.call for delta in done) == reply.calls
    assert [delta.index for delta in done] == list(range(len(done)))
    assert reply.text or reply.calls
    assert reply.stop == ("calls" if reply.calls else "end")


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("task", TASKS)
async def test_a_deterministic_model_repeats_itself(make: Callable[[], Model], task: Task) -> None:
    model = make()
    assert model.profile.deterministic
    assert await play(model, request(task)) == await play(model, request(task))


@pytest.mark.parametrize("make", MODELS)
async def test_a_reply_names_its_model_and_counts_its_use(make: Callable[[], Model]) -> None:
    model = make()
    _, (reply,) = await play(model, request("plan"))
    assert reply.model == model.profile.name
    assert reply.usage.model_calls == 1
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("make", MODELS)
async def test_call_ids_differ_within_a_reply(make: Callable[[], Model]) -> None:
    _, (reply,) = await play(make(), request("background"))
    ids = [call.id for call in reply.calls]
    assert len(ids) > 1
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("make", MODELS)
async def test_a_stream_can_be_left_early(make: Callable[[], Model]) -> None:
    stream = make().stream(request("plan"))
    first = await anext(stream)
    await stream.aclose()
    assert isinstance(first, TextDelta)
