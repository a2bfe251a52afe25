"""What a report says could not be found, put right by coverage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.plan import Coverage, CoverageStatus
from assay.phases.form import gap_lines, reconcile_missing

TITLES = ("Weight of the boat", "Warranty terms", "Price history", "Maker and country")
HEAD = "## What could not be found"
SPEECH = "It weighs 310 kg. [S1.1]"


def covered(*statuses: CoverageStatus) -> tuple[Coverage, ...]:
    parts = (Coverage(step=at, part=TITLES[at - 1], status=status) for at, status in enumerate(statuses, 1))
    whole: CoverageStatus = "answered" if set(statuses) == {"answered"} else "partly"
    return (Coverage(step=0, part="What of the boat?", status=whole), *parts)


def test_the_lines_are_the_parts_not_found_and_those_a_reason_is_known_for() -> None:
    parts = (
        Coverage(step=0, part="?", status="partly"),
        Coverage(step=1, part="Weight", status="not", reason="No page says it."),
        Coverage(step=2, part="Price", status="partly"),
        Coverage(step=3, part="Maker", status="partly", reason="Only the country."),
        Coverage(step=4, part="Length", status="answered"),
        Coverage(step=5, part="Colour", status="not"),
    )
    assert gap_lines(parts) == ("Weight: No page says it.", "Maker: Only the country.", "Colour")
    assert gap_lines(parts[:1]) == ()


def test_a_false_section_goes_with_its_heading_and_nothing_else_does() -> None:
    text = f"{SPEECH}\n\n{HEAD}\n\n- The warranty.\n\n## More\n\nIt is red. [S1.2]"
    assert reconcile_missing(text, covered("answered", "answered")) == f"{SPEECH}\n\n## More\n\nIt is red. [S1.2]"
    assert reconcile_missing(text, ()) == text


def test_a_line_about_what_is_answered_goes_and_what_is_lacking_comes() -> None:
    text = f"{SPEECH}\n\n{HEAD}\n\n- The weight of the boat.\n- Terms of the warranty are not said."
    done = reconcile_missing(text, covered("answered", "not", "not"))
    assert done == f"{SPEECH}\n\n{HEAD}\n\n- Terms of the warranty are not said.\n- Price history"


def test_a_section_of_which_nothing_is_left_goes() -> None:
    text = f"{SPEECH}\n\n{HEAD}\n\nThe weight of the boat."
    assert reconcile_missing(text, covered("answered", "not")) == SPEECH


statuses = st.sampled_from(["answered", "partly", "not"])


@given(st.lists(statuses, min_size=1, max_size=4), st.lists(st.sampled_from(TITLES), max_size=4), st.booleans())
def test_no_false_line_none_missing_and_twice_is_once(
    found: list[CoverageStatus], titles: list[str], after: bool
) -> None:
    coverage = covered(*found)
    lines = "\n".join(f"- {title}" for title in titles)
    text = f"{SPEECH}\n\n{HEAD}\n\n{lines}" + ("\n\n## More\n\nIt is red. [S1.2]" if after else "")
    done = reconcile_missing(text, coverage)
    assert done.startswith(SPEECH)
    assert done.endswith("It is red. [S1.2]") is after
    section = done.partition(HEAD)[2].partition("\n## ")[0]
    for part in coverage[1:]:
        if part.status == "answered":
            assert part.part not in section
        elif part.status == "not" and section:
            assert part.part in section
    assert reconcile_missing(done, coverage) == done
