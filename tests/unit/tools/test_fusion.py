"""One list out of several: nothing lost, nothing twice, the same whoever is first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import SNIPPET, Document, sha256
from assay.run.protocols import DocumentPassages
from assay.tools.search import fuse


def shown(url: str, by: str = "", media_type: str = SNIPPET) -> DocumentPassages:
    hashed = sha256(f"{url} {by}".encode())
    document = Document(
        sha256=hashed, snapshot_sha256=hashed, extractor="x", url=url, title=by, name=url, media_type=media_type,
        syntax="plain", size=1, fetched_at="",
    )  # fmt: skip
    return DocumentPassages(document=document, spans=())


def urls(found: list[DocumentPassages]) -> list[str]:
    return [each.document.url.rpartition("/")[2] for each in found]


def pages(names: str, by: str = "") -> list[DocumentPassages]:
    return [shown(f"https://a.org/{name}", by) for name in names]


def test_what_two_found_comes_first():
    assert urls(fuse([pages("abc", "one"), pages("xcb", "two")])) == ["b", "c", "a", "x"]


def test_one_list_stays_as_it_is():
    assert urls(fuse([pages("qwert")])) == list("qwert")


def test_a_page_is_one_page_whatever_its_address_says_of_the_reader():
    found = fuse([[shown("https://A.org/x?utm_source=one#top", "one")], [shown("https://a.org/x", "two")]])
    assert [each.document.title for each in found] == ["one"]


def test_the_words_of_whoever_ranked_it_best_are_shown():
    found = fuse([pages("ab", "one"), pages("b", "two")])
    assert [(each.document.url[-1], each.document.title) for each in found] == [("b", "two"), ("a", "one")]


def test_documents_are_told_apart_by_their_text():
    here = [shown("https://a.org/x", "first", "text/html"), shown("https://a.org/x", "second", "text/html")]
    assert len(fuse([here])) == 2


LISTS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=7), max_size=4)


@given(LISTS)
def test_everything_is_there_once(lists: list[list[str]]):
    found = urls(fuse([pages("".join(each), str(place)) for place, each in enumerate(lists)]))
    assert sorted(found) == sorted({name for each in lists for name in each})


@given(LISTS)
def test_what_is_nowhere_behind_is_not_behind(lists: list[list[str]]):
    """A page which stands before another in every list, and in every list where the other is, comes before it."""
    once = [list(dict.fromkeys(each)) for each in lists]
    found = urls(fuse([pages("".join(each), str(place)) for place, each in enumerate(once)]))
    for first in found:
        for second in found:
            if first != second and all(
                second not in each or (first in each and each.index(first) < each.index(second)) for each in once
            ):
                assert found.index(first) < found.index(second)
