"""Claims: which sentences a report has, where they are, what they cite, and what they are for."""

from __future__ import annotations

import pytest
from growth import WORST, exponent
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.markers import parse_markers
from assay.core.report_sentences import ReportSentence, claims, read_sentences
from assay.core.translation import record_statement
from assay.locale import use_locale


def ids(sentence: ReportSentence) -> tuple[str, ...]:
    return tuple(id for marker in sentence.markers for id in marker.ids)


def cited(report: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(claim.text, ids(claim)) for claim in claims(report)]


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("One is so [S1.1]. Two is so [S1.2].", [("One is so.", ("S1.1",)), ("Two is so.", ("S1.2",))]),
        ("One is so. [S1.1] Two is so.[S1.2]", [("One is so.", ("S1.1",)), ("Two is so.", ("S1.2",))]),
        (
            "It is made every month. [S1.1] For the next year too [S1.2].",
            [("It is made every month.", ("S1.1",)), ("For the next year too.", ("S1.2",))],
        ),
        (
            "It is made every month [S1.1]. “For the next year too.” [S1.2]",
            [("It is made every month.", ("S1.1",)), ("“For the next year too.”", ("S1.2",))],
        ),
        (
            "Smith et al. [S1.1] Jones agrees, by 3 m. [S1.2] high.",
            [("Smith et al. Jones agrees, by 3 m. high.", ("S1.1", "S1.2"))],
        ),
        ("One [S1.1] is so [S1.2] [S1.3].", [("One is so.", ("S1.1", "S1.2", "S1.3"))]),
        ("[S1.1] One is so. Two is so.", [("One is so.", ("S1.1",)), ("Two is so.", ())]),
        ("One is so.\n\n[S1.1]", [("One is so.", ("S1.1",))]),
        ("这是第一句[S1.1]。这是第二句。[S1.2]", [("这是第一句。", ("S1.1",)), ("这是第二句。", ("S1.2",))]),
        (
            "- One item here [S1.1]\n- Two items\n  here [S1.2]",
            [("One item here", ("S1.1",)), ("Two items here", ("S1.2",))],
        ),
        ("> A quoted line\n> of two [S1.1].", [("A quoted line of two.", ("S1.1",))]),
        ("| a | b |\n|---|---|\n| x. Y | 37 [S1.1] |", [("x. Y | 37", ("S1.1",))]),
        (
            "Version `a. B` of [x. Y](http://e.x) is out [S1.1].",
            [("Version `a. B` of [x. Y](http://e.x) is out.", ("S1.1",))],
        ),
        ("It is `[S1.1]` code here.", [("It is `[S1.1]` code here.", ())]),
        ("Note of PEP 6: One is so. Two is so. [S1.1]", [("Note of PEP 6: One is so. Two is so.", ("S1.1",))]),
        ("```\nOne is so [S1.1].\n```\n", []),
    ],
)
def test_sentences_with_what_they_cite(report: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert cited(report) == expected


def test_places_begin_at_the_first_character_and_end_before_the_markers_at_the_end() -> None:
    report = (
        "# H\r\n\r\n- **One** [S1.1] is\r\n  so 🙂 [S1.2]. Two is so.[S1.3]\r\n\r\n| a |\r\n|---|\r\n| 37 [S1.4] |\r\n"
    )
    assert [report[claim.start : claim.end] for claim in claims(report)] == [
        "**One** [S1.1] is\r\n  so 🙂",
        "Two is so.",
        "37",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<div>The moon is made of cheese.</div>",
        "<!--\nThe moon is made of cheese. -->",
        '[x]: tel:1 "The moon is cheese."',
    ],
)
def test_what_readers_see_as_text_is_checked_although_markdown_would_hide_it(hidden: str) -> None:
    report = f"It rises [S1.1].\n\n{hidden}\n"
    assert ["moon" in claim.text for claim in claims(report)] == [False, True]
    assert len(claims(report, html=True)) == 1


def test_sentences_in_bold_are_no_title() -> None:
    text = "**The dam holds 4 million litres. It was closed in 2019**"
    assert [sentence.role for sentence in read_sentences(text)] == ["fact", "fact"]


def test_ids_count_claims_alone() -> None:
    assert [sentence.id for sentence in read_sentences("# Head\n\nOne is so here.\n\nIs it?\n\nTwo is so here.")] == [
        "",
        "c1",
        "",
        "c2",
    ]


STRUCTURE = [
    "- **26\\.1. Dumps**\n  - ",
    "**3. The plant, v. 2**",
    "# A heading in 2019",
    "A heading in 2019\n====",
    "**A label**",
    "The parts are these:",
    "Why is that?",
    "The following section looks at each in turn.",
    "This report covers the plan.",
    "---",
    "Background",
    "| a | b |\n|---|---|",
    "## What could not be found\n\n- Who wrote it in 2019",
    "## Limits\n\nOnly 37 documents were read.",
    "Nothing about this was found.",
    "The documents searched hold nothing that answers this question.",
]


