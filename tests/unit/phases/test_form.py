"""The form code gives a report: its date, what could not be found, the headings of a template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.blocks import outline, read_template
from assay.core.brief import Section
from assay.core.phrases import NOTHING
from assay.core.plan import Coverage
from assay.core.report_sentences import read_sentences, role_of
from assay.locale import use_locale
from assay.phases.form import (
    ReportOpening,
    add_date_and_missing,
    add_lead,
    add_missing,
    date_sentence,
    fill_template,
    is_listed,
    join_parts,
    missing_parts,
    read_opening,
    replace_answer,
    replace_date,
)

DATED = date_sentence((), "2026-01-01")
TEMPLATE = read_template("# Report\n\n## Risks\nWhat may go wrong.\n\n## Costs\n\n## Open questions")
LINES = st.sampled_from(
    [
        "# Report",
        "## Risks",
        "### Detail",
        "2. Costs",
        "## 2. costs:",
        "A fact. [S1.1]",
        "",
        "```",
        "- item",
        "> # quoted",
    ]
)
TEXTS = st.lists(LINES, max_size=10).map("\n".join)


def test_the_newest_date_a_source_states_is_the_answers() -> None:
    assert (
        date_sentence(["2024-05-01", "2025", "2023-01"], "2026-01-01")
        == "As of 2025, the date of the newest source cited."
    )
    assert date_sentence(["2031-01-01", "soon", ""], "2026-01-01").startswith(
        "As of 2026-01-01, the day of this research"
    )
    assert date_sentence(["2031-01-01", "2024-05-01"], "2026-01-01").startswith("As of 2024-05-01,")


def test_the_date_is_no_claim_and_a_sentence_like_it_is_one() -> None:
    with use_locale(""):
        for published in ([], ["2024"], ["2024-05-01"]):
            (sentence,) = read_sentences(f"*{date_sentence(published, '2026-01-01')}*")
            assert sentence.role == "structure"
    assert role_of("As of 2024, the population is five million.", (), is_cited=False) == "fact"
    assert role_of("As of 2024-05-01, the date of the newest treaty is 1990.", (), is_cited=False) == "fact"


def test_the_date_stands_below_the_answer() -> None:
    assert add_date_and_missing("Seven. [S1.1]", DATED, ()) == f"Seven. [S1.1]\n\n*{DATED}*"
    assert add_date_and_missing("Seven. [S1.1]\n\n## More\n\nIt turns.", DATED, ()) == (
        f"Seven. [S1.1]\n\n*{DATED}*\n\n## More\n\nIt turns."
    )
    titled = add_date_and_missing("# Tides\n\nSeven. [S1.1]\n\n## More\n\nIt turns.", DATED, ())
    assert titled == f"# Tides\n\nSeven. [S1.1]\n\n*{DATED}*\n\n## More\n\nIt turns."
    assert add_date_and_missing("## More\n\nIt turns.", DATED, ()) == f"*{DATED}*\n\n## More\n\nIt turns."
    assert (
        add_date_and_missing("Seven. [S1.1]\n\n*Quoted verbatim.*", DATED, ())
        == f"Seven. [S1.1]\n\n*{DATED}*\n\n*Quoted verbatim.*"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Old.\n\n## A\n\nB.", "New.\n\n## A\n\nB."),
        ("# Title\n\nOld.\n\n## A\n\nB.", "# Title\n\nNew.\n\n## A\n\nB."),
        ("## A\n\nB.", "New.\n\n## A\n\nB."),
        ("Old.\n\nMore.", "New."),
        ("# Title\n\n## A\n\nB.", "New.\n\n# Title\n\n## A\n\nB."),
    ],
)
def test_another_answer_stands_where_the_answer_stood(text: str, expected: str) -> None:
    assert replace_answer(text, "New.") == expected


@pytest.mark.parametrize(
    ("text", "answer", "leads"),
    [
        ("One [S1]. Two.\n\n## A\n\nB.", "One [S1]. Two.", {}),
        ("One [S1].", "One [S1].", {}),
        ("## A\n\nB [S1].", "", {}),
        ("One [S1].\n\n2: Next [S1].\n3: Last [S1].", "One [S1].", {2: "Next [S1].", 3: "Last [S1]."}),
        ("One [S1].\n\n2: Next.\n3: Last [S1].", "One [S1].", {3: "Last [S1]."}),
        ("One.\n\n2: Next [S1].", "", {2: "Next [S1]."}),
        ("One [S1].\n\n- **Part 2:** Next [S1].", "One [S1].", {2: "Next [S1]."}),
        ("One [S1].\n\nTeil 3: Last [S1].", "One [S1].", {3: "Last [S1]."}),
        ("One [S1].\n\n第 3：Last [S1].", "One [S1].", {3: "Last [S1]."}),
        ("One [S1].\n\n2: Next [S1].\n2: Again [S1].", "One [S1].", {2: "Next [S1]."}),
        ("1: One [S1].\n2: Next [S1].", "One [S1].", {2: "Next [S1]."}),
        ("One [S1].\n\n4: None.\n2020: A year.", "One [S1].\n\n4: None.\n2020: A year.", {}),
        ("One [S1], of which\n2.5 metres.", "One [S1], of which\n2.5 metres.", {}),
        (f"One [S1].\n\n2: {'Long [S1]. ' * 100}", "One [S1].", {}),
    ],
)
def test_an_opening_is_its_answer_and_the_lines_for_the_parts(text: str, answer: str, leads: dict[int, str]) -> None:
    assert read_opening(text, 3, lambda text: "[S1]" in text) == ReportOpening(answer=answer, leads=leads)


@given(st.text(max_size=200), st.integers(2, 12))
def test_any_opening_can_be_read(text: str, parts: int) -> None:
    opening = read_opening(text, parts, lambda _: True)
    assert opening.answer in text
    assert all(2 <= number <= parts and lead and lead in text for number, lead in opening.leads.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## A\n\nB.", "## A\n\nNext.\n\nB."),
        ("B.", "Next.\n\nB."),
        ("## A\n\n### B\n\nC.", "## A\n\nNext.\n\n### B\n\nC."),
        ("A\n===\n\n| B |\n|---|\n| 1 |", "A\n===\n\nNext.\n\n| B |\n|---|\n| 1 |"),
    ],
)
def test_what_leads_to_a_part_stands_below_its_first_heading(text: str, expected: str) -> None:
    assert add_lead(text, "Next.") == expected
    assert add_lead(text, "") == text


def test_what_could_not_be_found_is_said_once_at_the_end() -> None:
    added = add_date_and_missing("Seven. [S1.1]\n\n## More\n\nIt turns. [S1.2]", DATED, ("The moon", "The sun"))
    assert added.endswith("It turns. [S1.2]\n\n## What could not be found\n\n- The moon\n- The sun")
    found = add_date_and_missing(
        "Seven.\n\n## Not found\n\n- The moon: no source.\n\n## More\n\nIt turns.", DATED, ("The moon",)
    )
    assert found.endswith("## More\n\nIt turns.\n\n## Not found\n\n- The moon: no source.")
    twice = add_date_and_missing(
        "7.\n\n## What could not be found\n\nA\n\n## X\n\nY\n\n## What could not be found\n\nB", DATED, ()
    )
    assert twice.endswith("## X\n\nY\n\n## What could not be found\n\nA\n\nB")
    assert "not be found" not in add_date_and_missing("Seven.", DATED, ())


def test_in_another_language_an_uncited_last_section_says_what_was_not_found() -> None:
    text = "Sieben. [S1.1]\n\n## Wind\n\nAus Nordwest. [S2.1]\n\n## Was offen blieb\n\n- Der Mond."
    with use_locale("de"):
        kept = add_date_and_missing(text, DATED, ("Der Mond",))
        assert kept.endswith("## Was offen blieb\n\n- Der Mond.")
        assert add_missing(kept, ("Die Sonne",)).endswith("- Der Mond.\n- Die Sonne")  # known by its heading now
    with use_locale("de"):
        cited = text.replace("- Der Mond.", "Er scheint. [S2.2]")
        assert add_date_and_missing(cited, DATED, ("Der Mond",)).endswith("## Was nicht gefunden wurde\n\n- Der Mond")


def test_the_date_is_renewed_where_it_was_stated_in_whatever_language() -> None:
    with use_locale("de"):
        text = add_date_and_missing("Sieben. [S1.1]", date_sentence(["2024-03-01"], "2025-01-02"), ())
        assert text.endswith("*Stand: 1. März 2024, das Datum der neuesten zitierten Quelle.*")
        again = date_sentence(["2024-05-01"], "2025-01-02")
        assert replace_date(text, again).endswith("*Stand: 1. Mai 2024, das Datum der neuesten zitierten Quelle.*")
        assert replace_date(replace_date(text, again), again) == replace_date(text, again)
    with use_locale("fr"):
        assert replace_date(text, "…") == text  # what another run stated is none of this one's


def test_a_note_at_the_end_stays_below_the_date_also_behind_a_list() -> None:
    text = "- Seven. [S1.1]\n- Eight. [S1.2]\n\n*Quoted verbatim.*"
    assert (
        add_date_and_missing(text, DATED, ()) == f"- Seven. [S1.1]\n- Eight. [S1.2]\n\n*{DATED}*\n\n*Quoted verbatim.*"
    )
    assert add_date_and_missing("*Quoted verbatim.*", DATED, ()) == f"*Quoted verbatim.*\n\n*{DATED}*"


def test_a_part_is_listed_where_what_could_not_be_found_has_a_line_on_it() -> None:
    text = "- The sun: it shines. [S1.1]\n\n## What could not be found\n\n- The moon: no source."
    assert is_listed(text, "The moon")
    assert not is_listed(text, "The sun")
    assert not is_listed(text, "The wind")


def test_only_steps_on_which_nothing_was_found_are_missing() -> None:
    statuses = (("not", 0), ("not", 1), ("partly", 2), ("answered", 3), ("not", 4))
    coverage = [Coverage(step=step, part=f"Part\n{step}", status=status) for status, step in statuses]  # type: ignore[arg-type]
    assert missing_parts(coverage) == ("Part 1", "Part 4")


@given(TEXTS, st.lists(st.sampled_from(["The moon", "The sun"]), unique=True))
def test_forming_twice_changes_nothing_more(text: str, absent: list[str]) -> None:
    once = add_date_and_missing(text, DATED, absent)
    assert once.count(DATED) == 1
    again = add_date_and_missing(once.replace(f"*{DATED}*", ""), DATED, absent)
    assert again.split() == once.split()


def test_later_pieces_have_no_answer_of_their_own() -> None:
    assert join_parts(["Seven. [S1.1]\n\n## A\n\nx", "Seven again.\n\n## B\n\ny", "only text"]) == (
        "Seven. [S1.1]\n\n## A\n\nx\n\n## B\n\ny\n\nonly text"
    )


def test_the_beginning_of_a_part_stays_if_it_alone_cites_something() -> None:
    part = "It turns twice. [S2.2]\n\n## Tides\n\nIt rises. [S2.1]"
    assert join_parts(["One. [S1.1]", part]) == f"One. [S1.1]\n\n{part}"
    assert join_parts(["One. [S1.1]", part.replace("S2.2", "S2.1")]) == "One. [S1.1]\n\n## Tides\n\nIt rises. [S2.1]"


def test_a_template_is_filled_in_its_order_and_nothing_is_added() -> None:
    written = (
        "The answer. [S1.1]\n\n## 2. **Costs**\n\nTwo euros. [S1.2]\n\n### By year\n\nMore. [S1.3]"
        "\n\n## Conclusion\n\nAll in all. [S1.4]\n\n*Quoted verbatim.*"
    )
    made = fill_template([written], TEMPLATE, DATED, ("The moon",))
    assert made.text == (
        "# Report\n\nThe answer. [S1.1]\n\n"
        f"## Risks\n\n{NOTHING}\n\n"
        "## Costs\n\nTwo euros. [S1.2]\n\n**By year**\n\nMore. [S1.3]\n\n**Conclusion**\n\nAll in all. [S1.4]\n\n"
        f"## Open questions\n\n{NOTHING}\n\n"
        "*Quoted verbatim.*"
    )
    assert made.limits == (DATED, "Not found: The moon.")


def test_a_template_with_a_place_for_what_is_missing_has_it_there() -> None:
    template = read_template("## Answer\n\n## What could not be found")
    made = fill_template(["## Answer\n\nSeven. [S1.1]"], template, DATED, ("The moon",))
    assert made.text == "## Answer\n\nSeven. [S1.1]\n\n## What could not be found\n\n- The moon"
    assert made.limits == (DATED,)


def test_pieces_of_a_report_share_the_headings() -> None:
    made = fill_template(
        ["## Risks\n\nOne. [S1.1]", "## Costs\n\nTwo. [S1.2]\n\n## Risks\n\nThree."], TEMPLATE, DATED, ()
    )
    assert "## Risks\n\nOne. [S1.1]\n\nThree.\n\n## Costs\n\nTwo. [S1.2]" in made.text


def test_headings_which_are_alike_are_filled_in_turn() -> None:
    template = read_template("# A\n\n## Pros\n\n# B\n\n## Pros")
    made = fill_template(["# A\n\n## Pros\n\nfast\n\n# B\n\n## Pros\n\nsmall"], template, DATED, ())
    assert made.text == "# A\n\n## Pros\n\nfast\n\n# B\n\n## Pros\n\nsmall"


@given(st.lists(st.one_of(TEXTS, st.text()), max_size=3))
def test_the_headings_are_always_those_of_the_template(texts: list[str]) -> None:
    made = fill_template(texts, TEMPLATE, DATED, ())
    assert [(part.level, part.title) for part in outline(made.text)] == [(e.level, e.title) for e in TEMPLATE]


@given(st.lists(st.text("abc ", min_size=1).filter(str.strip), min_size=3, max_size=3))
def test_all_that_was_written_is_kept(bodies: list[str]) -> None:
    sections = [Section(level=2, title=name) for name in ("Risks", "Else", "Costs")]
    text = "\n\n".join(f"## {each.title}\n\n{body}" for each, body in zip(sections, bodies, strict=True))
    made = fill_template([text], TEMPLATE, DATED, ())
    assert all(body.strip() in made.text for body in bodies)
