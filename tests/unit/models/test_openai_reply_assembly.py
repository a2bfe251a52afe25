"""However a stream is cut, the same reply comes of it."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import CallDelta, CallDone, Message, Reply, Request, Retracted, TextDelta, ThinkingDelta
from assay.models.openai.reply_assembly import Assembler
from assay.models.openai.wire import CallPart, ChatPart, Choice, CompletionChunk, Function
from assay.models.streams import MAX_NAME_CHARS

ASKED = Request(task="plan", system="", messages=(Message(role="user", text="?"),))
TEXT = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "think", ">", "a", "é🐍", " ", "\n", "</", "{}"]), max_size=12
)


def played(parts: list[ChatPart]) -> tuple[Reply, str, str, list[CallDone]]:
    """The reply, and the text, thoughts and calls given as deltas; the pieces of a call make up its arguments."""
    assembler = Assembler()
    deltas = [delta for part in parts for delta in assembler.feed(CompletionChunk(choices=(Choice(delta=part),)))]
    deltas += assembler.feed(CompletionChunk(choices=(Choice(finish_reason="stop"),)))
    deltas += assembler.end()
    taken_back = [place for place, delta in enumerate(deltas) if isinstance(delta, Retracted)]
    deltas = deltas[taken_back[-1] if taken_back else 0 :]
    streamed = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    thought = "".join(delta.text for delta in deltas if isinstance(delta, ThinkingDelta))
    done = [delta for delta in deltas if isinstance(delta, CallDone)]
    for each in done:
        text = "".join(delta.text for delta in deltas if isinstance(delta, CallDelta) and delta.index == each.index)
        assert json.loads(text) == each.call.arguments
    return assembler.reply(ASKED, "m"), streamed, thought, done


def cut(text: str, places: list[int]) -> list[str]:
    """`text` cut at these places."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(ends)]


@given(TEXT, st.lists(st.integers(0, 200), max_size=8))
def test_text_and_thoughts_do_not_depend_on_the_cuts(signs: list[str], places: list[int]) -> None:
    text = "".join(signs)
    whole, pieces = played([ChatPart(content=text)]), played([ChatPart(content=piece) for piece in cut(text, places)])
    assert whole[:3] == pieces[:3]
    reply, found, thought, _ = whole
    assert (reply.text, reply.thinking) == (found, thought)
    if not text.lstrip().startswith("<think>") and "</think>" not in text:
        assert (found, thought) == (text, "")


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>Hm.</think>So.", "Hm.", "So."),
        ("<thinking>\nHm.</thinking>\nSo.", "\nHm.", "So."),
        ("<reasoning>Hm.</reasoning>So.", "Hm.", "So."),
        ("[THINK]Hm.[/THINK]So.", "Hm.", "So."),
        ("<think>Hm.</think>\n<think>And.</think>\nSo.", "Hm.And.", "So."),
        ("Hm, the user asks.\n</think>\n\n# So", "Hm, the user asks.\n", "# So"),
        ("Hm.</think>", "Hm.", ""),
        ("Write `</think>` at its end.", "", "Write `</think>` at its end."),
        ("It is <think>this</think> tag.", "", "It is <think>this</think> tag."),
        ("```\na\n</think>\n```", "", "```\na\n</think>\n```"),
        ("analysis of the data", "", "analysis of the data"),
        ("analysisWe need it. assistantfinalSo.", "We need it. ", "So."),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>So.", "Hm.", "So."),
        ("<|channel|>final<|message|>1 <| 2 < 3<|return|>", "", "1 <| 2 < 3"),
    ],
)
@given(places=st.lists(st.integers(0, 200), max_size=8))
def test_ways_to_write_reasoning(text: str, thinking: str, answer: str, places: list[int]) -> None:
    reply, found, thought, _ = played([ChatPart(content=piece) for piece in cut(text, places)])
    assert (reply.thinking, reply.text) == (thought, found) == (thinking, answer)


@given(places=st.lists(st.integers(0, 200), max_size=8))
def test_a_call_in_a_channel_is_a_call(places: list[int]) -> None:
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.search "
        '<|constrain|>json<|message|>{"query": "a"}<|call|>'
    )
    reply, _, thought, done = played([ChatPart(content=piece) for piece in cut(text, places)])
    assert (reply.text, thought) == ("", "Hm.")
    assert [(call.name, call.arguments) for call in reply.calls] == [("search", {"query": "a"})]
    assert [each.call for each in done] == list(reply.calls)


@pytest.mark.parametrize(("text", "thinking", "answer"), [("Hm.</think>So.", "Hm.", "So."), ("So.", "", "So.")])
def test_a_model_known_to_open_with_thinking_is_shown_thinking(text: str, thinking: str, answer: str) -> None:
    assembler = Assembler(opens_thinking=True)
    first = list(assembler.feed(CompletionChunk(choices=(Choice(delta=ChatPart(content=text[:2])),))))
    assert first == [ThinkingDelta(text[:2])]
    list(assembler.feed(CompletionChunk(choices=(Choice(delta=ChatPart(content=text[2:]), finish_reason="stop"),))))
    rest = list(assembler.end())
    assert (Retracted() in rest) == (answer == text)
    reply = assembler.reply(ASKED, "m")
    assert (reply.thinking, reply.text) == (thinking, answer)


def test_reasoning_between_tags_is_told_from_the_answer() -> None:
    reply, *_ = played(
        [ChatPart(content="\n<think>Hm: a </thin"), ChatPart(content="k>\n\n"), ChatPart(content=" So <think>.")]
    )
    assert (reply.thinking, reply.text) == ("Hm: a ", "So <think>.")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)


@given(st.lists(ARGUMENTS, min_size=1, max_size=4), st.lists(st.integers(0, 200), max_size=10), st.booleans())
def test_calls_do_not_depend_on_the_cuts(wanted: list[dict], places: list[int], escaped: bool) -> None:
    parts: list[ChatPart] = []
    for index, arguments in enumerate(wanted):
        text = json.dumps(arguments, ensure_ascii=escaped, indent=1 if escaped else None)
        named = CallPart(index=index, id=f"id-{index}", function=Function(name="search", arguments=""))
        pieces = [CallPart(index=index, function=Function(arguments=piece)) for piece in cut(text, places)]
        parts += [ChatPart(tool_calls=(piece,)) for piece in (named, *pieces)]
    reply, _, _, done = played(parts)
    assert [call.arguments for call in reply.calls] == wanted
    assert [call.id for call in reply.calls] == [f"id-{index}" for index in range(len(wanted))]
    assert [each.call for each in done] == list(reply.calls)
    assert [each.index for each in done] == list(range(len(wanted)))


def test_a_name_without_end_is_cut() -> None:
    part = CallPart(index=0, id="c" * 1_000, function=Function(name="s" * 1_000_000, arguments="{}"))
    reply, _, _, (done,) = played([ChatPart(tool_calls=(part,))])
    assert reply.calls == (done.call,)
    assert (len(done.call.name), len(done.call.id)) == (MAX_NAME_CHARS, MAX_NAME_CHARS)
