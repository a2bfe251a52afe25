"""Answers out of real headers, by the model alone: a sample of bench/questions.py, where its documents are at hand."""

from __future__ import annotations

import pytest
from questions import corpus, derive, scoring
from questions.offline import Harness, Shelves


@pytest.mark.slow
def test_headers_are_answered_and_what_is_missing_is_not() -> None:
    folder = corpus.data_folder()
    if folder is None:
        pytest.skip("no documents: set ASSAY_DATA to a folder with documents/*.jsonl.gz")
    rows = list(corpus.read(folder, tuple(corpus.SERIES)))[::6]
    harness = Harness(Shelves(rows))
    asked = derive.derive(rows, count=20, negatives=10, seed=11, training=True)
    scores = [scoring.score(each, harness.run(each.text)) for each in asked]
    gold = [each for each in scores if each.asked.answerable]
    none = [each for each in scores if not each.asked.answerable]
    assert (len(gold), len(none)) == (20, 10)
    assert {each.asked.corpus for each in gold} == set(corpus.SERIES)
    assert sum(each.first for each in gold) >= 0.8 * len(gold)
    assert sum(each.cited for each in gold) >= 0.9 * len(gold)
    assert sum(each.abstained for each in none) >= 0.8 * len(none)
    assert all(each.report.exact == each.report.citations for each in scores)


PEP = "PEP: 6\nTitle: A\nAuthor: Ann,\n  Bo\nPost-History:\n\nStatus: no\n"
EIP = "---\neip: 7\nstatus: Final\n---\n\ntype: no\n"
RFC = "- Feature Name: N/A\n- Start Date: 2014-05-22\n\n## A\n- Rust Issue: 9\n"
SWIFT = "# A\n\n* Proposal: [SE-0031](x.md)\n* Authors: [Ann](b)\n\n## B\n* Bug: 9\n"


@pytest.mark.parametrize(
    ("corpus_name", "text", "expected"),
    [
        ("peps", PEP, {"pep": "6", "title": "A", "author": "Ann, Bo"}),
        ("eips", EIP, {"eip": "7", "status": "Final"}),
        ("rust-rfcs", RFC, {"start-date": "2014-05-22"}),
        ("swift-evolution", SWIFT, {"proposal": "[SE-0031](x.md)", "author": "[Ann](b)"}),
        ("keps", "- Status: Final\n", {}),
    ],
)
def test_headers_of_each_kind(corpus_name: str, text: str, expected: dict[str, str]) -> None:
    assert corpus.read_header(text, corpus_name) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("author", "[Joe Groff](https://x), Ann Lee <a@b.example>", ("Joe Groff", "Ann Lee")),
        ("status", "**Implemented (Swift 4.2)**", ("Implemented (Swift 4.2)",)),
        ("rust-issue", "[rust-lang/rust#12812](https://x.example/issues/12812)", ("12812",)),
        ("start-date", "2014-05-22 (again 2015-01-01)", ("2014-05-22",)),
        ("feature-name", "`loose_gears`", ("loose_gears",)),
        ("requires", "20, 0165", ("20", "165")),
    ],
)
def test_what_an_answer_must_say(kind: str, value: str, expected: tuple[str, ...]) -> None:
    assert derive.gold(kind, value) == expected


def test_questions_are_seeded_and_the_halves_do_not_meet() -> None:
    rows = [
        corpus.Row(
            f"https://peps.example/pep-{number:04}/",
            f"Title {number}",
            "",
            "peps",
            {
                "pep": str(number),
                "title": f"Title {number}",
                "status": "Final",
                "created": "01-Jan-2001",
                "author": "Ann",
            },
        )
        for number in range(1, 40)
    ]
    halves = [derive.derive(rows, 20, 5, seed=1, training=part) for part in (True, False)]
    assert halves[0] == derive.derive(rows, 20, 5, seed=1, training=True)
    urls = [{each.url for each in half if each.url} for half in halves]
    assert urls[0]
    assert urls[1]
    assert not urls[0] & urls[1]
    assert {each.kind for each in halves[0] if each.answerable} <= {"status", "created", "author"}


def test_a_stated_answer_is_told_from_one_in_a_later_section() -> None:
    asked = derive.Asked(text="Who?", kind="author", gold=("Ann Lee", "Bo"), url="https://a.example")
    good = scoring.score(asked, scoring.Report("Author: Ann\nLee, Bo <bo@x> [1]", ("https://a.example",), 1, 1))
    late = scoring.score(asked, scoring.Report("No.\n\n## More\n\nAnn Lee, Bo [1]", ("https://b.example",), 1, 1))
    part = scoring.score(asked, scoring.Report("Ann Lee, Bob [1]", (), 0, 0))
    assert (good.first, good.anywhere, good.cited, good.abstained) == (True, True, True, False)
    assert (late.first, late.anywhere, late.cited) == (False, True, False)
    assert (part.first, part.abstained) == (False, True)
