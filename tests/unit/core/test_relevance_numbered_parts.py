"""Numbered parts of documents: which one a text names, and where it ends."""

from __future__ import annotations

import pytest

from assay.core.relevance.numbered_parts import NumberedPart, parts_named, texts_of


@pytest.mark.parametrize(
    ("text", "number", "inner"),
    [
        ("What does clause 2.2 say?", "2.2", ""),
        ("Was besagt § 5 Abs. 2?", "5", "2"),
        ("What does § 5 (2) say?", "5", "2"),
        ("What does section 5 (2024 edition) say?", "5", ""),
        ("What is §§ 12?", "12", ""),
    ],
)
def test_a_part_named(text: str, number: str, inner: str) -> None:
    (part,) = parts_named(text)
    assert (part.number, part.inner) == (number, inner)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "clause 2.2000",
        "section 2.5%",
        "article 5/2024",
        "step 1,000",
        "point 5 %",
        "chapter 2024",
        "§" * 50_000,
        "§ 1.2.3.4.5.6",
    ],
)
def test_no_part_named(text: str) -> None:
    assert list(parts_named(text)) == []


@pytest.mark.parametrize("line", ["5 May 2024", "5. Mai", "5. Mai: Regen", "5 million were paid", "5 % of it"])
def test_a_date_or_an_amount_is_no_part(line: str) -> None:
    part = NumberedPart("section", "5")
    assert texts_of(part, [(f"{line}\n\nIt rained.", ())]) == texts_of(part, [("It rained.", (line,))]) == []


def test_a_step_may_begin_with_a_month() -> None:
    assert len(texts_of(NumberedPart("step", "6"), [("6. March to the hill.", ())])) == 1


@pytest.mark.parametrize("other", ["12.2 Rent is due.", "2.20 Rent is due.", "12.02.2024 Rent is due."])
def test_another_number_is_not_the_part(other: str) -> None:
    assert texts_of(NumberedPart("clause", "2.2"), [(other, ())]) == []


@pytest.mark.parametrize(
    ("number", "text", "part"),
    [
        ("5", "§ 5 Rent\n\nIt is due in May.\n\n§ 5a Heat\n\nIt is free.", "§ 5 Rent\n\nIt is due in May."),
        ("5a", "§ 5a Heat\n\nIt is free.\n\n§ 5b Light\n\nIt is not.", "§ 5a Heat\n\nIt is free."),
        ("5", "§ 5 Rent\n\nIt is due.\n\n5.1 In May.\n\n6 Heat", "§ 5 Rent\n\nIt is due.\n\n5.1 In May."),
    ],
)
def test_a_part_ends_before_the_next(number: str, text: str, part: str) -> None:
    (found,) = texts_of(NumberedPart("section", number), [(text, ())])
    assert [each.strip() for each in found.texts.values()] == [part]


def test_many_numbered_lines_take_little_time() -> None:
    assert len(texts_of(NumberedPart("step", "6"), [("6. Close it.\n" * 8_000, ())])) == 8_000
