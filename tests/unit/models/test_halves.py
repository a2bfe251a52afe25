"""Signs which a service cut in two."""

from __future__ import annotations

import itertools
import json

import pytest
from chat_server import DONE, Answer, call, chat_server, chunk
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import CallDelta, Message, Profile, Reply, Request, TextDelta, ThinkingDelta
from assay.models.openai import SERVICES, ChatCompletions
from assay.models.streams import SurrogateJoiner, decode


def units(text: str) -> list[str]:
    """`text` in UTF-16 units, each a piece of its own."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


@given(st.text(alphabet=st.sampled_from("aé😀𝒳\ud83d\ude00 ")), st.lists(st.integers(0, 40), max_size=5))
def test_any_cuts_give_the_text_back(text: str, places: list[int]) -> None:
    pieces = units(text)
    ends = sorted({0, len(pieces), *(place for place in places if place < len(pieces))})
    halves = SurrogateJoiner()
    taken = "".join(halves.feed("".join(pieces[a:b])) for a, b in itertools.pairwise(ends)) + halves.feed(".")
    wanted = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert taken == wanted + "."
    taken.encode()


def test_what_is_no_json_is_an_error() -> None:
    assert decode('["\\ud83d"]', list[str]) == ["\ud83d"]
    for data in ("{", "[1]", '"\\ud83d', "[" * 100_000):
        with pytest.raises((ValueError, RecursionError)):
            decode(data, list[str])


async def test_a_stream_cut_between_halves_is_whole_again() -> None:
    arguments = json.dumps({"reasoning": "😀 first"}, ensure_ascii=False)
    parts = [{"reasoning_content": each} for each in units("Hm 😀")]
    parts += [{"content": each} for each in units("So 😀.")]
    parts += [call(0, "", id="x", name="think"), *(call(0, each) for each in units(arguments))]
    answer = Answer([*map(chunk, parts), chunk({}, "tool_calls"), DONE])
    with chat_server(answer) as server:
        service = SERVICES["vllm"]
        adapter = ChatCompletions("m", type(service)(name="vllm", url=server.url), Profile(name="vllm:m"))
        asked = Request(task="plan", system="", messages=(Message(role="user", text="?"),))
        *deltas, reply = [item async for item in adapter.stream(asked)]
        await adapter.close()
    assert isinstance(reply, Reply)
    assert (reply.thinking, reply.text) == ("Hm 😀", "So 😀.")
    assert reply.calls[0].arguments == {"reasoning": "😀 first"}
    for kind, found in ((ThinkingDelta, "Hm 😀"), (TextDelta, "So 😀."), (CallDelta, arguments)):
        assert "".join(each.text for each in deltas if isinstance(each, kind)) == found
