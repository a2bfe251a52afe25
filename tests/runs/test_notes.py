"""Questions over notes whose lines end without a full stop, on the built-in model."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay

MEETING = """# Harbour board, 12 May

Present: Anna, Bob, Carla

## Decisions

- New quay opens on 3 June
- Bob takes over the pilot boats
- Dues cut by 20 %
- No more work on the old crane before the storm season

## Still open

* Carla checks the ferry contract by Friday
* Who pays for the buoys?
"""
CHAT = (
    "[12.05.26, 09:14] Anna: Morning! Where are the ropes?\n"
    "[12.05.26, 09:17] Carla: the boat key is in the blue box\n"
    "[12.05.26, 09:20] Anna: the captain wants 40 life jackets, not 35\n"
)
LINES = "Night ferry sails at half past ten\nThe ticket office opens 14 days before\nBerta sells the tickets\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "meeting.md").write_text(MEETING)
    (tmp_path / "ferry.txt").write_text(f"Ferry\n\n{LINES}")
    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "slip.txt").write_text("Slipway\n\nThe slipway is 12 by 30 metres\nPainted grey last year\n")
    (tmp_path / "light.txt").write_text("Lighthouse of Ouessant repainted in April\n")
    return tmp_path


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does the new quay open?", "New quay opens on 3 June"),
        ("Who takes over the pilot boats?", "Bob takes over the pilot boats"),
        ("By how much were the dues cut?", "Dues cut by 20 %"),
        ("Who checks the ferry contract?", "Carla checks the ferry contract by Friday"),
        ("When does the night ferry sail?", "Night ferry sails at half past ten"),
        ("Who sells the tickets?", "Berta sells the tickets"),
        ("Where is the boat key?", "[12.05.26, 09:17] Carla: the boat key is in the blue box"),
        (
            "How many life jackets does the captain want?",
            "[12.05.26, 09:20] Anna: the captain wants 40 life jackets, not 35",
        ),
        ("How large is the slipway?", "The slipway is 12 by 30 metres"),
        ("When was the lighthouse of Ouessant repainted?", "Lighthouse of Ouessant repainted in April"),
    ],
)
async def test_a_line_of_notes_is_quoted_alone(notes: Path, question: str, answer: str) -> None:
    report = await assay.research(question, sources=[str(notes)])
    assert report.markdown.splitlines()[0].replace("\\", "") == f"{answer} [1]"
    assert {claim.verdict for claim in report.claims} == {"quoted"}


@pytest.mark.parametrize("question", ["Who designs the poster?", "Where does the mayor live?"])
async def test_what_no_line_tells_is_not_answered(notes: Path, question: str) -> None:
    report = await assay.research(question, sources=[str(notes)])
    assert report.stop_reason == "no_evidence"


async def test_a_heading_answers_nothing(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n\n## How to ask for a berth in 2026\n\nSee the next page.\n")
    report = await assay.research("How do I ask for a berth in 2026?", sources=[str(tmp_path)])
    assert "How to ask for a berth" not in report.markdown.partition("## ")[0].partition("Nothing")[0]
