"""Turns of a conversation: who speaks, where a turn begins and ends, what is said behind a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.clean import one_line
from assay.core.turns import is_said, turns_in


@pytest.mark.parametrize(
    ("line", "speaker", "prefix"),
    [
        ("Mara: We tried clay. It cracked.", "Mara", "Mara"),
        ("[16:21] Mehta (fitter): Make that an hour.", "Mehta (fitter)", "[16:21] Mehta (fitter)"),
        ("12/03/2025, 18:02 - Jule Kern: Who brings it?", "Jule Kern", "12/03/2025, 18:02 - Jule Kern"),
        ("[2025-03-12 18:02:11] <kern> Not me.", "kern", "[2025-03-12 18:02:11] kern"),
        ("**Dr. Ode:** It is late.", "Dr. Ode", "Dr. Ode"),
        ("ЛЕНА: Да.", "ЛЕНА", "ЛЕНА"),
    ],
)
def test_a_turn_has_its_speaker(line: str, speaker: str, prefix: str) -> None:
    (turn,) = turns_in(line)
    assert (turn.speaker, turn.prefix, turn.start) == (speaker, prefix, 0)


@pytest.mark.parametrize(
    "line", ["", "We met at ten.", "https://a.example: no", "At 18:02 he came.", "mara: small", "A: one"]
)
def test_no_turn(line: str) -> None:
    assert turns_in(line) == []


@given(st.lists(st.sampled_from(["Mara: I\n go.\n", "Ben: No. Why?\n", "so it\n", "[10:00] Ode: We\n", "\n"])))
def test_turns_begin_where_their_lines_do(lines: list[str]) -> None:
    text = "".join(lines)
    flat, turns = one_line(text), turns_in(text)
    assert all(flat[turn.start :].startswith(turn.prefix) for turn in turns)
    assert [turn.start for turn in turns] == sorted({turn.start for turn in turns})
    assert len(turns) == sum(":" in line for line in lines)


TALK = [
    ("S1001.0", "Mara: We tried clay. It cracked.\nBen: Lime then."),
    ("S1001.1", "It is dear. But it lasts.\n[10:07] Mara: Good."),
    ("S1001.3", "That was all."),
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mara: It cracked.", True),
        ("Ben: It cracked.", False),
        ("Ben: But it lasts.", True),
        ("Mara: But it lasts.", False),
        ("[10:07] Mara: Good.", True),
        ("Mara: Good.", True),
        ("Mara: That was all.", False),
        ("Mara: We tried", False),
        ("It cracked.", False),
    ],
)
def test_a_sentence_is_said_by_the_speaker_of_its_turn(text: str, said: bool) -> None:
    assert is_said(text, TALK) is said
    assert is_said(text, TALK[::-1]) is said


def test_a_turn_is_not_known_without_its_beginning() -> None:
    assert not is_said("Ben: But it lasts.", TALK[1:])
    assert not is_said("Ben: But it lasts.", [TALK[0], ("S1001.5", TALK[1][1])])
    assert is_said("Ann: No.", [("the text", "Ann: Yes. No.")])
