"""Changes to single sentences: what goes, what stays as it is, sign for sign."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.report_sentences import claims
from assay.verify.repair.surgery import (
    Change,
    ClaimChange,
    Recite,
    Remove,
    Rewrite,
    align_claims,
    apply_changes,
    claim_change_of,
)

OUT = [
    ("One is 1. Two is 2. Three is 3.", ["c2"], "One is 1. Three is 3."),
    ("One is 1. Two is 2.", ["c1"], "Two is 2."),
    ("One is 1. Two is 2.", ["c2"], "One is 1."),
    ("One is 1.\nTwo is 2.\nThree is 3.\n", ["c2"], "One is 1.\nThree is 3.\n"),
    ("One is 1 [S1.1]. Two is 2 [S1.2].", ["c1"], "Two is 2 [S1.2]."),
    ("One is 1. [S1.1] Two is 2. [S1.2]", ["c1"], "Two is 2. [S1.2]"),
    ("One is 1. [S1.1] Two is 2. [S1.2]", ["c2"], "One is 1. [S1.1]"),
    ("One is 1.\n\nTwo is 2.\n\nThree is 3.", ["c2"], "One is 1.\n\nThree is 3."),
    ("One is 1.\n\n[S1.1]\n\nTwo is 2.", ["c1"], "Two is 2."),
    ("# A\n\nOne is 1.\n\n## B\n\nTwo is 2.\n\n## C\n\n3 is 3.\n", ["c2"], "# A\n\nOne is 1.\n\n## C\n\n3 is 3.\n"),
    ("One is 1.\n\n## B\n\n### B1\n\nTwo is 2.\n\n### B2\n\nThree is 3.", ["c2", "c3"], "One is 1."),
    ("## Empty before\n\n## B\n\nTwo is 2.\n\n## C\n\nThree is 3.", ["c1"], "## Empty before\n\n## C\n\nThree is 3."),
    ("- One is 1.\n- Two is 2.\n- Three is 3.\n", ["c2"], "- One is 1.\n- Three is 3.\n"),
    ("1. One is 1.\n2. Two is 2.\n3. Three is 3.\n", ["c1"], "1. Two is 2.\n2. Three is 3.\n"),
    ("Zero is 0.\n\n- One is 1.\n- Two is 2.\n\nThree is 3.", ["c2", "c3"], "Zero is 0.\n\nThree is 3."),
    ("Zero is 0.\n\nFigures:\n\n- One is 1.\n- Two is 2.\n\nThree is 3.", ["c2", "c3"], "Zero is 0.\n\nThree is 3."),
    ("Zero is 0. The figures:\n\n- One is 1.\n\nThree is 3.", ["c2"], "Zero is 0.\n\nThree is 3."),
    ("- One is 1.\n  - Two is 2.\n- Three is 3.", ["c2"], "- One is 1.\n- Three is 3."),
    ("- One is 1.\n\n  Two is 2.\n- Three is 3.", ["c1"], "- Two is 2.\n- Three is 3."),
    ("> One is 1.\n> Two is 2.\n\nThree is 3.", ["c1"], "> Two is 2.\n\nThree is 3."),
    ("> One is 1.\n\nThree is 3.", ["c1"], "Three is 3."),
    ("> One is 1.\n>\n> Two is 2.\n", ["c1"], "> Two is 2.\n"),
    ("| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n", ["c1"], "| a | b |\n|---|---|\n| y | 2 |\n"),
    ("Zero is 0.\n\n| a | b |\n|---|---|\n| x | 1 |\n\nTwo is 2.", ["c2"], "Zero is 0.\n\nTwo is 2."),
    ("**One is 1. Two is 2.** Three is 3.", ["c1"], "**Two is 2.** Three is 3."),
    ("**One is 1. Two is 2.** Three is 3.", ["c2"], "**One is 1.** Three is 3."),
    ("(One is 1. Two is 2.) Three is 3.", ["c2"], "(One is 1.) Three is 3."),
    ("**Staff.** It has 2 people.\n\nThree is 3.", ["c1"], "Three is 3."),
    ("It runs `a. b. c 1` daily. Two is 2.", ["c2"], "It runs `a. b. c 1` daily."),
    ("One is 1.\r\n\r\nTwo is 2.\r\n\r\nThree is 3.", ["c2"], "One is 1.\r\n\r\nThree is 3."),
    ("One is 1.", ["c1"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("report", "gone", "left"), OUT)
def test_a_sentence_goes_with_what_it_leaves_empty(report: str, gone: list[str], left: str) -> None:
    assert apply_changes(report, dict.fromkeys(gone, Remove())) == left


def test_a_heading_of_a_template_stays_and_says_that_nothing_was_found() -> None:
    report = "## A\n\nOne is 1.\n\n## B\n\nTwo is 2.\n\n## C\n\nThree is 3.\n"
    left = apply_changes(report, {"c2": Remove(), "c3": Remove()}, placeholder="Nothing.")
    assert left == "## A\n\nOne is 1.\n\n## B\n\nNothing.\n\n## C\n\nNothing.\n"


CITED = [
    ("One is 1 [S1.1].", "One is 1 [S2.3]."),
    ("One is 1. [S1.1]", "One is 1. [S2.3]"),
    ("One is 1. [S1.1][S1.2]", "One is 1. [S2.3]"),
    ("One [S1.1] is 1 [S1.2].", "One is 1 [S2.3]."),
    ("One is 1.", "One is 1. [S2.3]"),
    ("*One is 1.*", "*One is 1.* [S2.3]"),
    ("One is 1.\n\n[S1.1]\n\nTwo is 2.", "One is 1. [S2.3]\n\nTwo is 2."),
    ("| a | b |\n|---|---|\n| x | 1 |\n", "| a | b |\n|---|---|\n| x | 1 [S2.3] |\n"),
    ("| a | b |\n|---|---|\n| x [S1.1] | 1 [S1.2] |\n", "| a | b |\n|---|---|\n| x | 1 [S2.3] |\n"),
    ("- One is 1 【S1.1】\n- Two is 2", "- One is 1 [S2.3]\n- Two is 2"),
]


@pytest.mark.parametrize(("report", "after"), CITED)
def test_the_markers_of_a_sentence_are_replaced(report: str, after: str) -> None:
    assert apply_changes(report, {"c1": Recite(("S2.3",))}) == after


def test_a_sentence_takes_the_place_of_another() -> None:
    report = "Zero is 0. **One** is 1 [S1.1], or 2 [S1.2]. Two is 2.\n\n[S1.7]"
    assert (
        apply_changes(report, {"c2": Rewrite("One is 1. [S1.1]")}) == "Zero is 0. One is 1. [S1.1] Two is 2.\n\n[S1.7]"
    )
    assert apply_changes(report, {"c3": Rewrite("Two is 3. [S1.9]")}).endswith("or 2 [S1.2]. Two is 3. [S1.9]")


def test_several_changes_at_once() -> None:
    report = "One is 1 [S1.1]. Two is 2 [S1.2].\n\n- Three is 3\n- Four is 4 [S1.4]"
    changes: dict[str, Change] = {
        "c1": Remove(),
        "c2": Recite(("S9.1", "S9.2")),
        "c3": Remove(),
        "c4": Rewrite("4 [S2]"),
    }
    assert apply_changes(report, changes) == "Two is 2 [S9.1, S9.2].\n\n- 4 [S2]"


def test_aligned_finds_any_other_difference() -> None:
    wanted = [claim_change_of(each) for each in claims("One is 1 [S1.1]. Two is 2.")]
    assert align_claims("One is 1 [S1.1]. Two is 2.", wanted)
    assert align_claims("One is 1. [S1.1]\n\n- Two is 2.", wanted), "where it stands is free"
    for other in (
        "One is 1 [S1.2]. Two is 2.",
        "One is 1. Two is 2.",
        "One is 1 [S1.1].",
        "One is 2 [S1.1]. Two is 2.",
    ):
        assert align_claims(other, wanted) is None


# properties

SUBJECTS = ("The harbour", "Die Straße", "Nobody", "`make. all`", "The **old** pier", "Zürich (the city)")
MARKS = ("", " [S1.1]", " [S1.1, S2.2]", " [S3]", " 【S1.4】")


@st.composite
def sentence(draw: st.DrawFn) -> str:
    body = f"{draw(st.sampled_from(SUBJECTS))} has {draw(st.integers(1, 999))} berths"
    mark = draw(st.sampled_from(MARKS))
    return f"{body}.{mark}" if draw(st.booleans()) else f"{body}{mark}."


def several(least: int = 1, most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(sentence(), min_size=least, max_size=most).map(" ".join)


BLOCKS = st.one_of(
    several(),
    several().map(lambda text: f"**Staff.** {text}"),
    several(2).map(lambda text: f"*{text}* It has 3 piers."),
    several().map(lambda text: f"> {text}"),
    st.lists(several(), min_size=1, max_size=3).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(several(), min_size=2, max_size=3).map(
        lambda items: "\n".join(f"{at}. {item}" for at, item in enumerate(items, 1))
    ),
    st.tuples(several(), several()).map(lambda pair: f"- {pair[0]}\n  - {pair[1]}"),
    st.tuples(several(), several()).map(lambda pair: f"These are the figures:\n\n- {pair[0]}\n- {pair[1]}"),
    st.lists(sentence(), min_size=1, max_size=3).map(
        lambda rows: "| what | how much |\n|---|---|\n" + "\n".join(f"| {row} | 2 [S4.1] |" for row in rows)
    ),
    st.just("```\nOne is 1.\n```"),
    st.sampled_from(["# Title", "## Section", "### Part"]),
)
REPORTS = st.lists(BLOCKS, min_size=1, max_size=5).map("\n\n".join)


@settings(max_examples=scaled(40), deadline=None)
@given(REPORTS, st.randoms(use_true_random=False))
def test_every_other_claim_keeps_its_words_and_markers(report: str, chance: object) -> None:
    found = claims(report)
    changes: dict[str, Change] = {}
    wanted: list[ClaimChange] = []
    for each in found:
        kind = chance.choice(["keep", "keep", "recite", "remove", "rewrite"])  # type: ignore[attr-defined]
        if kind == "remove":
            changes[each.id] = Remove()
        elif kind == "recite":
            changes[each.id] = Recite(("S7.1",))
            wanted.append(ClaimChange(claim_change_of(each).text, ("S7.1",)))
        elif kind == "rewrite" and not each.head:
            changes[each.id] = Rewrite("A quay has 7 metres [S8.1].")
            wanted.append(ClaimChange("A quay has 7 metres.", ("S8.1",)))
        else:
            wanted.append(claim_change_of(each))
    after = apply_changes(report, changes)
    now = align_claims(after, wanted)
    assert now is not None, after
    for claim in now:
        assert after[claim.start : claim.end].replace("\n", " ").startswith(claim.text[:6])


@settings(max_examples=scaled(20), deadline=None)
@given(REPORTS)
def test_nothing_changes_nothing_and_all_gone_leaves_no_claim(report: str) -> None:
    assert apply_changes(report, {}) == report
    after = apply_changes(report, {each.id: Remove() for each in claims(report)})
    assert not claims(after)
