"""The rendered report: which citation stands for which passages."""

from hypothesis import given
from hypothesis import strategies as st

from assay.core.bibliography import NumberedCitation, compile_bibliography, render_body
from assay.core.markers import parse_markers
from assay.core.sources import Passage, Source, sha256

IDS = ("S1", "S1.1", "S1.2", "S2.1", "S3.1")


def source(id: str) -> Source:
    hashed = sha256(id.encode())
    return Source(
        id=id, document_sha256=hashed, snapshot_sha256=hashed, url="", title=id, media_type="text/plain", fetched_at=""
    )


def passage(id: str) -> Passage:
    origin = id.partition(".")[0]
    return Passage(
        id=id, source=origin, document_sha256=sha256(origin.encode()), start=0, end=1, text="x", text_sha256=""
    )


SOURCES = {id: source(id) for id in ("S1", "S2", "S3")}
PASSAGES = {id: passage(id) for id in IDS if "." in id}


def cited(written: str) -> tuple[str, tuple[NumberedCitation, ...]]:
    books = compile_bibliography(written, SOURCES, PASSAGES)
    body = render_body(written, books, "numbers")
    return body.text, body.numbered_citations(books.numbers)


def test_every_citation_knows_its_passages() -> None:
    text, found = cited("A [S2.1]. B [S1.1; S2.1][S1.2] and [1] `[S1.1]` [S9.9], C [S1].\n")
    assert text == "A [1]. B [2] [1] and \\[1] `[S1.1]`, C [2].\n"
    assert [(one.number, one.ids) for one in found] == [
        (1, ("S2.1",)),
        (2, ("S1.1", "S1.2")),
        (1, ("S2.1",)),
        (2, ("S1",)),
    ]


pieces = st.sampled_from(
    ["word", " ", ", ", ".\n", "\n\n", "\x1b[0m", "[1]", "`[S1.1]`", "(x)", "<b>", "[a](b)", "S1.1"]
)
markers = st.lists(st.sampled_from([*IDS, "S9.9"]), min_size=1, max_size=3).map(lambda ids: f"[{', '.join(ids)}]")


@given(st.lists(pieces | markers, max_size=12).map("".join))
def test_no_citation_and_no_id_is_lost(written: str) -> None:
    text, found = cited(written)
    books = compile_bibliography(written, SOURCES, PASSAGES)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one in found:
        assert text[one.start : one.end] == f"[{one.number}]"
        assert one.ids
        assert {books.numbers[id] for id in one.ids} == {one.number}
    named = [id for marker in parse_markers(written) for id in marker.ids if id in books.numbers]
    assert {id for one in found for id in one.ids} == set(named)
