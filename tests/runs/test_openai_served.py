"""`/v1` of a real server, as the official client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from harbours import QUESTION, fill_home, make_home
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseStreamEvent
from serving import Served, begun, served, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = make_home(tmp_path_factory.mktemp("harbours"))
    with served(home, ASSAY_SEARCH_WEB="false") as found:
        yield found


def client(server: Served, **more: Any) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", **more)


async def collected(stream: Any) -> list[ResponseStreamEvent]:
    return [event async for event in stream]


async def test_models_are_depths_and_collections(server: Served) -> None:
    async with client(server) as api:
        names = [model.id async for model in api.models.list()]
        assert names == [
            "assay-light",
            "assay",
            "assay-extended",
            "assay:default",
            "assay:ferries",
            "assay:letters",
            "assay:mixed",
        ]
        assert (await api.models.retrieve("assay-light")).id == "assay-light"
        with pytest.raises(openai.NotFoundError, match="no model named 'gpt'") as unknown:
            await api.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "Why?"}])
        assert unknown.value.param == "model"
        with pytest.raises(openai.BadRequestError, match="there is no response 'resp_abc'") as missing:
            await api.responses.create(model="assay", input="Why?", previous_response_id="resp_abc")
        assert missing.value.param == "previous_response_id"
        with pytest.raises(openai.NotFoundError, match="no route has this address"):
            await api.embeddings.create(model="assay", input="Why?")
        with pytest.raises(openai.BadRequestError, match=r"put the material into a document, and name that$"):
            await api.responses.create(model="assay", input="Why? " * 30_000)


async def test_a_response_is_waited_for(server: Served) -> None:
    async with client(server) as api:
        response = await api.responses.create(
            model="assay-light",
            input=QUESTION,
            metadata={"team": "ports"},
            include=["assay:claims", "file_search_call.results"],  # type: ignore[list-item]
        )
        assert response.status == "completed"
        assert "built in 1902. [1]" in response.output_text
        kinds = [item.type for item in response.output]
        assert kinds[0] == "reasoning"
        assert "file_search_call" in kinds
        assert "assay:claim" in kinds
        message = next(item for item in response.output if item.type == "message")
        citation = message.content[0].annotations[0]
        assert citation.type == "file_citation"
        assert response.output_text[citation.index :].startswith("[1]")
        searches = [item for item in response.output if item.type == "file_search_call"]
        results = {(found.file_id, found.filename) for item in searches for found in item.results or ()}
        assert (citation.file_id, citation.filename) in results
        assert response.metadata == {"team": "ports"}
        assert response.model == "assay-light"
        assert response.usage is not None
        assert response.usage.total_tokens > 0
        assert (await api.responses.retrieve(response.id)).model_dump() == response.model_dump()


async def test_a_stream_can_be_taken_up_again_anywhere(server: Served) -> None:
    async with client(server) as api:
        stream = await api.responses.create(model="assay", input="How large is the terminal?", stream=True)
        whole = await collected(stream)
        assert [event.sequence_number for event in whole] == list(range(len(whole)))
        assert whole[0].type == "response.created"
        assert whole[-1].type == "response.completed"
        final: Response = whole[-1].response
        text = "".join(event.delta for event in whole if event.type == "response.output_text.delta")
        assert text == final.output_text
        for after in (0, len(whole) // 2, len(whole) - 2):
            rest = await api.responses.retrieve(final.id, stream=True, starting_after=after)
            assert [event.model_dump() for event in await collected(rest)] == [
                event.model_dump() for event in whole[after + 1 :]
            ]


async def test_a_background_response_outlives_the_server(tmp_path: Path) -> None:
    home = await fill_home(tmp_path)
    with served(home, ASSAY_SEARCH_WEB="false") as first:
        async with client(first) as api:
            begun = await api.responses.create(model="assay", input=QUESTION, background=True)
            assert begun.status in ("queued", "in_progress")
            assert begun.background
        first.kill()
    with served(home, ASSAY_SEARCH_WEB="false") as second:
        async with client(second) as api:
            events = await collected(await api.responses.retrieve(begun.id, stream=True))
            assert events[-1].type == "response.completed"
            assert [event.sequence_number for event in events] == list(range(len(events)))
            assert events[1].type == "response.queued"
            assert "1902" in events[-1].response.output_text


async def test_a_dropped_connection_ends_no_run(server: Served) -> None:
    async with client(server) as api:
        stream = await api.responses.create(model="assay", input="Since when does the ferry sail?", stream=True)
        created = await anext(aiter(stream))
        await stream.close()
        events = await collected(await api.responses.retrieve(created.response.id, stream=True, starting_after=0))
        assert events[-1].type == "response.completed"


async def test_a_thread_of_responses(server: Served) -> None:
    async with client(server) as api:
        first = await api.responses.create(model="assay:ferries", input="How long does the ferry to Oster take?")
        assert "35 minutes" in first.output_text
        second = await api.responses.create(
            model="assay", input="Since when has it sailed?", previous_response_id=first.id
        )
        assert second.previous_response_id == first.id
        assert [tool.type for tool in second.tools] == ["file_search"]
        assert second.tools[0].vector_store_ids == ["ferries"]
        items = await api.responses.input_items.list(second.id)
        assert items.data[0].content[0].text == "Since when has it sailed?"


async def test_a_conversation_as_input(server: Served) -> None:
    async with client(server) as api:
        response = await api.responses.create(
            model="assay-light",
            instructions="Be brief.",
            input=[
                {"role": "developer", "content": "Name the year."},
                {"role": "user", "content": [{"type": "input_text", "text": "I read about Vendel."}]},
                {"role": "assistant", "content": "It has a harbour."},
                {"role": "user", "content": "When was the harbour of Vendel built?"},
            ],
        )
        assert response.instructions == "Be brief.\n\nName the year."
        assert "1902" in response.output_text


async def test_every_run_can_be_read_as_a_response(server: Served) -> None:
    async with client(server) as api, server.client() as http:
        run_id = await begun(http, "Which ferry goes to Oster?", depth="light")
        await until(http, run_id)
        response = await api.responses.retrieve(f"resp_{run_id}")
        assert (response.status, response.model, response.background) == ("completed", "assay-light", False)
        assert response.output_text


async def test_tools_say_where_to_look(server: Served) -> None:
    async with client(server) as api:
        response = await api.responses.create(
            model="assay",
            input="How long does the ferry take?",
            tools=[
                {"type": "file_search", "vector_store_ids": ["ferries"]},
                {"type": "web_search", "external_web_access": False},
            ],
            max_tool_calls=10,
            reasoning={"effort": "low"},
        )
        assert "35 minutes" in response.output_text
        assert [tool.type for tool in response.tools] == ["file_search"]
        assert response.max_tool_calls == 10
        assert response.reasoning is not None
        assert response.reasoning.effort == "low"
        with pytest.raises(openai.BadRequestError, match="no collection named 'none'"):
            await api.responses.create(
                model="assay", input="Why?", tools=[{"type": "file_search", "vector_store_ids": ["none"]}]
            )
        with pytest.raises(openai.BadRequestError, match="does not call the client's tools"):
            await api.responses.create(model="assay", input="Why?", tool_choice="required")


async def test_cancel_and_delete(server: Served) -> None:
    async with client(server) as api:
        begun = await api.responses.create(model="assay-extended", input="What of the tides?", background=True)
        ended = await api.responses.cancel(begun.id)
        assert ended.status in ("cancelled", "completed")
        await api.responses.delete(begun.id)
        with pytest.raises(openai.NotFoundError, match=begun.id):
            await api.responses.retrieve(begun.id)


async def test_a_chat(server: Served) -> None:
    messages: list[Any] = [{"role": "user", "content": "In which year was the harbour of Vendel built?"}]
    async with client(server) as api:
        stream = await api.chat.completions.create(
            model="assay", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        assert chunks[0].choices[0].delta.role == "assistant"
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        reasons = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
        text = "".join(delta.content or "" for delta in deltas)
        assert "writing the report" in reasons
        assert f"1902. [1]({server.url}/api/v1/documents/" in text
        notes = next(delta.model_dump()["annotations"] for delta in deltas if "annotations" in delta.model_dump())
        link = notes[0]["url_citation"]
        assert text[link["start_index"] : link["end_index"]] == f"[1]({link['url']})"
        assert b"built in 1902" in (await api.get(link["url"], cast_to=httpx.Response)).content
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.total_tokens > 0
        assert chunks[-2].model_dump()["search_results"][0]["title"] == "Harbour of Vendel"
        assert "1902" in chunks[-2].model_dump()["search_results"][0]["snippet"]

        run_id = chunks[0].id.removeprefix("chatcmpl-")
        assert f"[Run {run_id}: " in text
        messages += [
            {"role": "assistant", "content": text},
            {"role": "user", "content": "By how much was it enlarged?"},
        ]
        second = await api.chat.completions.create(model="assay", messages=messages)
        assert "40 hectares" in (second.choices[0].message.content or "")
        assert second.choices[0].message.model_dump()["reasoning_content"]
        view = await api.get(f"/../api/v1/runs/{second.id.removeprefix('chatcmpl-')}", cast_to=object)
        assert run_id in str(view)


async def test_a_chat_which_began_elsewhere_keeps_its_context(server: Served) -> None:
    async with client(server) as api:
        answer = await api.chat.completions.create(
            model="assay-light",
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "I travel to Oster."},
                {"role": "assistant", "content": "How nice."},
                {"role": "user", "content": "How long does the ferry to Oster take?"},
            ],
            extra_body={"assay": {"collections": ["ferries"]}},
        )
        assert "35 minutes" in (answer.choices[0].message.content or "")


async def test_a_chat_goes_on_though_its_run_is_gone(server: Served) -> None:
    foot = "The harbour of Vendel is old.\n\n[Run 2222222222: evidence and verdicts](http://gone)"
    async with client(server) as api:
        answer = await api.chat.completions.create(
            model="assay",
            messages=[
                {"role": "user", "content": "What of the harbour of Vendel?"},
                {"role": "assistant", "content": foot},
                {"role": "user", "content": "When was the harbour of Vendel built?"},
            ],
        )
        assert "1902" in (answer.choices[0].message.content or "")


async def test_what_a_client_sends_again_is_not_done_again(server: Served) -> None:
    async with client(server) as api:
        asked: dict[str, Any] = {"model": "assay", "input": "Who built the harbour?"}
        first = await api.responses.create(**asked)
        again = await api.responses.create(**asked, extra_headers={"x-stainless-retry-count": "1"})
        anew = await api.responses.create(**asked)
        assert first.id == again.id != anew.id


async def test_a_typed_answer(server: Served) -> None:
    schema = {
        "type": "object",
        "properties": {"built": {"type": "integer", "description": "Year the harbour was built"}},
    }
    async with client(server) as api:
        answer = await api.chat.completions.create(
            model="assay",
            messages=[{"role": "user", "content": "When was the harbour of Vendel built?"}],
            response_format={"type": "json_schema", "json_schema": {"name": "harbour", "schema": schema}},
        )
        assert (answer.choices[0].message.content or "").startswith('{"built":')


async def test_helpers_of_chat_clients_start_no_research(server: Served) -> None:
    task = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: How did the harbour of Vendel grow over time?
ASSISTANT: It was built in 1902.
</chat_history>"""
    async with client(server) as api:
        before = await api.get("/../api/v1/runs", cast_to=object)
        answer = await api.chat.completions.create(model="assay", messages=[{"role": "user", "content": task}])
        assert answer.choices[0].message.content == '{"title":"How did the harbour of Vendel"}'
        tried = await api.chat.completions.create(
            model="assay", messages=[{"role": "user", "content": "Hi"}], max_tokens=5
        )
        assert tried.choices[0].finish_reason == "length"
        assert await api.get("/../api/v1/runs", cast_to=object) == before
