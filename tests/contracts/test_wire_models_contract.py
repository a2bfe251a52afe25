"""What every adapter of a service must do, whatever the format: the same answer comes out of each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anthropic_wire
import chat_server as chat
import google_wire
import msgspec
import pytest
from chat_server import Answer
from provider_server import check_anthropic, check_google, check_groq, check_mistral, check_nothing, provider_server

from assay.core.errors import ContextTooLong, ModelError
from assay.core.messages import CallDone, Message, Reply, Request, TextDelta, ToolDefinition
from assay.core.ports import Access, Model
from assay.core.ports.models import Secret
from assay.models import direct, openai

KEY = "sk-planted-0123456789"
TOOLS = tuple(
    ToolDefinition(name=name, description="A tool.", parameters={"type": "object", "properties": {}})
    for name in ("search", "open")
)
ASKED = Request(
    task="research",
    system="You are tested.",
    messages=(Message(role="user", name="task", text="What is it?"),),
    tools=TOOLS,
    timeout=60.0,
    first_token=60.0,
)


def _chat() -> Answer:
    return Answer(
        [
            chat.chunk({"role": "assistant", "content": "Two "}),
            chat.chunk({"content": "searches."}),
            chat.chunk(chat.call(0, '{"query": "a"}', id="aaaaaaaaa", name="search")),
            chat.chunk(chat.call(1, '{"query": "b"}', id="bbbbbbbbb", name="search")),
            chat.chunk({}, "tool_calls", chat.USAGE),
            chat.DONE,
        ]
    )


def _anthropic() -> Answer:
    return anthropic_wire.streamed(
        anthropic_wire.text(0, "Two ", "searches."),
        anthropic_wire.call(1, "aaaaaaaaa", "search", '{"query"', ': "a"}'),
        anthropic_wire.call(2, "bbbbbbbbb", "search", '{"query": "b"}'),
        anthropic_wire.stop("tool_use"),
    )


def _google() -> Answer:
    return google_wire.streamed(
        google_wire.chunk(google_wire.text("Two ")),
        google_wire.chunk(google_wire.text("searches.")),
        google_wire.chunk(google_wire.call("search", {"query": "a"}), google_wire.call("search", {"query": "b"})),
        google_wire.chunk(finish="STOP", usageMetadata=google_wire.USAGE),
    )


class Wire(msgspec.Struct, frozen=True):
    """An adapter, and its format: the answer above, how requests are checked, and a refusal of what is too long."""

    name: str
    create: Callable[[str, Access], Model]
    answer: Callable[[], Answer]
    check: Callable[[dict], None]
    base: str = ""


WIRES = [
    Wire("vllm:m", openai.create, _chat, check_nothing, "/v1"),
    Wire("anthropic:claude-sonnet-4-6", direct.create, _anthropic, check_anthropic),
    Wire("google:gemini-2.5-flash", direct.create, _google, check_google),
    Wire("mistral:mistral-large-latest", openai.create, _chat, check_mistral, "/v1"),
    Wire("groq:llama-3.3-70b-versatile", openai.create, _chat, check_groq, "/openai/v1"),
]
TOO_LONG = chat.fault(400, "prompt is too long: this model's maximum context length is 8192 tokens", "too_long")
every_wire = pytest.mark.parametrize("wire", WIRES, ids=[wire.name.partition(":")[0] for wire in WIRES])


@contextmanager
def served(wire: Wire, *answers: Answer) -> Iterator[Model]:
    with provider_server(*answers, check=wire.check) as server:
        yield wire.create(wire.name, Access(url=server.url + wire.base, key=Secret(KEY)))


@every_wire
async def test_the_same_answer_makes_the_same_reply(wire: Wire) -> None:
    with served(wire, wire.answer()) as model:
        *deltas, reply = [item async for item in model.stream(ASKED)]
        await model.close()
    assert isinstance(reply, Reply)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.text == "Two searches."
    done = [delta for delta in deltas if isinstance(delta, CallDone)]
    assert tuple(delta.call for delta in done) == reply.calls
    assert [delta.index for delta in done] == [0, 1]
    assert [call.arguments for call in reply.calls] == [{"query": "a"}, {"query": "b"}]
    assert len({call.id for call in reply.calls}) == 2
    assert (reply.stop, reply.model) == ("calls", model.profile.name)
    assert (reply.usage.model_calls, reply.usage.input_tokens > 0, reply.usage.output_tokens > 0) == (1, True, True)


@every_wire
async def test_a_closed_model_can_be_asked_again_and_a_stream_left_early(wire: Wire) -> None:
    with served(wire, wire.answer()) as model:
        for _ in range(2):
            stream = model.stream(ASKED)
            assert await anext(stream) == TextDelta("Two ")
            await stream.aclose()
            await model.close()


@every_wire
async def test_what_is_too_long_and_what_passes(wire: Wire) -> None:
    busy = chat.fault(503, f"busy, {KEY}", **{"retry-after": "3"})
    with served(wire, TOO_LONG, busy) as model:
        with pytest.raises(ContextTooLong):
            await anext(model.stream(ASKED))
        with pytest.raises(ModelError) as raised:
            await anext(model.stream(ASKED))
        await model.close()
    assert (raised.value.transient, raised.value.retry_after) == (True, 3.0)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("wire", WIRES[1:], ids=[wire.name.partition(":")[0] for wire in WIRES[1:]])
async def test_the_environment_says_nothing_to_a_client(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GROQ_BASE_URL", "MISTRAL_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("ANTHROPIC", "GOOGLE", "GEMINI", "GROQ", "MISTRAL"):
        monkeypatch.setenv(f"{name}_API_KEY", "not-this-one")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "not-this-one")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with provider_server(wire.answer(), check=wire.check) as server:
        model = wire.create(wire.name, Access(url=server.url + wire.base, key=Secret(KEY)))
        assert [item async for item in model.stream(ASKED)]
        await model.close()
    assert server.keys[0].removeprefix("Bearer ") == KEY
    assert "not-this-one" not in str(server.headers)
