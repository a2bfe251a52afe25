"""The questions of bench/multihop.py: what they need, and when they count as answered."""

from __future__ import annotations

import pytest
from questions import linked
from questions.corpus import Row
from questions.scoring import Report


def row(number: int, **header: str) -> Row:
    found = {"eip": str(number), "author": f"Author{number} Name", "status": "Final", "created": f"20{number:02}-01-01"}
    return Row(f"https://eips.example/eip-{number}", f"Title {number}", "", "eips", found | header)


ROWS = [row(number, requires=f"{number - 1}, {number - 2}") for number in range(13, 40)]
ROWS += [row(number, requires=str(number - 3)) for number in range(45, 90)]
ROWS += [row(number) for number in range(10, 13)] + [row(number) for number in range(42, 45)]


@pytest.mark.parametrize("words", linked.WORDS.values(), ids=linked.WORDS)
def test_they_are_seeded_and_need_each_document(words: linked.Words) -> None:
    asked = linked.derive(ROWS, 20, 1, True, words)
    assert asked == linked.derive(ROWS, 20, 1, True, words)
    assert len(asked) == 20
    assert len({each.text for each in asked}) == 20
    by_url = {each.url: each for each in ROWS}
    for each in asked:
        anchor, *needed = (by_url[url] for url in each.urls)
        assert anchor.training
        assert sorted(anchor.header["requires"].split(", ")) == sorted(one.number for one in needed)
        assert anchor.number in each.text
        assert not any(one.number in each.text.replace(anchor.number, "") for one in needed)


def test_the_right_one_of_several_is_gold_and_the_others_are_wrong() -> None:
    asked = [each for each in linked.derive(ROWS, 20, 1, True) if each.wrong]
    assert asked
    for each in asked:
        low, high = sorted(int(url.rpartition("-")[2]) for url in each.urls[1:])
        early = any(word in each.text for word in ("first", "oldest", "earliest"))
        assert each.gold == (f"EIP-{low if early else high}",)
        assert each.wrong == (f"EIP-{high if early else low}",)


def test_a_field_that_names_a_document_nobody_has_is_not_asked_about() -> None:
    assert linked.named(row(1, requires="2, 3"), "requires", {("eips", "2"): row(2)}) == []


QUESTION = linked.Linked("Which first?", "x", ("EIP-20",), ("EIP-155",), ("https://a.example", "https://b.example"))


@pytest.mark.parametrize(
    ("text", "urls", "stated", "cited"),
    [
        (
            "Created of EIP-20: 2015 [1]\n\nRequires of EIP-9: 20, 155 [2]",
            ("https://a.example", "https://b.example"),
            1,
            1,
        ),
        ("Created of EIP-20 and EIP-155 [1]", ("https://a.example", "https://b.example"), 0, 1),
        ("Created of EIP-155 [1]\n\nEIP-20", ("https://a.example",), 0, 0),
        ("EIP-20 [1]", ("https://a.example",), 1, 0),
        ("EIP-200 [1]", (), 0, 0),
    ],
)
def test_what_counts_as_answered(text: str, urls: tuple[str, ...], stated: bool, cited: bool) -> None:
    judged = linked.judge(QUESTION, Report(text, urls))
    assert (judged.stated, judged.cited, judged.evidenced) == (stated, cited, bool(stated and cited))


def test_asking_for_more_than_there_is_ends() -> None:
    assert 0 < len(linked.derive(ROWS, 5_000, 1, True)) < len(ROWS)
    assert linked.derive([], 5, 1, True) == []
