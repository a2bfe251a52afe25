"""Which sources are meant, and where a fork may look without them."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from evidence_of import source, stored
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.brief import Scope
from assay.core.errors import UnknownName
from assay.core.sources import SNIPPET, Document, Snapshot, Source
from assay.core.view import RunView
from assay.core.web_addresses import WebRules
from assay.services.forks import _change_scope, source_ids
from assay.store.memory_library import MemoryLibrary

MET: dict[str, Source] = {
    "S1": source("S1", "Harbor report", "file:///notes/harbor%20one.md", "harbor"),
    "S1001": source("S1001", "Harbor report", "file:///notes/harbor%20one.md", "harbor"),
    "S1002": source("S1002", "Tides", "https://Sea.example/tides?utm_source=x", "excerpt"),
    "S2001": source("S2001", "Tides and more", "https://sea.example/tides", "page"),
    "S2002": source("S2002", "Winds", "https://sea.example/winds", "winds"),
}
MET["S1002"] = msgspec.structs.replace(MET["S1002"], media_type=SNIPPET)


def view() -> RunView:
    return RunView(run_id="r1", sources=MET)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("S1001", {"S1", "S1001"}),
        ("harbor report", {"S1", "S1001"}),
        ("harbor one.md", {"S1", "S1001"}),
        ("file:///notes/harbor%20one.md", {"S1", "S1001"}),
        ("https://sea.example/tides", {"S1002", "S2001"}),
        ("Tides", {"S1002", "S2001"}),
        (" Winds ", {"S2002"}),
    ],
)
def test_a_source_is_meant_with_all_its_ids(name: str, ids: set[str]) -> None:
    assert source_ids(view(), [name], MemoryLibrary()) == ids


@pytest.mark.parametrize("name", ["", "  ", "S9", "1", "[1]", "https://sea.example/", "Wind"])
def test_what_was_not_met_is_said(name: str) -> None:
    with pytest.raises(UnknownName, match="no source named"):
        source_ids(view(), ["S1", name], MemoryLibrary())


@settings(max_examples=scaled(30))
@given(st.text(max_size=40))
def test_any_name_is_known_or_refused(name: str) -> None:
    with suppress(UnknownName):
        assert source_ids(view(), [name], MemoryLibrary())


def library(*texts: str) -> tuple[MemoryLibrary, list[Document]]:
    made = MemoryLibrary()
    documents = [msgspec.structs.replace(stored(text), url=f"file:///{text}", name=text) for text in texts]
    snapshots = [
        Snapshot(sha256=each.snapshot_sha256, url="", media_type="", size=0, fetched_at="") for each in documents
    ]
    made.add(list(zip(snapshots, documents, strict=True)), "notes")
    return made, documents


SCOPE = Scope(collections=("notes",), label="notes/ (3 documents) and the web", web=True)


def test_a_document_leaves_the_scope() -> None:
    made, documents = library("a", "b", "c")
    gone = source("S1", "A note", "file:///a", "a")
    scope = _change_scope(made, SCOPE, [gone], (), ())
    assert [each.sha256 for each in made.documents(scope.collections)] == [each.sha256 for each in documents[1:]]
    assert scope.label == "notes/ without A note (2 documents) and the web"
    assert scope.rules == SCOPE.rules


def test_a_page_is_not_read_again() -> None:
    made, _ = library("a")
    scope = _change_scope(made, SCOPE, [MET["S2001"], MET["S1002"]], (), ())
    assert scope.collections == ("notes",)
    assert scope.rules.left_out == ("https://sea.example/tides",)
    for url in ("https://sea.example/tides", "https://SEA.example:443/tides?utm_medium=y#top"):
        assert scope.rules.refusal_reason(url) == "left out by request"
        assert scope.rules.excludes(url)
    assert scope.rules.refusal_reason("https://sea.example/tides/2") == ""
    assert not WebRules().excludes("https://sea.example/tides")


def test_documents_are_added_to_those_of_the_scope() -> None:
    made, documents = library("a", "b")
    more = msgspec.structs.replace(stored("d"), url="file:///d")
    snapshot = Snapshot(sha256=more.snapshot_sha256, url="", media_type="", size=0, fetched_at="")
    made.add([(snapshot, more)], "more")
    scope = _change_scope(made, SCOPE, [source("S1", "A", "file:///a", "a")], ["more"], ["w", "x", "y", "z"])
    assert [each.sha256 for each in made.documents(scope.collections)] == [documents[1].sha256, more.sha256]
    assert scope.label == "notes/ without A with w, x, y, … (2 documents) and the web"
