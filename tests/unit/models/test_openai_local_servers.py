"""What servers on this machine answer while they load a model, cannot load it, or cannot read what it wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_server import Answer, chat_server, chunk, fault, says

from assay.core.errors import ContextTooLong, ModelError
from assay.core.messages import Message, Reply, Request
from assay.core.ports import Access
from assay.models import openai
from assay.models.openai import create

ASKED = Request(task="triage", system="You answer.", messages=(Message(role="user", text="?"),), first_token=5.0)
LOADING = fault(503, "Loading model")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "LOADING_RETRY_SECONDS", 0.01)


async def reply(url: str, name: str = "llamacpp:m", asked: Request = ASKED) -> Reply:
    model = create(name, Access(url=url))
    try:
        found = [part async for part in model.stream(asked)][-1]
    finally:
        await model.close()
    assert isinstance(found, Reply)
    return found


async def failure(answer: Answer, name: str = "ollama:m", kind: type[Any] = ModelError) -> Any:
    with chat_server(answer) as server, pytest.raises(kind) as raised:
        await reply(server.url, name)
    return raised.value


async def test_a_server_that_loads_its_model_is_waited_for() -> None:
    with chat_server(*[LOADING] * 12, says("Yes.")) as server:
        assert (await reply(server.url)).text == "Yes."


async def test_a_model_that_takes_too_long_to_load_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "LOADING_RETRY_SECONDS", 6.0)
    error = await failure(LOADING, "llamacpp:m")
    assert error.reason.startswith("llamacpp is still loading its model after 5 s: try again")
    assert "timeouts.first_token" in error.reason
    assert not error.reached


@pytest.mark.parametrize(
    ("status", "message", "transient"),
    [
        (500, "model requires more system memory (5.3 GiB) than is available (4.4 GiB)", False),
        (
            400,
            'Failed to load model "m". Error: Model loading was stopped due to insufficient system resources.',
            False,
        ),
        (500, "llama runner process has terminated: exit status 2", True),
        (500, "model runner has unexpectedly stopped, this may be due to resource limitations", True),
    ],
)
async def test_a_model_that_does_not_run_is_said_with_what_helps(status: int, message: str, transient: bool) -> None:
    error = await failure(fault(status, message))
    assert error.reason.endswith("free memory or choose a smaller model; the log of ollama says more")
    assert (error.transient, error.usable) == (transient, False)


PROMPT = "Why is a server out of memory, has the model crashed, and what is its content policy?"
INVALID = {"type": "string_type", "loc": ["body", "messages"], "msg": "Input should be a text", "input": PROMPT}


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (422, {"detail": [INVALID]}, "answered 422: Input should be a text"),
        (500, {"errors": [INVALID]}, "answered 500"),
        (400, {"error": {"message": str([INVALID | {"input": "out of memory"}]), "code": 400}}, "answered 400"),
        (502, {"error": {"message": "Provider returned error", "metadata": {"raw": {"sent": PROMPT}}}}, "answered 502"),
    ],
)
async def test_what_an_error_repeats_of_a_prompt_says_nothing_of_the_model(status: int, body: Any, said: str) -> None:
    error = await failure(Answer([json.dumps(body)], status))
    assert said in error.reason
    assert "choose a smaller model" not in error.reason
    assert error.transient == (status >= 500)


async def test_what_an_error_in_the_stream_repeats_says_nothing_of_the_model() -> None:
    error = await failure(
        Answer([chunk(error={"message": "Provider returned error", "metadata": {"raw": "Out of memory?"}})])
    )
    assert error.reason == "ollama broke off: Provider returned error: Out of memory?"


async def test_a_service_that_cannot_load_what_was_sent_runs() -> None:
    assert (await failure(fault(503, "unable to load the picture"))).usable


async def test_a_crash_in_the_stream_is_said_too() -> None:
    crash = chunk(error={"message": "The model has crashed without additional information. (Exit code: 6)"})
    error = await failure(Answer([crash]), "lmstudio:m")
    assert error.reason.endswith("choose a smaller model; the log of lmstudio says more")
    assert (error.transient, error.usable) == (True, False)


async def test_too_long_a_request_may_be_a_servers_error() -> None:
    words = "the request exceeds the available context size. try increasing the context size or enable context shift"
    await failure(fault(500, words), "llamacpp:m", ContextTooLong)


@pytest.mark.parametrize(
    ("words", "window"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 6000 tokens.", 4_096),
        ("'max_tokens' is too large: 6000. This model's maximum context length is 4,096 tokens and your", 4_096),
        ("request (6010 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("Prompt contains 6000 tokens, too large for model with 4096 maximum context length", 4_096),
        ("the request exceeds the available context size", None),
        ("This model's maximum context length is 16384 tokens.", None),
        ("This model's maximum context length is 100 tokens.", None),
    ],
)
async def test_the_window_that_a_refusal_names_is_told_from_then_on(words: str, window: int | None) -> None:
    for answer in (fault(400, words), Answer([chunk(error={"message": words, "code": 400})])):
        with chat_server(answer) as server:
            model = create("vllm:m", Access(url=server.url))
            with pytest.raises(ContextTooLong):
                [_ async for _ in model.stream(ASKED)]
            assert (await model.described()).window == window
            await model.close()
        assert model.profile.window == 8_192, "runs that have begun learn it from their own steps"


WRITTEN = "<tool_call>\n<function=search>\n<parameter=query>\ntide\n</parameter>\n</function>\n</tool_call>"


async def test_a_call_that_its_server_could_not_read_is_the_reply() -> None:
    with chat_server(fault(500, f"Failed to parse input at pos 12: {WRITTEN}")) as server:
        assert (await reply(server.url)).text == WRITTEN
    cut = chunk(error={"code": 500, "message": f"Failed to parse input at pos 12: {WRITTEN}"})
    with chat_server(Answer([chunk({"content": "I search.\n"}), cut])) as server:
        assert (await reply(server.url)).text == f"I search.\n{WRITTEN}"


async def test_a_model_that_is_not_loaded() -> None:
    error = await failure(fault(404, "No models loaded. Use the 'lms load' command.", "model_not_found"), "lmstudio:x")
    assert "(404): load it (lms load x), or choose one it has: lmstudio:m" in error.reason
