"""Loops are found by what is said, not by how it is laid out; what is cut is the loop alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from growth import WORST, exponent
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled
from work import grows_in_step

from assay.agents.replies import drop_loops, is_looping, salvage_text, whole_sentences
from assay.core.messages import Reply

SAME = "The tide at Brest rises by seven metres at springs."
OTHER = "The mistral blows from the north-west in winter."
TABLE = "### Results by harbour and by year of measuring\n\n| Harbour | Height in metres | Source |\n|:---|---:|---|\n"


def tables(count: int) -> str:
    rows = (f"| Port {number} | {number}.5 | [S1001.{number}] |\n\n" for number in range(count))
    return "\n".join(TABLE + row for row in rows)


FINE = [
    tables(8),
    "| a | b |\n" * 10,
    "\n".join(f"The tide at port number {number} rises." for number in range(20)),
    "\n".join(f"## What the sources say\n\n- **What was measured at this harbour:** {number} m" for number in range(9)),
    "\n\n".join(
        f"Sentence {number} is unlike any of the others here. Source: the annual report." for number in range(9)
    ),
    "\n".join(f"- Measured: {number}\n  Source: Annual report of the harbour office [S1001.1]" for number in range(3)),
    "---\n\n" * 20,
    f"{SAME} {OTHER} " * 2,
    "| n/a | n/a | n/a |\n" * 9,
]


@pytest.mark.parametrize("text", FINE)
def test_structure_may_come_again(text: str) -> None:
    assert not is_looping(text)
    assert drop_loops(text) == text


LOOPS = [
    (f"{OTHER} " + f"{SAME} " * 5, f"{OTHER} {SAME}"),
    (f"{OTHER}\n\n" + f"{SAME} [S1001.1]\n" * 6, f"{OTHER}\n\n{SAME} [S1001.1]"),
    (f"{SAME} {OTHER} " * 4, f"{SAME} {OTHER}"),
    ("".join(f"{number}. {SAME}\n" for number in range(1, 9)), f"1. {SAME}"),
    (f"{OTHER} {SAME} " + "The water is high. " + f"{SAME} The wind is low. {SAME} It rains. {SAME} {SAME}", ""),
    ("The tide rises " + "and it rises " * 40, "The tide rises and it rises"),
    ("这句话被模型重复了很多次而且它相当长足以被认为是一个循环的句子吧而且还要更长一些。" * 5, ""),
]


@pytest.mark.parametrize(("text", "left"), LOOPS)
def test_a_loop_of_content_is_found_and_cut(text: str, left: str) -> None:
    assert is_looping(text)
    cut = drop_loops(text)
    assert not is_looping(cut)
    assert len(cut) < len(text)
    if left:
        assert cut.strip() == left


def test_what_follows_a_loop_is_kept() -> None:
    assert drop_loops(f"{SAME} " * 5 + OTHER) == f"{SAME} {OTHER}"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{SAME} [S1001.1] The moon", f"{SAME} [S1001.1]"),
        (f"{SAME}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3", f"{SAME}\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        (f"{SAME}\n\n## Wi", SAME),
        ("The tide at Genoa is", ""),
        (f"{SAME} **Bold.**", f"{SAME} **Bold.**"),
    ],
)
def test_a_sentence_cut_off_is_left_out(text: str, left: str) -> None:
    assert whole_sentences(text) == left
    assert salvage_text(Reply(text=text, stop="length")) == left


SENTENCES = st.sampled_from(
    [SAME, OTHER, "It rains.", "## Heading", "| a | b |", "|---|---|", "- ", "\n", " ", "[S1001.1]", "x"]
)


@settings(max_examples=scaled(100), deadline=None)
@given(st.lists(SENTENCES, max_size=40).map(" ".join))
def test_what_is_left_is_part_of_the_text_and_holds_no_loop(text: str) -> None:
    cut = drop_loops(text)
    assert is_looping(text) or cut == text
    at = 0
    for sign in cut:
        at = text.index(sign, at) + 1
    assert drop_loops(cut) == cut or len(drop_loops(cut)) < len(cut)


@pytest.mark.parametrize("unit", ["| a | b |\n", "- x\n", f"{SAME} ", "ab", "|---|\n"])
def test_long_texts_take_work_in_step_with_their_length(unit: str) -> None:
    assert grows_in_step(is_looping, unit * (8_000 // len(unit)))


def line(size: int) -> str:
    """A long line of sentences, each said five times."""
    return "".join(f"Vessel {number} came from the north and left for the south. " * 5 for number in range(size // 300))


@pytest.mark.parametrize("work", [is_looping, drop_loops, whole_sentences])
def test_a_long_line_takes_time_in_step_with_its_length(work: Callable[[str], object]) -> None:
    assert exponent(work, line, 150_000) < WORST
