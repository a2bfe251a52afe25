"""Which documents copy one another."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.verify import copies as compared
from assay.verify.copies import copy_groups, group_by_copying

RELEASE = (
    "Brest Harbour said on Monday that its northern quay will be closed for repairs from March until the end of June.\n"
    "The works cost 12 million euros, of which the region pays a third, and forty people are employed in them.\n"
    "Ferries to Ouessant leave from the southern quay in that time, and the timetable of the islands stays as it is.\n"
    "“We could not wait any longer,” the harbour master said, pointing at cracks that were found after the winter.\n"
    "The quay was built in 1931, widened twice, and last repaired after the storm which sank two trawlers in it.\n"
)
MENU = "Home\nNews\nContact us\nSign up for our letter\n"
NOTICE = "All texts on these pages may be used freely where the name of the author and a link are given with them.\n"


def prose(seed: int, lines: int = 12) -> str:
    """A document which has nothing in common with one of another seed."""
    chance = random.Random(seed)
    return "".join(" ".join(f"w{chance.randrange(10**9)}" for _ in range(14)) + "\n" for _ in range(lines))


def together(**texts: str) -> list[set[str]]:
    return [set(group) for group in copy_groups(group_by_copying(texts))]


def test_the_same_text_on_two_hosts_is_one_source() -> None:
    assert together(a=RELEASE, b=MENU + RELEASE, c=prose(1)) == [{"a", "b"}]


def test_a_press_release_with_another_lead_is_a_copy() -> None:
    lead = "Ferry passengers have to walk further this spring, our reporter learned from the town hall today.\n"
    rest = RELEASE.partition("\n")[2]
    assert together(a=RELEASE, b=lead + rest, c=lead + prose(2)) == [{"a", "b"}]


def test_six_pages_which_copy_one_are_one_source() -> None:
    pages = {f"p{at}": prose(at, 1) + RELEASE for at in range(6)}
    groups = group_by_copying({**pages, "own": prose(99)})
    assert len(set(groups.values())) == 2


def test_near_copies_with_another_figure_stay_copies() -> None:
    assert together(a=RELEASE, b=RELEASE.replace("12 million", "15 million")) == [{"a", "b"}]


def test_what_every_page_has_under_it_is_no_copying() -> None:
    notices = "".join(NOTICE.replace("author", f"author {at}") for at in range(4))
    short = {f"p{at}": prose(at, 3) + notices for at in range(6)}
    assert together(**short, a=RELEASE + notices, b=RELEASE + notices) == [{"a", "b"}]


def test_a_short_text_inside_a_longer_one_is_a_copy_but_a_collection_of_several_is_none() -> None:
    one, other = prose(3, 2), prose(4, 2)
    assert together(a=one, b=prose(5) + one + prose(6)) == [{"a", "b"}]
    assert together(a=one, c=other, b=prose(5) + one + other) == []


def test_short_texts_are_copies_where_they_are_equal() -> None:
    tall = "The tower is 330 metres tall."
    assert together(a=tall, b=tall + "\n", c="The tower is 324 metres tall.") == [{"a", "b"}]
    assert together(a="", b="", c="...") == []


def test_lines_may_be_broken_elsewhere() -> None:
    assert together(a=RELEASE, b=RELEASE.replace("\n", " "), c=RELEASE.replace(" will", "\nwill")) == [{"a", "b", "c"}]


texts = st.lists(st.sampled_from([prose(seed, 2) for seed in range(4)] + [RELEASE, MENU, "", "x y"]), max_size=5)


@settings(max_examples=scaled(40), deadline=None)
@given(st.lists(texts.map("".join), max_size=7))
def test_every_document_has_one_group_and_equal_ones_the_same(found: list[str]) -> None:
    named = {f"d{at}": text for at, text in enumerate(found)}
    groups = group_by_copying(named)
    assert list(groups) == list(named)
    numbers = list(dict.fromkeys(groups.values()))
    assert numbers == list(range(len(numbers)))
    assert groups == group_by_copying(named)
    for one, first in named.items():
        for other, second in named.items():
            if first == second and any(sign.isalnum() for sign in first):
                assert groups[one] == groups[other]


def test_many_documents_are_grouped_in_bounded_time() -> None:
    named = {f"d{at}": prose(at % 30, 20) for at in range(60)}
    assert len(set(group_by_copying(named).values())) == 30


def test_documents_beyond_what_is_kept_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lead = "Ferry passengers have to walk further this spring, our reporter learned from the town hall today.\n"
    shared = prose(31, 20)
    texts = {
        "release": RELEASE,
        "collection": prose(30, 60) + RELEASE + prose(32, 60),
        "half": shared + prose(33, 9),
        "other half": lead + shared + prose(34, 9),
        "alone": prose(35, 40),
    }
    kept = group_by_copying(texts, [("release", "collection")])
    assert sorted(map(set, copy_groups(kept)), key=min) == [{"release", "collection"}, {"half", "other half"}]
    for room in (0, 2_000, 12_000):
        monkeypatch.setattr(compared, "_KEPT", room)
        assert group_by_copying(texts, [("release", "collection")]) == kept


def test_forms_of_one_page_are_one_source_where_they_say_the_same() -> None:
    brief = "".join(RELEASE.splitlines(keepends=True)[:2]) + prose(20, 4)
    texts = {"whole": RELEASE, "print": brief, "front": prose(21)}
    assert group_by_copying(texts)["whole"] != group_by_copying(texts)["print"]
    joined = group_by_copying(texts, [("whole", "print", "front"), ("gone", "front")])
    assert joined["whole"] == joined["print"] != joined["front"]
