"""Warnings about many files: equal reasons share a line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.milestones import MAX_NAMED_FILES, summarize_warnings


def test_a_few_are_told_one_by_one() -> None:
    few = [f"skipped {number}.pdf: damaged" for number in range(MAX_NAMED_FILES)]
    assert summarize_warnings(few) == few


def test_many_share_a_line_where_the_first_stood() -> None:
    many = [f"skipped {number}.pdf: empty" for number in range(40)]
    odd = ["partly read x.csv: 1 row could not be read (line 3: too long)", "skipped 2 files that are not text"]
    assert summarize_warnings([many[0], *odd, *many[1:]]) == [
        "skipped 40 files, each for the same reason: empty: 0.pdf, 1.pdf, 2.pdf and 37 more",
        *odd,
    ]


@given(st.lists(st.tuples(st.sampled_from(["skipped", "partly read"]), st.sampled_from("abc: "), st.text("xy: "))))
def test_no_reason_is_lost_and_lines_are_few(entries: list[tuple[str, str, str]]) -> None:
    warnings = [f"{verb} {path}: {reason}." for verb, path, reason in entries]
    found = summarize_warnings(warnings)
    assert len(found) <= len(warnings)
    assert all(any(reason.strip(": ") in line for line in found) for _, _, reason in entries)
