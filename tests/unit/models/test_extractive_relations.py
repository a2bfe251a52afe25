"""Which document is meant by its relation to another: by grammar, not by a list of sentences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import linked

from assay.models.questions.links import read_hop
from assay.models.questions.question import find_relation

LEADS = {"superseded-by": "replaced", "replaces": "replaces", "requires": "requires"}
CONCEPTS = {"author": "creator", "created": "date", "status": "status"}
WORDS = {name: words for name, words in linked.WORDS.items() if name != "held-out"}


def relation(text: str) -> str:
    start = text.index("PEP 5")
    found = find_relation(text, start, start + len("PEP 5"))
    return found.relation if found else ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the PEP that replaces PEP 5", "replaced"),
        ("the PEP that PEP 5 replaces", "replaces"),
        ("the PEP that is replaced by PEP 5", "replaces"),
        ("the PEP that PEP 5 is replaced by", "replaced"),
        ("by which PEP was PEP 5 replaced", "replaced"),
        ("which PEP did PEP 5 replace", "replaces"),
        ("the PEP which makes PEP 5 obsolete", ""),
        ("the PEP made obsolete by PEP 5", "replaces"),
        ("the PEP that yielded to PEP 5", "replaces"),
        ("the PEP to which PEP 5 gave way", "replaced"),
        ("the PEP that PEP 5 gave way to", "replaced"),
        ("the PEP PEP 5 depends on", "requires"),
        ("the PEP needed for PEP 5", "requires"),
        ("the PEP that needs PEP 5", ""),
        ("PEP 5, which replaced another PEP", ""),
        ("PEP 5 which replaced another PEP", ""),
        ("the status of PEP 5, and which PEP replaced it", ""),
        ("the author of PEP 5", ""),
    ],
)
def test_who_relates_to_whom(text: str, wanted: str) -> None:
    assert relation(text) == wanted


@pytest.mark.parametrize("name", list(WORDS))
def test_every_wording_that_was_built_on_is_read(name: str) -> None:
    words = WORDS[name]
    missed = [
        text
        for link, phrasings in words.links.items()
        for phrasing in phrasings
        for field, questions in words.fields.items()
        for question in questions
        for text in [question.format(it=phrasing.format(series="PEP", doc="PEP 631"))]
        if (hop := read_hop(text)) is None
        or hop.relation != LEADS[link]
        or CONCEPTS[field] not in hop.concepts
        or hop.order
    ]
    assert missed == []


@pytest.mark.parametrize("name", list(WORDS))
def test_one_of_several_is_read_in_every_wording(name: str) -> None:
    for phrasing, ends in WORDS[name].ordered:
        for order, end in zip(("first", "last"), ends, strict=True):
            hop = read_hop(phrasing.format(series="EIP", doc="EIP-3534", first=end))
            assert hop is not None
            assert (hop.relation, hop.order) == ("requires", order)


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_is_found_holds_the_document(before: str, after: str) -> None:
    text = f"{before} PEP 5 {after}"
    start = len(before) + 1
    found = find_relation(text, start, start + len("PEP 5"))
    assert found is None or (found.start <= start and found.end >= start + len("PEP 5"))


def test_nothing_takes_long() -> None:
    began = time.process_time()
    for piece in ("replaced by ", "was ", "the PEP that ", "take the place of ", "when first ", "a b to "):
        read_hop((piece * 100)[:500] + " PEP 5?")
    assert time.process_time() - began < 3
