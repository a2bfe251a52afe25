"""The scripted model: which scene answers, how it fails, and scripts in files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ConfigError, ContextTooLong, ModelError
from assay.core.messages import Message, Reply, Request, Task, TextDelta, ToolCall
from assay.core.ports import Access
from assay.models.script import Scene, Scripted, ScriptExhausted, calls, create, fails, says, turn


def asked(task: Task = "research", text: str = "", turns: int = 0) -> Request:
    past = tuple(Message(role="assistant", text="before") for _ in range(turns))
    return Request(task=task, system="", messages=(Message(role="user", name="task", text=text), *past))


async def reply_to(model: Scripted, request: Request) -> Reply:
    parts = [part async for part in model.stream(request)]
    assert isinstance(parts[-1], Reply)
    return parts[-1]


async def test_scenes_of_one_task_are_played_in_order_whatever_other_tasks_ask() -> None:
    model = Scripted([says("r1", task="research"), says("f1", task="find"), says("r2", task="research")])
    tasks: list[Task] = ["find", "research", "research"]
    assert [(await reply_to(model, asked(task))).text for task in tasks] == ["f1", "r1", "r2"]
    assert model.unused == ()


async def test_agents_at_once_get_their_own_scenes_in_any_order() -> None:
    script = [says("about tea", contains="tea"), says("about coffee", contains="coffee")]
    for order in (["tea", "coffee"], ["coffee", "tea"]):
        model = Scripted(script)
        for drink in order:
            assert (await reply_to(model, asked(text=f"Find {drink}."))).text == f"about {drink}"


async def test_a_scene_may_ask_for_a_turn_or_any_predicate() -> None:
    model = Scripted([says("third", turn=2), says("long", when=lambda request: len(request.messages[0].text) > 5)])
    assert (await reply_to(model, asked(text="longer text"))).text == "long"
    assert (await reply_to(model, asked(turns=2))).text == "third"


async def test_requests_are_kept_and_an_unforeseen_one_is_a_bug_of_the_script() -> None:
    model = Scripted([says("one", task="plan")])
    with pytest.raises(ScriptExhausted, match="research"):
        await reply_to(model, asked())
    assert [request.task for request in model.requests] == ["research"]


async def test_failures_come_before_the_first_token_or_midway() -> None:
    model = Scripted([fails("busy", retry_after=2.0), fails("cut", partial="Half a sent", transient=False)])
    with pytest.raises(ModelError) as first:
        await reply_to(model, asked())
    assert (first.value.transient, first.value.retry_after) == (True, 2.0)
    seen: list[object] = []

    async def listen() -> None:
        async for part in model.stream(asked()):
            seen.append(part)  # noqa: PERF401 - what came before the failure is kept

    with pytest.raises(ModelError, match="cut"):
        await listen()
    assert "".join(part.text for part in seen if isinstance(part, TextDelta)) == "Half a sent"


async def test_a_request_can_be_too_long() -> None:
    with pytest.raises(ContextTooLong):
        await reply_to(Scripted([Scene(answer=ContextTooLong("9,000 of 8,000 tokens"))]), asked())


async def test_a_scene_hangs_until_its_event_is_set() -> None:
    event = asyncio.Event()
    model = Scripted([says("late answer", hang=event, partial="late")])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reply_to(Scripted([says("x", hang=event)]), asked()), 0.02)
    asyncio.get_running_loop().call_later(0.02, event.set)
    assert (await asyncio.wait_for(reply_to(model, asked()), 60)).text == "late answer"


async def test_a_function_may_answer() -> None:
    model = Scripted(lambda request: Reply(text=request.task.upper()))
    assert (await reply_to(model, asked("judge"))).text == "JUDGE"


@given(st.text(max_size=200), st.integers(1, 30))
def test_streamed_pieces_join_to_the_text(text: str, size: int) -> None:
    async def pieces() -> str:
        stream = Scripted([says(text)], chunk=size).stream(asked())
        return "".join([part.text async for part in stream if isinstance(part, TextDelta)])

    assert asyncio.run(pieces()) == text


def script(path: Path, scenes: list[dict[str, object]]) -> str:
    path.write_text(json.dumps(scenes), encoding="utf-8")
    return f"scripted:{path}"


async def test_a_script_in_a_file_answers_by_turn_and_logs_each_call(tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    search = {"calls": [{"name": "search", "arguments": {"query": "tea"}}]}
    name = script(
        tmp_path / "script.json",
        [
            {"task": "research", "turn": 0, "reply": search, "log": str(log), "delay_ms": 1},
            {"task": "research", "turn": 1, "reply": {"text": "Done."}, "log": str(log)},
        ],
    )
    for _ in range(2):  # as two processes would: nothing is used up
        model = create(name, Access())
        first = await reply_to(model, asked())
        assert first.calls == (ToolCall(id="call-0", name="search", arguments={"query": "tea"}),)
        assert (await reply_to(model, asked(turns=1))).text == "Done."
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["turn"] for line in lines] == [0, 1, 0, 1]


async def test_a_script_in_a_file_may_fail(tmp_path: Path) -> None:
    model = create(script(tmp_path / "script.json", [{"task": "research", "error": "overloaded"}]), Access())
    with pytest.raises(ModelError, match="overloaded") as caught:
        await reply_to(model, asked())
    assert not caught.value.transient


@pytest.mark.parametrize(
    "text", ["{}", "[{}]", '[{"reply": {}, "error": "both"}]', '[{"reply": {"text": "a"}, "tusk": "plan"}]', "not json"]
)
def test_a_bad_script_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.json"):
        create(f"scripted:{path}", Access())


def test_a_script_must_be_named() -> None:
    with pytest.raises(ConfigError, match="scripted:/path"):
        create("scripted", Access())


def test_turn_counts_replies() -> None:
    assert turn(asked(turns=3)) == 3
    assert calls(("a", {})).answer.stop == "calls"  # type: ignore[union-attr]
