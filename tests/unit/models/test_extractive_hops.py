"""Questions which lead over several documents: taken apart, followed through findings, answered from what was read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.passage_context import format_source
from assay.core.sources import Passage, Source, sha256
from assay.models.extractive.actions import split_evenly
from assay.models.extractive.hop_answers import answer_hop, first_day
from assay.models.questions import links
from assay.models.shown_documents.passages import PassageField
from assay.models.shown_documents.shelf import ShownSources

FIRST = "Which of the EIPs required by EIP-9 was created first?"
WROTE = "Who wrote the PEP that replaced PEP 5?"
FRAME = "Requires of EIP-9 (A token (draft)): 20, 155 [S1001.5, S1001.1]"


@pytest.mark.parametrize(
    ("text", "relation", "asked"),
    [
        (WROTE, "replaced", "Who wrote PEP 7?"),
        ("Who is the author of PEP 5's successor?", "replaced", "Who wrote PEP 7?"),
        ("Who wrote the PEP PEP 5 was replaced by?", "replaced", "Who wrote PEP 7?"),
        ("Who wrote the EIP EIP-5 depends on?", "requires", "Who wrote PEP 7?"),
        ("By whom was the successor of PEP 5 written?", "replaced", "Who wrote PEP 7?"),
        ("When was the PEP PEP 5 was replaced by created?", "replaced", "When was PEP 7 created?"),
        ("Who wrote the PEP that superseded “Bug Fix Releases”?", "replaced", "Who wrote PEP 7?"),
        ("What is the status of the PEP superseded by PEP 5?", "replaces", "What is the status of PEP 7?"),
        ("What is the status of the PEP that PEP 5 replaced?", "replaces", "What is the status of PEP 7?"),
        ("When was the predecessor of PEP-0005 created?", "replaces", "When was PEP 7 created?"),
        ("What is the status of the EIP on which EIP-5 depends?", "requires", "What is the status of PEP 7?"),
        ("When was the EIP that EIP-5 depends on created?", "requires", "When was PEP 7 created?"),
        ("What is the type of the only EIP required by EIP-5?", "requires", "What is the type of PEP 7?"),
    ],
)
def test_taken_apart(text: str, relation: str, asked: str) -> None:
    hop = links.read_hop(text)
    assert hop is not None
    assert (hop.relation, hop.order, hop.second_question(["PEP 7"])) == (relation, "", asked)


@pytest.mark.parametrize(
    ("text", "order", "asked"),
    [
        (FIRST, "first", "When was EIP 20, EIP 155 and EIP 7 created?"),
        (
            "Of the EIPs EIP-9 depends on, which was created last?",
            "last",
            "When was EIP 20, EIP 155 and EIP 7 created?",
        ),
        ("Which EIP that EIP-9 requires is the oldest?", "first", "When was EIP 20, EIP 155 and EIP 7 created?"),
        (
            "Who wrote the most recent EIP required by EIP-9?",
            "last",
            "When was EIP 20, EIP 155 and EIP 7 created? Who wrote EIP 20, EIP 155 and EIP 7?",
        ),
    ],
)
def test_one_of_several(text: str, order: str, asked: str) -> None:
    hop = links.read_hop(text)
    assert hop is not None
    assert (hop.order, hop.second_question(["EIP 20", "EIP 155", "EIP 7"])) == (order, asked)


@pytest.mark.parametrize(
    ("text", "relation", "order", "asked"),
    [
        ("EIP-9 requires several EIPs. Which of them came first?", "requires", "first", "When was EIP 7 created?"),
        (
            "Look at the prerequisites of EIP 9: which EIP is the youngest?",
            "requires",
            "last",
            "When was EIP 7 created?",
        ),
        ("Tell me who wrote the document which took the place of PEP 9.", "replaced", "", "Who wrote EIP 7?"),
        ("Whose work is the PEP made obsolete by PEP 9?", "replaces", "", "Who wrote EIP 7?"),
        ("Which status has the older PEP that PEP 9 supersedes?", "replaces", "", "What is the status of EIP 7?"),
    ],
)
def test_other_words_for_it(text: str, relation: str, order: str, asked: str) -> None:
    hop = links.read_hop(text)
    assert hop is not None
    assert (hop.relation, hop.order) == (relation, order)
    assert hop.second_question(["EIP 7"]).startswith(asked[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "Which PEP was superseded by PEP 387?",
        "Was PEP 5 superseded by PEP 387?",
        "What does EIP-20 require?",
        "Which EIPs require EIP-20?",
        "Who wrote PEP 8?",
        "What is the status of PEP 5, and by which PEP was it replaced?",
        "Which documents are required by law?",
        "",
    ],
)
def test_other_questions_are_left_alone(text: str) -> None:
    assert links.read_hop(text) is None


@given(st.text(max_size=80))
def test_any_text_may_be_asked(text: str) -> None:
    links.read_hop(text)
    links.read_hop(f"Who wrote the PEP that replaced {text}?")
    assert answer_hop(text, ShownSources([])) == []


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (FIRST, FRAME, ["EIP 20", "EIP 155"]),
        (FIRST, f"- {FRAME}\n- Requires of EIP-10 (Other): 3 [S1.1]", ["EIP 20", "EIP 155"]),
        (FIRST, "Created of EIP-9 (A token): 2015-11-19 [S1.1]", []),
        (WROTE, "Superseded-By of PEP 5 (Old: and worn): 387 [S1.1]", ["PEP 387"]),
        (WROTE, "Replaces of PEP 387 (New): 5, 291 [S1.1]", ["PEP 387"]),
        (WROTE, "Replaces of PEP 387 (New): 291 [S1.1]", []),
        (WROTE, "Nothing about this was found.", []),
    ],
)
def test_what_findings_name(text: str, line: str, found: list[str]) -> None:
    hop = links.read_hop(text)
    assert hop is not None
    assert links.find_targets(hop, [f"Agent 1 found:\n{line}"]) == found


@given(st.lists(st.text(min_size=1, max_size=4), max_size=30), st.integers(min_value=-2, max_value=12))
def test_groups_hold_every_name_once(names: list[str], most: int) -> None:
    groups = split_evenly(names, most)
    assert [name for group in groups for name in group] == names
    assert len(groups) <= max(1, most)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2015-11-19", (2015, 11, 19)),
        ("19-Nov-2015", (2015, 11, 19)),
        ("7 November 2015, revised 2016-01-01", (2015, 11, 7)),
        ("19-Xyz-2015", None),
        ("soon", None),
    ],
)
def test_the_day_a_field_says(value: str, day: tuple[int, int, int] | None) -> None:
    assert first_day(PassageField("created", "created", value, "S1.1")) == day


# the answer


def eip(number: int, created: str, requires: str = "") -> str:
    """A document with a header, as tools show it."""
    lines = [f"eip: {number}", f"title: The number {number}", "author: A. Uthor", f"created: {created}"]
    lines += [f"requires: {requires}"] if requires else []
    id = f"S{number}"
    passages = [passage(id, place, line) for place, line in enumerate(lines)]
    source = Source(
        id=id,
        document_sha256="",
        snapshot_sha256="",
        url=f"https://example.org/eip-{number}",
        title=f"The number {number}",
        media_type="text/plain",
        fetched_at="",
    )
    return format_source(source, passages)


def passage(source: str, place: int, text: str) -> Passage:
    hashed = sha256(text.encode())
    return Passage(
        id=f"{source}.{place}", source=source, document_sha256="", start=0, end=9, text=text, text_sha256=hashed
    )


SHELF = [eip(9, "2020-01-01", "20, 155"), eip(20, "2015-11-19"), eip(155, "2016-10-14")]


@pytest.mark.parametrize(("word", "first"), [("first", 20), ("last", 155)])
def test_the_one_created_first_or_last_is_stated_first(word: str, first: int) -> None:
    units = answer_hop(FIRST.replace("first", word), ShownSources(SHELF))
    assert [unit.text for unit in units] == [
        f"Created of EIP-{first} (The number {first}): {'2015-11-19' if first == 20 else '2016-10-14'}",
        "Requires of EIP-9 (The number 9): 20, 155",
    ]


def test_without_every_date_none_is_called_the_first() -> None:
    assert answer_hop(FIRST, ShownSources(SHELF[:2])) == []
    assert answer_hop(FIRST, ShownSources([*SHELF[:2], eip(155, "soon")])) == []
    assert answer_hop(FIRST, ShownSources(SHELF[1:])) == []


def test_what_is_asked_of_each_document_named() -> None:
    units = answer_hop("Who wrote the EIPs required by EIP-9?", ShownSources(SHELF))
    assert [unit.text.partition(" (")[0] for unit in units] == [
        "Author of EIP-20",
        "Author of EIP-155",
        "Requires of EIP-9",
    ]