@pytest.mark.parametrize("report", STRUCTURE)
def test_structure_states_nothing(report: str) -> None:
    assert claims(report) == ()


NOTICES = [
    "*Compiled by Assay's built-in extractive model: every sentence is quoted verbatim from the source it cites.*",
    "*This answer rests on no sources.*",
    "Nothing that answers this question was found in docs/ (7 documents); searched for “tide”.",
    "12 documents match; 9 of 12 documents were read.",
]


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notice_is_known_by_who_stated_it_and_never_by_its_looks(notice: str) -> None:
    report = f"It rose in 2019. [S1.1]\n\n{notice}"
    with use_locale(""):
        record_statement(notice.strip("*"))
        assert [claim.text for claim in claims(report)] == ["It rose in 2019."]
    assert len(claims(report)) == 2  # nobody stated it


FACTS = [
    "It was approved in 2019.",
    "The committee rejected it.",
    "It is the largest of all.",
    "No document was approved.",
    "Three of them were built",
    "Nothing was found in 2019 by the police.",
    "This section was opened in 1937.",
    "## Protocol limits\n\nThe protocol has a limit.",
    "## What could not be found\n\n## More\n\nIt was approved.",
]


@pytest.mark.parametrize("report", FACTS)
def test_uncited_facts_are_claims_too(report: str) -> None:
    [claim] = claims(report)
    assert claim.markers == ()
    assert claim.role == "fact"


CONCLUSIONS = [
    "Overall, the approach looks promising.",
    "Taken together, these points favour a careful start.",
    "Therefore a cautious reading seems wise.",
]


@pytest.mark.parametrize("report", CONCLUSIONS)
def test_a_conclusion_which_states_nothing_to_look_up_is_no_claim(report: str) -> None:
    assert [sentence.role for sentence in read_sentences(report)] == ["analysis"]
    assert claims(report) == ()


@pytest.mark.parametrize(
    "report",
    [
        "Overall, sales rose by 12 percent.",
        "Therefore Norway left the union.",
        "In short, it is the largest of them.",
        "Taken together, there is no evidence that it works.",
        "Overall, most of them agreed.",
        "Overall, the approach looks promising. [S1.1]",
    ],
)
def test_a_conclusion_which_states_something_is_one(report: str) -> None:
    assert [sentence.role for sentence in claims(report)] == ["fact"]


def test_what_cites_something_is_a_claim_whatever_it_looks_like() -> None:
    assert cited("These are the parts [S1.1]:") == [("These are the parts:", ("S1.1",))]
    assert cited("Background [S1.1]") == [("Background", ("S1.1",))]


PARTS = st.sampled_from(
    [
        *(
            "One is so. ",
            "Is it? ",
            "[S1.1]",
            " [S1.2]",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "> ",
            "# ",
            "| a | b |\n|---|---|\n| ",
        ),
        *(" | ", "`", "**", "```\n", "这是。", "é\u0301", "🙂", "\r\n", "\t", "\\", "<b>", "[a](b)", "a: b", "    "),
    ]
)


@settings(max_examples=scaled(100))
@given(st.lists(PARTS, max_size=25).map("".join) | st.text(max_size=60))
def test_any_report_is_read_in_order_without_loss_of_place(report: str) -> None:
    at = 0
    known = {marker.start for marker in parse_markers(report)}
    owned: list[int] = []
    for sentence in read_sentences(report):
        assert at <= sentence.start < sentence.end <= len(report)
        at = sentence.end
        assert report[sentence.start].strip()
        assert report[sentence.end - 1].strip()
        assert sentence.text == " ".join(sentence.text.split()) != ""
        owned += [marker.start for marker in sentence.markers]
    assert owned == sorted(set(owned))
    assert set(owned) <= known


def test_a_sign_no_text_may_hold_hides_no_sentence() -> None:
    (claim,) = claims("It rose\0 in 2019. [S1.1]")
    assert (claim.start, claim.end) == (0, 17)


def test_many_citations_in_one_paragraph_take_linear_time() -> None:
    assert exponent(read_sentences, lambda size: "A b c d [S1.1]. b [S1.1]. " * size, 500) < WORST


def test_a_column_that_counts_the_rows_says_nothing() -> None:
    rows = "\n".join(f"| {number} | It rose {10 * number} metres. [S1.{number}] |" for number in range(1, 4))
    for name in ("#", "No.", "**Nr**"):
        found = claims(f"| {name} | Finding |\n|---|---|\n{rows}")
        assert [claim.text for claim in found] == [f"It rose {10 * number} metres." for number in range(1, 4)]
        assert {claim.head for claim in found} <= {("Finding",)}
    for name in ("Rank", "n", ""):
        assert claims(f"| {name} | Finding |\n|---|---|\n{rows}")[0].text.startswith("1 |")
    assert claims("| # | Finding |\n|---|---|\n| 2019 | It rose. [S1.1] |")[0].text.startswith("2019 |")
