"""Cells of a table row left empty: what goes, what stays, and which."""

from __future__ import annotations

from evidence_of import evidence, passage
from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Check
from assay.core.report_sentences import claims
from assay.core.tables.cells import row_cells
from assay.verify.claim_check import CheckRules, ClaimResult
from assay.verify.evidence import ClaimEvidence
from assay.verify.repair.edition import empty_cells, is_failing_row
from assay.verify.repair.surgery import EMPTY, Blank, apply_changes

HEAD = "| plant | people | opened in |\n|---|---|---|\n"
PLANT = passage("S1.1", "The northern plant employs 400 people. The northern plant opened in 1890.")
WORDS = st.text("abc xyz 0123.,", min_size=1, max_size=12).map(str.strip).filter(bool)
MARKERS = st.sampled_from(("", " [S1.1]", " [S1.2]", " [S1.1][S1.2]"))


def row(text: str, rule: str = "number", held: ClaimEvidence | None = None) -> tuple[str, ClaimResult]:
    """A report which is a table of one row, and the row's claim."""
    report = f"{HEAD}{text}"
    [sentence] = claims(report)
    check = Check(rule=rule, verdict="contradicted", reason="so it is")
    return report, ClaimResult(id="c1", sentence=sentence, evidence=held or evidence(PLANT), check=check)


def test_the_cell_which_is_false_goes_alone() -> None:
    report, checked = row("| northern plant | 400 people | 1990 [S1.1] |")
    found = empty_cells(report, checked, CheckRules())
    assert found is not None
    assert (found.change, found.names) == (Blank((2,)), ("opened in",))
    assert found.sentence.text == f"northern plant | 400 people | {EMPTY}"
    assert apply_changes(report, {"c1": found.change}) == f"{HEAD}| northern plant | 400 people | {EMPTY} [S1.1] |"


def test_nothing_is_left_of_a_row_whose_cells_are_all_false() -> None:
    report, checked = row("| northern plant | 900 people | 1990 [S1.1] |")
    assert empty_cells(report, checked, CheckRules()) is None


def test_a_row_of_one_value_is_not_emptied() -> None:
    report, checked = row("| northern plant | 900 people [S1.1] | - |")
    assert empty_cells(report, checked, CheckRules()) is None


def test_what_a_judge_denies_or_nothing_supports_is_no_matter_of_cells() -> None:
    text = "| northern plant | 400 people | 1990 [S1.1] |"
    assert [is_failing_row(row(text, rule)[1]) for rule in ("number", "judge", "citation")] == [True, False, False]


@given(st.tuples(WORDS, WORDS), st.tuples(MARKERS, MARKERS), st.sampled_from(((1,), (2,), (1, 2))), st.booleans())
def test_the_other_cells_and_every_marker_stay(
    values: tuple[str, str], markers: tuple[str, str], chosen: tuple[int, ...], bar: bool
) -> None:
    inner = " | ".join(value + marker for value, marker in zip(values, markers, strict=True))
    report = (
        f"Before it, 12 people came.\n\n{HEAD}| northern plant 7 | {inner}{' |' if bar else ''}\n\nAfter it, 13 left."
    )
    found = claims(report)
    before = next(each for each in found if each.head)
    text = apply_changes(report, {before.id: Blank(chosen)})
    after = next(each for each in claims(text) if each.head)
    kept = [EMPTY if at in chosen else cell for at, cell in enumerate(row_cells(before.text))]
    assert list(row_cells(after.text)) == kept
    assert [marker.ids for marker in after.markers] == [marker.ids for marker in before.markers]
    assert [each.text for each in claims(text) if not each.head] == [each.text for each in found if not each.head]
