"""Conversations, changelogs and diaries: a sentence is quoted behind its speaker, its version or its day."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay

CHAT = """Duty desk, 3 June

[16:07] Ode (driver): We struck a stone. Nobody is hurt.
[16:09] Brandt: How many are on board?
[16:17] Brandt: No, the loco is needed elsewhere. The fitter is on his way.
[16:21] Mehta (fitter): Make that an hour. The road is closed at Pell Bridge.
[16:24] Ode (driver): Then let's walk. The south side is dry.
"""
HEARING = """Hearing of 4 May

Chair: I open the meeting.

Mrs Anders: The bridge is rotten. Two planks broke in April.

The joiner gave an offer until the end of June. It is the cheapest.

Mr Kolb: I am against it. Larch would last ten years.

Chair: We vote tomorrow.
"""
CHANGES = """# Changes of Tiller

## 3.2.3 (2026-09-14)

### Fixed

- The gauge no longer counts twice when the bucket tips.

## 3.2.1 (2026-08-02)

### Removed

- Upload over SMS, which nobody used.

## 3.12.0 (2026-11-05)

- Time is taken from the receiver when there is one.
"""
DIARY = """# Diary of the lighthouse

## 4 January 1911

Fog all day. The horn was sounded for nineteen hours.

## 5 January 1911

The supply boat came with Inspector Hauge. He found the lens dirty.
"""
OWNERS = """# The station

The server is called heron. Until March it was wren, an old laptop.

The licence is MPL. Earlier it was GPL, which the schools disliked.
"""


async def opening(question: str, name: str, text: str, folder: Path) -> str:
    (folder / name).write_text(text)
    async with Assay() as assay:
        report = await assay.start(question, sources=[folder]).report()
    assert {claim.verdict for claim in report.claims} <= {"quoted", "supported"}
    return report.markdown.partition("\n#")[0].partition("*As of")[0]


@pytest.mark.parametrize(
    ("question", "name", "text", "answer"),
    [
        (
            "Who said that the road is closed at Pell Bridge?",
            "c.txt",
            CHAT,
            "[16:21] Mehta (fitter): The road is closed",
        ),
        ("What did Ode suggest?", "c.txt", CHAT, "[16:24] Ode (driver): Then let's walk."),
        ("Who said that the joiner gave an offer?", "h.txt", HEARING, "Mrs Anders: The joiner gave an offer until"),
        ("What does Mr Kolb say about larch?", "h.txt", HEARING, "Mr Kolb: Larch would last ten years."),
        ("What changed in 3.2.3?", "n.md", CHANGES, "3.2.3 (2026-09-14) > Fixed: The gauge no longer counts"),
        ("When was 3.2.1 released?", "n.md", CHANGES, "3.2.1 (2026-08-02) > Removed: Upload over SMS"),
        (
            "In which version was upload over SMS removed?",
            "n.md",
            CHANGES,
            "3.2.1 (2026-08-02) > Removed: Upload over SMS",
        ),
        ("What happened on 4 January 1911?", "d.md", DIARY, "4 January 1911: Fog all day."),
        ("When did Inspector Hauge come?", "d.md", DIARY, "5 January 1911: The supply boat came with"),
        ("What was the server before heron?", "o.md", OWNERS, "Until March it was wren"),
        ("What was the licence before that?", "o.md", OWNERS, "Earlier it was GPL"),
    ],
)
async def test_the_answer_comes_with_its_name(question: str, name: str, text: str, answer: str, tmp_path: Path) -> None:
    assert (await opening(question, name, text, tmp_path)).startswith(answer)


@pytest.mark.parametrize(
    ("question", "name", "text"),
    [
        ("What changed in 3.2.2?", "n.md", CHANGES),
        ("What did Mehta say about larch?", "c.txt", CHAT),
    ],
)
async def test_another_entry_or_speaker_does_not_answer(question: str, name: str, text: str, tmp_path: Path) -> None:
    assert (await opening(question, name, text, tmp_path)).startswith("Nothing that answers")
