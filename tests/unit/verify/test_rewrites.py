"""Documents which say the same in other words; the cosines are given, as an embedder would."""

from __future__ import annotations

from itertools import combinations

from assay.verify.copies import (
    ELSEWHERE,
    Part,
    comparable_parts,
    find_rewrites,
    merge_groups,
)

RELEASE = (
    "Northwind closes its workshop in Harbourton, where 340 people work, at the end of March 2027, it said Tuesday."
)
AGAIN = (
    "By the end of March 2027 the Harbourton works of Northwind shut, and 340 employees are affected, the firm said."
)
OTHER = (
    "Northwind closed its workshop in Millport, where 210 people worked, at the end of May 2019, so the papers said."
)
PLAIN = "The council will decide in autumn whether a new bridge over the river is to be built beside the old one."
RETOLD = "Whether another bridge is put up next to the existing one is for the councillors to settle this autumn."
FAR = "Bread is made of flour, water and salt, and in some places of rye, oats and a little honey as well, they say."


def found(texts: dict[str, str], near: dict[frozenset[str], float], elsewhere: float = 0.1) -> list[tuple[str, str]]:
    compared = [each for name, text in texts.items() for each in comparable_parts(name, [(text, text)] * 2)]
    rows = [
        [1.0 if a.document == b.document else near.get(frozenset((a.document, b.document)), 0.1) for b in compared]
        + [elsewhere] * len(ELSEWHERE)
        for a in compared
    ]
    return find_rewrites(compared, rows)


def test_a_rewrite_with_the_same_figures():
    near = {frozenset(("a", "b")): 0.8}
    assert found({"a": RELEASE, "b": AGAIN, "c": FAR}, near) == [("a", "b")]


def test_another_year_is_no_rewrite_however_near_it_is():
    near = {frozenset(("a", "b")): 0.97}
    assert found({"a": RELEASE, "b": OTHER, "c": FAR}, near) == []


def test_without_figures_it_takes_more():
    texts = {"a": PLAIN, "b": RETOLD, "c": FAR}
    assert found(texts, {frozenset(("a", "b")): 0.7}) == []
    assert found(texts, {frozenset(("a", "b")): 0.85}) == [("a", "b")]


def test_near_is_nearer_than_anything_is():
    texts = {"a": PLAIN, "b": RETOLD}
    near = {frozenset(("a", "b")): 0.85}
    assert found(texts, near, elsewhere=0.7) == []  # as with e5
    assert found(texts, {frozenset(("a", "b")): 0.95}, elsewhere=0.7) == [("a", "b")]


def test_six_pages_of_one_release():
    texts = dict.fromkeys("abcdef", RELEASE)
    near = {frozenset(pair): 0.9 for pair in combinations(texts, 2)}
    pairs = found(texts, near)
    assert set(merge_groups({name: at for at, name in enumerate(texts)}, pairs).values()) == {0}


def test_half_a_document_is_no_rewrite():
    one = [("a", PLAIN), ("a", FAR)]
    compared = [Part(name, text, text) for name, text in (*one, ("b", RETOLD), ("b", OTHER))]
    near = 0.9
    rows = [[1, 0.1, near, 0.1], [0.1, 1, 0.1, 0.1], [near, 0.1, 1, 0.1], [0.1, 0.1, 0.1, 1]]
    assert find_rewrites(compared, [[*row, *[0.1] * 8] for row in rows]) == []


def test_what_is_short_says_nothing():
    assert comparable_parts("a", [("Home", "Home"), ("To the start", "To the start")]) == []
    assert comparable_parts("a", [(PLAIN, PLAIN)]) == []  # one sentence of twenty words
    assert find_rewrites([], []) == []
    assert find_rewrites(comparable_parts("a", [(PLAIN, PLAIN)] * 2), [[1, 1, 0], [1, 1, 0]]) == []


def test_groups_are_joined():
    groups = {"a": 0, "b": 1, "c": 2, "d": 1, "e": 3}
    assert merge_groups(groups, []) == groups
    assert merge_groups(groups, [("c", "b"), ("a", "e")]) == {"a": 0, "b": 1, "c": 1, "d": 1, "e": 0}
    assert merge_groups(groups, [("c", "b"), ("a", "c")]) == {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1}
