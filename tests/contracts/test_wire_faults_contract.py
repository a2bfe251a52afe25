"""What every adapter of a service makes of thinking, pieces of calls, counts, refusals, faults and silence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anthropic_wire
import chat_server as chat
import google_wire
import msgspec
import openai as official
import pytest
from chat_server import Answer, Piece, chat_server
from provider_server import check_anthropic, check_google, check_groq, check_mistral, check_nothing, provider_server
from sampling import crossed

from assay.core.errors import ModelError
from assay.core.events import Event, ThinkDelta, ThinkFinished, ThinkStarted
from assay.core.json_decoders import field_text
from assay.core.messages import (
    CallDelta,
    CallDone,
    Delta,
    Message,
    Reply,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolDefinition,
)
from assay.core.ports import Access, Model
from assay.core.ports.models import Secret
from assay.models import direct, openai
from assay.run.voice import Thoughts

KEY = "sk-planted-0123456789"
THINK = ToolDefinition(
    name="think", description="Think.", parameters={"type": "object", "properties": {}}, thought="reasoning"
)
ASKED = Request(
    task="orchestrate",
    system="You are tested.",
    messages=(Message(role="user", name="question", text="What is it?"),),
    tools=(THINK,),
    timeout=60.0,
    first_token=60.0,
)
ARGUMENTS = json.dumps({"reasoning": 'Say "é" 😀\n.'})
PARTS = [ARGUMENTS[at : at + 5] for at in range(0, len(ARGUMENTS), 5)]


class Wire(msgspec.Struct, frozen=True):
    """A format: how it says things, and which of its counts there are (input, output, cached, reasoning)."""

    name: str
    create: Callable[[str, Access], Model]
    thinking: Callable[[], Answer]
    calling: Callable[[], Answer]
    token: tuple[Piece, ...]
    counts: tuple[int, int, int, int]
    check: Callable[[dict], None] = check_nothing
    base: str = ""
    refusal: Answer | None = None


def _chat(thought: Callable[[str], dict], **more: object) -> Callable[[], Answer]:
    def answer() -> Answer:
        found = [*map(thought, ("Hm", "m.")), {"content": "So."}]
        return Answer([*map(chat.chunk, found), chat.chunk({}, "stop", chat.USAGE, **more), chat.DONE])

    return answer


def _chat_call() -> Answer:
    first = chat.call(0, "", id="aaaaaaaaa", name="think")
    parts = [first, *(chat.call(0, part) for part in PARTS)]
    return Answer([*map(chat.chunk, parts), chat.chunk({}, "tool_calls", chat.USAGE), chat.DONE])


def _chat_object_call() -> Answer:
    """As Mistral may send it: its arguments an object."""
    first = chat.call(0, "", id="aaaaaaaaa", name="think")
    first["tool_calls"][0]["function"]["arguments"] = json.loads(ARGUMENTS)
    return Answer([chat.chunk(first), chat.chunk({}, "tool_calls", chat.USAGE), chat.DONE])


def _anthropic_thinking() -> Answer:
    found = (anthropic_wire.thinking(0, "Hm", "m."), anthropic_wire.text(1, "So."))
    return anthropic_wire.streamed(*found, anthropic_wire.stop())


def _anthropic_call() -> Answer:
    return anthropic_wire.streamed(anthropic_wire.call(0, "a", "think", *PARTS), anthropic_wire.stop("tool_use"))


def _google_thinking() -> Answer:
    found = [google_wire.thought("Hm"), google_wire.thought("m."), google_wire.text("So.")]
    return google_wire.streamed(
        *map(google_wire.chunk, found), google_wire.chunk(finish="STOP", usageMetadata=google_wire.USAGE)
    )


def _google_call() -> Answer:
    call = google_wire.chunk(google_wire.call("think", json.loads(ARGUMENTS)))
    return google_wire.streamed(call, google_wire.chunk(finish="STOP", usageMetadata=google_wire.USAGE))


def _mistral_thought(text: str) -> dict:
    return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}


WIRES = [
    Wire(
        name="vllm:m",
        create=openai.create,
        thinking=_chat(lambda text: {"reasoning_content": text}),
        calling=_chat_call,
        token=(chat.chunk({"content": "Sev"}),),
        counts=(120, 30, 100, 12),
        base="/v1",
        refusal=chat.says("I", finish="content_filter"),
    ),
    Wire(
        name="openrouter:m",
        create=openai.create,
        thinking=_chat(lambda text: {"reasoning": text}),
        calling=_chat_call,
        token=(chat.chunk({"content": "Sev"}),),
        counts=(120, 30, 100, 12),
        base="/v1",
        refusal=Answer([chat.chunk({"refusal": "I cannot."}), chat.chunk({}, "stop"), chat.DONE]),
    ),
    Wire(
        name="anthropic:claude-sonnet-4-6",
        create=direct.create,
        thinking=_anthropic_thinking,
        calling=_anthropic_call,
        token=(anthropic_wire.start(), *anthropic_wire.text(0, "Sev")[:2]),
        counts=(120, 30, 90, 12),
        check=check_anthropic,
        refusal=anthropic_wire.says("I", reason="refusal"),
    ),
    Wire(
        name="google:gemini-2.5-flash",
        create=direct.create,
        thinking=_google_thinking,
        calling=_google_call,
        token=(google_wire.chunk(google_wire.text("Sev")),),
        counts=(120, 30, 90, 12),
        check=check_google,
        refusal=google_wire.says("I", finish="SAFETY"),
    ),
    Wire(
        name="mistral:magistral-medium-latest",
        create=openai.create,
        thinking=_chat(_mistral_thought),
        calling=_chat_object_call,
        token=(chat.chunk({"content": "Sev"}),),
        counts=(120, 30, 0, 0),
        check=check_mistral,
        base="/v1",
    ),
    Wire(
        name="groq:openai/gpt-oss-20b",
        create=openai.create,
        thinking=_chat(lambda text: {"reasoning": text}, x_groq={"id": "r", "usage": chat.USAGE}),
        calling=_chat_call,
        token=(chat.chunk({"content": "Sev"}),),
        counts=(120, 30, 100, 12),
        check=check_groq,
        base="/openai/v1",
    ),
]
every_wire = pytest.mark.parametrize("wire", WIRES, ids=[wire.name.partition(":")[0] for wire in WIRES])


@contextmanager
def served(wire: Wire, *answers: Answer) -> Iterator[Model]:
    with provider_server(*answers, check=wire.check) as server:
        yield wire.create(wire.name, Access(url=server.url + wire.base, key=Secret(KEY)))


async def play(wire: Wire, answer: Answer, asked: Request = ASKED) -> tuple[list[Delta], Reply]:
    with served(wire, answer) as model:
        try:
            items = [item async for item in model.stream(asked)]
        finally:
            await model.close()
    assert isinstance(items[-1], Reply)
    return items[:-1], items[-1]  # type: ignore[return-value]


@every_wire
async def test_native_reasoning_comes_as_it_streams(wire: Wire) -> None:
    deltas, reply = await play(wire, wire.thinking())
    assert [each for each in deltas if isinstance(each, ThinkingDelta)] == [ThinkingDelta("Hm"), ThinkingDelta("m.")]
    assert deltas[-1] == TextDelta("So.")
    assert (reply.thinking, reply.text, reply.stop) == ("Hmm.", "So.", "end")


@every_wire
async def test_the_counts_of_a_call(wire: Wire) -> None:
    _, reply = await play(wire, wire.thinking())
    inputs, outputs, cached, reasoning = wire.counts
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (inputs, outputs)
    if cached:
        assert (reply.usage.cached_tokens, reply.usage.reasoning_tokens) == (cached, reasoning)
    parts = reply.usage.cached_tokens + reply.usage.cache_write_tokens
    assert parts <= reply.usage.input_tokens
    assert reply.usage.reasoning_tokens <= reply.usage.output_tokens


@every_wire
async def test_a_thought_in_a_call_is_read_from_its_pieces(wire: Wire) -> None:
    deltas, reply = await play(wire, wire.calling())
    log: list[Event] = []
    thoughts = Thoughts(ASKED.tools, log.append)
    for delta in deltas:
        if isinstance(delta, CallDelta):
            thoughts.add_call_part(delta)
            thoughts.flush()
        elif isinstance(delta, CallDone):
            thoughts.finish_call(delta.index, delta.call)
    thoughts.finish_reply(reply)
    thought = json.loads(ARGUMENTS)["reasoning"]
    assert log[0] == ThinkStarted()
    assert "".join(each.text for each in log if isinstance(each, ThinkDelta)) == thought
    assert log[-1] == ThinkFinished(text=thought)
    assert sum(isinstance(each, ThinkStarted | ThinkFinished) for each in log) == 2
    raw = "".join(each.text for each in deltas if isinstance(each, CallDelta))
    assert field_text(raw, "reasoning") == thought
    if wire.calling not in (_google_call, _chat_object_call):
        assert sum(isinstance(each, ThinkDelta) for each in log) > 1


@every_wire
async def test_a_refusal_is_named(wire: Wire) -> None:
    if wire.refusal is None:
        pytest.skip("this format has no word for it")
    _, reply = await play(wire, wire.refusal)
    assert reply.stop == "refused"


@pytest.mark.parametrize(("wire", "status"), crossed(WIRES, [429, 500, 503]))
async def test_what_passes_says_when_to_come_back(wire: Wire, status: int) -> None:
    with served(wire, chat.fault(status, "busy", **{"retry-after": "3"}), chat.fault(status, "busy")) as model:
        for wait in (3.0, None):
            with pytest.raises(ModelError, match=str(status)) as raised:
                await anext(model.stream(ASKED))
            assert (raised.value.transient, raised.value.retry_after) == (True, wait)
        await model.close()


@every_wire
async def test_silence_before_the_first_token_and_after_it(wire: Wire) -> None:
    quick = msgspec.structs.replace(ASKED, timeout=0.2, first_token=0.2)
    for found in ((), wire.token):
        with pytest.raises(ModelError, match="in time") as raised:
            await play(wire, Answer([*found, 30.0]), quick)
        assert raised.value.transient


@every_wire
@pytest.mark.parametrize("cut", [True, False], ids=["dropped", "ended"])
async def test_a_stream_cut_in_its_middle(wire: Wire, cut: bool) -> None:
    with pytest.raises(ModelError) as raised:
        await play(wire, Answer(wire.token, cut=cut))
    assert raised.value.transient


async def test_the_official_client_reads_what_ours_reads() -> None:
    """Pieces of parallel calls and the counts, from the same server."""
    parts = [
        chat.call(0, '{"reas', id="a", name="think"),
        chat.call(0, 'oning": "x"}'),
        chat.call(1, "{}", id="b", name="think"),
    ]
    answer = Answer([*map(chat.chunk, parts), chat.chunk({}, "tool_calls"), chat.chunk(usage=chat.USAGE), chat.DONE])
    with chat_server(answer) as server:
        client = official.AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0)
        async with (
            client,
            client.chat.completions.stream(
                model="m", messages=[{"role": "user", "content": "?"}], stream_options={"include_usage": True}
            ) as stream,
        ):
            whole = await stream.get_final_completion()
    theirs = [(each.id, each.function.arguments) for each in whole.choices[0].message.tool_calls or ()]
    _, reply = await play(WIRES[0], answer)
    assert [(each.id, json.dumps(each.arguments)) for each in reply.calls] == theirs
    assert whole.usage is not None
    assert reply.usage.output_tokens == whole.usage.completion_tokens
    assert reply.usage.cached_tokens == whole.usage.prompt_tokens_details.cached_tokens  # type: ignore[union-attr]
