"""Requests of ours as the library takes them, whatever the history looks like."""

from __future__ import annotations

import re

import anthropic_wire as wire
import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_server import check_anthropic, provider_server

from assay.core.messages import Message, Reply, Request, TextDelta, ToolCall, tagged
from assay.core.ports import Access
from assay.core.ports.models import Secret
from assay.models.direct import SERVICES, create

IDS = st.sampled_from(["a", "call-0", "functions.search:0", "é", "", "x" * 99, "abcdefghi"])
CALLS = st.lists(st.builds(ToolCall, id=IDS, name=st.sampled_from(["search", "open"])), max_size=3).map(tuple)
MESSAGES = st.lists(
    st.one_of(
        st.builds(Message, role=st.just("user"), text=st.text(max_size=5), name=st.sampled_from(["", "task"])),
        st.builds(Message, role=st.just("assistant"), text=st.text(max_size=5), calls=CALLS),
        st.builds(Message, role=st.just("tool"), text=st.text(max_size=5), call_id=IDS),
    ),
    max_size=8,
).map(tuple)


@given(MESSAGES, st.sampled_from(sorted(SERVICES)))
def test_nothing_said_is_lost_and_every_result_has_its_call(conversation: tuple[Message, ...], name: str) -> None:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart

    from assay.models.direct.messages import messages

    ids = SERVICES[name].ids
    made = messages(Request(task="research", system="", messages=conversation), SERVICES[name])
    called: dict[str, str] = {}
    texts: list[str] = []
    for before, message in zip([None, *made], made, strict=False):
        assert not (isinstance(before, ModelRequest) and isinstance(message, ModelRequest))
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                assert re.fullmatch(ids, part.tool_call_id)
                assert part.tool_call_id not in called
                called[part.tool_call_id] = part.tool_name
            elif isinstance(part, ToolReturnPart):
                assert called[part.tool_call_id] == part.tool_name
                texts.append(str(part.content))
            else:
                texts.append(str(part.content))
                assert isinstance(message, ModelResponse) == isinstance(part, TextPart)
    wanted = [tagged(message) if message.role == "user" else message.text for message in conversation]
    silent = [message.role == "assistant" and not message.text for message in conversation]
    assert texts == [text for text, left_out in zip(wanted, silent, strict=True) if not left_out]


@pytest.mark.parametrize("count", [1, 5])
async def test_a_model_asked_several_things_at_once_answers_each(count: int) -> None:
    import asyncio

    asked = Request(task="plan", system="", messages=(Message(role="user", text="?"),))
    with provider_server(wire.says("Sev", "en"), check=check_anthropic) as server:
        model = create("anthropic:claude-sonnet-4-6", Access(url=server.url, key=Secret("planted")))

        async def answer() -> list[object]:
            return [item async for item in model.stream(asked)]

        answers = await asyncio.gather(*(answer() for _ in range(count)))
        await model.close()
        assert len(server.requests) == count
    for items in answers:
        assert items[:-1] == [TextDelta("Sev"), TextDelta("en")]
        assert isinstance(items[-1], Reply)
