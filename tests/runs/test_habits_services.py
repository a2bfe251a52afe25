"""Whole runs against services with the habits of real ones: the run is the same as with a service that has none."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from chat_server import USAGE, Answer, chat_server, chunk
from research import Log, Sea, kinds, whole
from sampling import crossed
from services import STRATEGIES, Habit, Habitual, Say, near, played, refusing, stop_word, streamed

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import AssayError, ModelUnusable
from assay.core.messages import Reply, ToolCall
from assay.core.ports import Access, World
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.models import openai
from assay.models.script import Scripted
from assay.run.process import SystemClock

THOUGHT = "Hmm, the user wants to know it. Let me look at what was found."


async def same(habit: Habit, strategy: str, name: str = "mine:m") -> list[dict[str, Any]]:
    """Play a run which must come out as it does without HTTP; the bodies which the service was sent."""
    log, sent = await played(habit, strategy, name)
    plain = await near(strategy)
    noise = ("think.started", "think.delta", "think.finished", "step.restarted")
    assert sorted(kinds(log, *noise)) == sorted(kinds(plain, *noise))  # two agents at once, in whatever order
    assert log.text == plain.text
    assert whole(log)
    assert all(attempt.outcome == "ok" for attempt in log.of(e.ModelAttempted))
    return sent


def forced(body: dict[str, Any]) -> bool:
    return body.get("tool_choice") == "required" or isinstance(body.get("tool_choice"), dict)


UNSUPPORTED = "Unsupported parameter: '{0}' is not supported with this model."
REFUSALS: dict[str, tuple[Habit, str]] = {
    "a demanded call": (refusing(forced, 400, "tool_choice: only 'auto' and 'none' are supported"), "mine:m"),
    "a forbidden call": (
        refusing(lambda body: body.get("tool_choice") == "none", 400, UNSUPPORTED.format("none"), "tool_choice"),
        "mine:m",
    ),
    "tool_choice": (
        refusing(
            lambda body: "tool_choice" in body, 404, "No endpoints found that support the provided 'tool_choice' value."
        ),
        "mine:m",
    ),
    "stream_options": (
        refusing(lambda body: "stream_options" in body, 422, "body.stream_options: Extra inputs are not permitted"),
        "mine:m",
    ),
    "max_tokens": (
        refusing(
            lambda body: "max_tokens" in body,
            400,
            f"{UNSUPPORTED.format('max_tokens')} Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        "mine:m",
    ),
    "a large cap": (
        refusing(
            lambda body: body.get("max_tokens", 0) > 900,
            400,
            "max_tokens is too large: 1024. This model supports at most 900 completion tokens.",
            "max_tokens",
        ),
        "mine:m",
    ),
    "reasoning_effort": (
        refusing(lambda body: "reasoning_effort" in body, 400, "Unrecognized request argument: reasoning_effort"),
        "mine:gpt-5",
    ),
    "response_format": (
        refusing(
            lambda body: "response_format" in body, 400, "This model does not support response format `json_schema`."
        ),
        "mine:m",
    ),
    "a system role": (
        refusing(
            lambda body: any(message["role"] in ("system", "developer") for message in body["messages"]),
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
        ),
        "mine:m",
    ),
    "a template without a system role": (
        refusing(
            lambda body: body["messages"][0]["role"] == "system", 500, "Jinja Exception: System role not supported"
        ),
        "mine:m",
    ),
    "streams": (
        refusing(lambda body: "stream_options" in body, 400, UNSUPPORTED.format("stream"), "stream"),
        "mine:m",
    ),
}


@pytest.mark.parametrize(("refused", "strategy"), crossed(REFUSALS, [*STRATEGIES]))
async def test_what_a_service_refuses_is_left_out_and_not_sent_again(refused: str, strategy: str) -> None:
    habit, name = REFUSALS[refused]
    answers: list[int] = []

    async def counted(body: dict[str, Any], say: Say) -> Answer:
        answer = await habit(body, say)
        answers.append(answer.status)
        return answer

    await same(counted, strategy, name)
    assert 1 <= sum(status != 200 for status in answers) <= 2  # once for each way of demanding it, then never again


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_model_without_tools_calls_them_in_words(strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        if "tools" in body:
            return await refusing(lambda _: True, 400, "registry.ollama.ai/library/m does not support tools")(body, say)
        assert all(message["role"] in ("system", "user", "assistant") for message in body["messages"])
        reply = await say()
        written = [{"name": call.name, "arguments": call.arguments} for call in reply.calls]
        text = json.dumps(written if len(written) > 1 else written[0]) if written else reply.text
        return streamed(Reply(text=text))

    log, sent = await played(habit, strategy)
    assert log.text == (await near(strategy)).text
    assert sum("tools" in body for body in sent) == 1
    assert whole(log)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_json_is_asked_for_by_its_schema_where_it_is_taken(strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        return streamed(await say())

    sent = await same(habit, strategy)
    forms = [body["response_format"]["json_schema"]["name"] for body in sent if "response_format" in body]
    assert forms == (["plan"] if strategy == "orchestrated" else ["plan", "decision", "decision"])


@pytest.mark.parametrize(("way", "strategy"), crossed(["no finish", "no stream"], [*STRATEGIES]))
async def test_a_reply_is_whole_however_it_ends(way: str, strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        if way == "no finish":
            return streamed(reply, finish=False)
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in reply.calls
        ]
        message = {"role": "assistant", "content": reply.text or None} | ({"tool_calls": calls} if calls else {})
        choice = {"index": 0, "message": message, "finish_reason": stop_word(reply)}
        return Answer([json.dumps({"id": "1", "choices": [choice], "usage": USAGE})], whole=True)

    await same(habit, strategy)


def _unmarked(reply: Reply) -> str:
    """Thinking before what has a form of its own: JSON, or prose which cites; nothing tells it from other prose."""
    formed = reply.text.startswith("{") or "[S" in reply.text
    return f"{THOUGHT}\n\n{reply.text}" if formed else reply.text


THINKING: dict[str, Callable[[Reply], Reply]] = {
    "tags": lambda reply: Reply(text=f"<think>\n{THOUGHT}</think>\n\n{reply.text}", calls=reply.calls),
    "thinking": lambda reply: Reply(text=f"<thinking>{THOUGHT}</thinking>{reply.text}", calls=reply.calls),
    "magistral": lambda reply: Reply(text=f"[THINK]{THOUGHT}[/THINK]{reply.text}", calls=reply.calls),
    "a lone tag": lambda reply: Reply(text=f"{THOUGHT}\n</think>\n\n{reply.text}", calls=reply.calls),
    "channels": lambda reply: Reply(
        text=f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{reply.text}",
        calls=reply.calls,
    ),
    "no mark": lambda reply: Reply(text=_unmarked(reply), calls=reply.calls),
    "a field": lambda reply: Reply(text=reply.text, thinking=THOUGHT, calls=reply.calls),
}


@pytest.mark.parametrize(("way", "strategy"), crossed(THINKING, [*STRATEGIES]))
async def test_thinking_is_cut_from_the_text_and_shown(way: str, strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        return streamed(THINKING[way](await say()), thinking="reasoning")

    log, _ = await played(habit, strategy)
    assert log.text == (await near(strategy)).text
    restarted = {seq for event in log.of(e.StepRestarted) for seq in event.dropped}
    events = (e.decode(each) for each in log.envelopes if each.seq not in restarted)
    thoughts = {event.text.strip() for event in events if isinstance(event, e.ThinkFinished)}
    assert thoughts == {THOUGHT}
    report = build_report(fold_events(log.envelopes))
    assert {thought.strip() for thought in report.thinking} == {THOUGHT}
    kept = {seq for event in log.of(e.StepRestarted) for seq in event.dropped}
    shown = [each for each in log.envelopes if each.seq not in kept and each.type in ("report.delta", "finding.delta")]
    assert THOUGHT[:20] not in "".join(e.decode(each).text for each in shown)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("shown", "strategy"), crossed([True, False], [*STRATEGIES]))
async def test_a_model_which_thinks_until_its_cap_is_asked_again_with_room(shown: bool, strategy: str) -> None:
    needed = 1_500

    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        if body["max_tokens"] < needed + len(reply.text) // 3:
            return streamed(Reply(thinking=THOUGHT if shown else "", stop="length"))
        return streamed(msgspec.structs.replace(reply, thinking=THOUGHT if shown else ""))

    log, sent = await played(habit, strategy)
    assert log.text == (await near(strategy)).text
    outcomes = [attempt.outcome for attempt in log.of(e.ModelAttempted)]
    assert outcomes.count("cut off while it was thinking") == 1  # later calls have room from the start
    assert sent[0]["max_tokens"] < needed < sent[1]["max_tokens"]
    assert len(sent) == len(outcomes)


async def test_a_call_which_its_service_did_not_take_is_taken() -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        if len(reply.calls) != 1:
            return streamed(reply)
        call = reply.calls[0]
        failed = json.dumps({"name": call.name, "arguments": call.arguments})
        error = {"message": "Tool call validation failed", "code": "tool_use_failed", "failed_generation": failed}
        return Answer(
            [chunk({"role": "assistant", "content": ""}), f"event: error\ndata: {json.dumps({'error': error})}\n\n"]
        )

    await same(habit, "orchestrated")


async def test_a_limit_of_tokens_told_in_a_stream_is_answered_with_a_shorter_request() -> None:
    received: list[int] = []

    async def habit(body: dict[str, Any], say: Say) -> Answer:
        size = len(json.dumps(body["messages"]))
        if any(message["role"] == "tool" for message in body["messages"]) and not received:
            received.append(size)
            error = {
                "code": 400,
                "message": "This endpoint's maximum context length is 4096 tokens. However, you requested 5000.",
            }
            return Answer([chunk({"role": "assistant", "content": ""}), f"data: {json.dumps({'error': error})}\n\n"])
        return streamed(await say())

    log, _ = await played(habit)
    assert received
    assert log.text == (await near("orchestrated")).text


CALLS: dict[str, Callable[[ToolCall], dict[str, Any]]] = {
    "a tool that is not there": lambda made: {"calls": (msgspec.structs.replace(made, name="google"), made)},
    "missing arguments": lambda made: {"calls": (made, msgspec.structs.replace(made, id="2", arguments={}))},
    "more arguments": lambda made: {
        "calls": (made, msgspec.structs.replace(made, id="2", arguments={**made.arguments, "lang": "en", "limit": "3"}))
    },
    "two kinds of tool": lambda made: {"calls": (made, ToolCall(id="2", name="open", arguments={"documents": ["x"]}))},
    "prose beside the call": lambda made: {"calls": (made,), "text": "I search for the tide of Brest now."},
    "one id for all": lambda made: {"calls": (made, made)},
    "in its own words": lambda made: {
        "text": f"<tool_call>\n<function={made.name}>{json.dumps(made.arguments)}</function>\n</tool_call>"
    },
}


@pytest.mark.parametrize(("way", "strategy"), crossed(CALLS, [*STRATEGIES]))
async def test_calls_of_agents_made_in_odd_ways_end_in_the_same_report(way: str, strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        if [call.name for call in reply.calls] != ["search"] or "open" not in json.dumps(body["tools"]):
            return streamed(reply)
        return streamed(Reply(**CALLS[way](reply.calls[0])))

    log, sent = await played(habit, strategy)
    plain = await near(strategy)
    assert log.text == plain.text
    assert [finding.text for finding in by_lane(log)] == [finding.text for finding in by_lane(plain)]
    for body in sent:  # every call is answered, once
        made = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
        text = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        assert sorted(made) == sorted(text)
        assert len(set(made)) == len(made)


def by_lane(log: Log) -> list[e.FindingAdded]:
    return sorted(log.of(e.FindingAdded), key=lambda finding: finding.lane)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_model_which_ignores_its_tools_is_told_of(strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        if any(tool["function"]["name"] == "open" for tool in body.get("tools", ())):
            return streamed(Reply(text="I would search for it."))
        return streamed(await say())

    script, changes = STRATEGIES[strategy]
    with chat_server(Answer()) as server:
        model = Habitual(Scripted(script()), server, habit)
        handle = Sea().start(model, **changes)  # type: ignore[arg-type]
        log = Log([envelope async for envelope in handle], model)  # type: ignore[arg-type]
        with contextlib.suppress(AssayError):
            await handle.wait()
        await model.close()
    assert {(event.model, event.task, event.lane) for event in log.of(e.ToolsIgnored)} == {
        ("scripted", "research", 1),
        ("scripted", "research", 2),
    }
    assert any("may not support tools" in event.message for event in log.of(e.Warned))


class Waits(SystemClock):
    """Notes for how long somebody waits before he tries again."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


class Unhurried(Sea):
    """Documents in a world in which waiting is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = Waits()

    def world(self, model: Any) -> World:
        return msgspec.structs.replace(super().world(model), clock=self.waits)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_server_which_is_down_is_said_at_once(strategy: str) -> None:
    model, sea = openai.create("mine:m", Access(url="http://127.0.0.1:9/v1")), Unhurried()
    handle = sea.start(model, models=dict.fromkeys(ROLES, ("mine:m",)), strategy=strategy)  # type: ignore[arg-type]
    log = [e.decode(envelope) async for envelope in handle]
    with pytest.raises(ModelUnusable) as raised:
        await handle.wait()
    await model.close()
    assert sea.waits.slept == []
    assert str(raised.value).startswith(
        "mine:m does not answer at http://127.0.0.1:9/v1 (connection refused): start it"
    )
    assert not [event for event in log if isinstance(event, e.Warned | e.ModelAttempted)]
