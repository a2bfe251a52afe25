"""A sample of the mutation suite: true claims edited by code, so that they are false or so that they stay true.

The whole table: `python -m bench mutations`. Here are some pairs of our own, and a few of it where there are data.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import corpus
import pytest
from mutating import BREAKING, EXACT
from mutations import Pair, objection, pairs, part_of, tally
from paraphrasing import FAITHFUL

DATA = corpus.DATA.parent
OWN = [
    Pair(claim, f"It was reported in the yearbook. {claim} Further figures follow below.", "own")
    for claim in (
        "The northern plant sold 1,250 tonnes of salt for $3.4 million on 4 March 2021.",
        "Between 1998 and 2004 the share of renters rose from 37% to 41.5 percent in Ghent.",
        "The bridge over the Leie is 300 km from Antwerp and was opened on 12 May 1932.",
        "Norway exported 70 tonnes of salmon and Iceland exported 45 tonnes of cod in 2016.",
        "In 2019 turnout was higher by 4 percentage points than in 2014.",
        "The engine weighs 12.5 kg and runs for 90 minutes at full load.",
        "Nearly 2,000,000 people visited the museum in 2008, most of them in summer.",
    )
]


def test_the_parts_are_fixed() -> None:
    halves = [part_of(f"group-{number}") for number in range(1000)]
    assert 400 < halves.count("train") < 600
    assert halves == [part_of(f"group-{number}") for number in range(1000)]


@pytest.mark.parametrize("name", EXACT)
def test_edits_of_numbers_dates_and_units_are_objected_to(name: str) -> None:
    for at, pair in enumerate(OWN):
        for seed in range(5):
            edited = BREAKING[name](pair.claim, pair.passage, random.Random(f"{name}/{at}/{seed}"))
            assert edited is None or edited == pair.claim or objection(edited, pair.passage), edited


@pytest.mark.parametrize("name", FAITHFUL)
def test_edits_which_change_nothing_are_not(name: str) -> None:
    for at, pair in enumerate(OWN):
        for seed in range(5):
            edited = FAITHFUL[name](pair.claim, pair.passage, random.Random(f"{name}/{at}/{seed}"))
            assert edited is None or objection(edited, pair.passage) == "", edited


@pytest.mark.parametrize("name", ["direction", "quantifier", "negation", "swapped numbers"])
def test_edits_of_sense_are_mostly_objected_to_where_all_else_is_verbatim(name: str) -> None:
    counts = tally(OWN, BREAKING[name], name)
    assert counts.tried
    assert counts.share >= 0.5


@pytest.fixture(scope="module")
def sample() -> Sequence[Pair]:
    if not (DATA / "grounding").is_dir():
        pytest.skip("no labelled data (set ASSAY_DATA)")
    return pairs(DATA, "report", 25)


def test_on_a_sample_nearly_all_exact_edits_are_seen(sample: Sequence[Pair]) -> None:
    counts = [tally(list(sample), BREAKING[name], name) for name in EXACT]
    tried, seen = sum(each.tried for each in counts), sum(each.seen for each in counts)
    assert tried > 100
    assert seen / tried >= 0.97


def test_on_a_sample_the_documents_own_sentences_are_not_objected_to(sample: Sequence[Pair]) -> None:
    true = [
        pair for pair in sample if not pair.origin.startswith(("attribution", "fever", "summ", "qags", "factcheck"))
    ]
    counts = [tally(true, edit, name) for name, edit in FAITHFUL.items()]
    assert sum(each.seen for each in counts) <= 0.02 * sum(each.tried for each in counts)
