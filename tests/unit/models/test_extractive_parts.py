"""The built-in model and questions that name a numbered part of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay

LEASE = """# Lease of the boathouse

## 2. Use

2.1 The boathouse may be used from April to October.

2.2 The tenant sweeps the floor after each trip. Brooms hang beside the door.

## Article 7: Insurance

The owner insures the hull.

## § 12 Deposit

(1) The deposit is 300 euros.

(2) It is paid back within a month. Interest is kept by the owner.
"""
GUIDE = """# Starting the engine

1. Open the valve.
2. Prime the pump twice.
3. Turn the key.
4. Close the hatch before you leave.

# Mooring

1. Throw the bow line.
2. Fasten the stern to the bollard.

## Step 8: Checking

Look at the gauge in the cabin.
"""
RULES = """RULES OF THE CLUB

1. Membership

1.1 Anybody over 16 may join.
1.2 The fee is due in January. Late payers owe
5 euros more.

3. Meetings

The board meets monthly.
Minutes are sent to all members.

3.1 Guests

Guests wait outside.

4. End

The club ends with its last member.
"""
FILES = {"lease.md": LEASE, "guide.md": GUIDE, "rules.txt": RULES}


async def opening(question: str, folder: Path) -> str:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with Assay() as assay:
        report = await assay.start(question, sources=[folder]).report()
    text = report.markdown.partition("\n#")[0].partition("*As of")[0].partition("*Stand")[0]
    return " ".join(text.replace("[1]", "").replace("[2]", "").split())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does clause 2.2 say?", "2.2 The tenant sweeps the floor after each trip. Brooms hang beside the door."),
        ("What does article 7 say?", "The owner insures the hull."),
        ("What does § 12 (2) say?", "(2) It is paid back within a month. Interest is kept by the owner."),
        ("Was steht in § 12 Abs. 1?", "(1) The deposit is 300 euros."),
        ("How much is the deposit in section 12?", "(1) The deposit is 300 euros."),
        ("What is step 4?", "Close the hatch before you leave."),
        ("What is step 2 of mooring?", "Fasten the stern to the bollard."),
        ("What is step 8?", "Look at the gauge in the cabin."),
        ("What does rule 1.2 say about late payers?", "Late payers owe 5 euros more."),
        ("Was steht in Abschnitt 3.1?", "Guests wait outside."),
        ("What does section 4 of the rules say?", "The club ends with its last member."),
    ],
)
async def test_a_numbered_part_answers(question: str, answer: str, tmp_path: Path) -> None:
    assert await opening(question, tmp_path) == answer


async def test_parts_of_the_same_number_each_have_their_first_sentence(tmp_path: Path) -> None:
    assert await opening("What is step 2?", tmp_path) == "Prime the pump twice. Fasten the stern to the bollard."


async def test_a_part_with_parts_inside_goes_to_the_next_of_its_number(tmp_path: Path) -> None:
    answer = "The board meets monthly. Minutes are sent to all members. Guests wait outside."
    assert await opening("What does section 3 of the rules say?", tmp_path) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What does section 4.1 require?",
        "What is step 6?",
        "Was steht in § 5?",
        "What is step 2 of baking bread?",
        "What does § 12 (3) say?",
    ],
)
async def test_a_part_that_is_not_there_is_not_answered_by_another(question: str, tmp_path: Path) -> None:
    assert (await opening(question, tmp_path)).startswith(("Nothing that answers", "Nichts, was"))


async def test_a_roman_number_may_be_that_of_the_part(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text("# Story\n\n## Chapter IV\n\nThe otter sleeps in the reeds all day.\n")
    async with Assay() as assay:
        report = await assay.start("Where does the otter sleep in chapter 4?", sources=[tmp_path]).report()
    assert report.markdown.startswith("The otter sleeps in the reeds")
