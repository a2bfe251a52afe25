"""Joining sources by document, and numbering."""

import logs

from assay.core.bibliography import compile_bibliography, id_sort_key

SOURCES = {id: logs.source(id, document) for id, document in (("S2001", "a"), ("S901", "b"), ("S1001", "a"))}
PASSAGES = {id: logs.passage(id, id) for id in ("S2001.9", "S2001.17", "S901.1", "S1001.9")}


def test_ids_sort_by_number() -> None:
    assert sorted(("S2003.17", "S2003.9", "S901", "S2003"), key=id_sort_key) == ["S901", "S2003", "S2003.9", "S2003.17"]


def test_one_document_has_one_number_and_one_entry() -> None:
    books = compile_bibliography("x [S2001.9] y [S901.1] z [S1001.9].", SOURCES, PASSAGES)
    assert [(entry.source.id, entry.aliases, entry.number) for entry in books.entries] == [
        ("S1001", ("S2001",), 1),
        ("S901", (), 2),
    ]
    assert books.numbers["S2001.9"] == books.numbers["S1001.9"] == books.numbers["S1001"] == 1
    assert [passage.id for passage in books.cited] == ["S2001.9", "S901.1", "S1001.9"]


def test_a_source_marker_takes_its_passage_from_the_claims() -> None:
    books = compile_bibliography("x [S901].", SOURCES, PASSAGES, claimed_ids=("S901.1", "S2001.9"))
    assert [passage.id for passage in books.cited] == ["S901.1"]
    assert [citation.number for citation in books.citations(("S901.1", "S2001.9"))] == [1]


def test_what_does_not_exist_is_counted_and_never_something_else() -> None:
    books = compile_bibliography("x [S901.7, S2001.9] y [S3].", SOURCES, PASSAGES)
    assert books.unresolved == 2
    assert "S901.7" not in books.numbers
    assert [entry.number for entry in books.entries] == [1, None]


def test_passages_of_unknown_sources_do_not_count() -> None:
    books = compile_bibliography("x [S5.1].", SOURCES, {"S5.1": logs.passage("S5.1", "?")})
    assert (books.cited, books.unresolved) == ((), 1)
