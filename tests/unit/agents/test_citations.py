"""What a text cites."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.findings import cited_sentences, quote_nearest_passages, resolve_citations
from assay.core.markers import parse_markers
from assay.core.sources import Document, PassageSpan
from assay.evidence.ledger import DocumentPassages, Ledger

TEXTS = ("The tide rises seven metres. It turns twice a day.", "The moon\ncauses it.", "The wind does not.")


def ledger() -> Ledger:
    document = Document(
        sha256="d" * 64,
        snapshot_sha256="e" * 64,
        extractor="text/1",
        url="file:///a",
        title="A",
        name="a",
        media_type="text/plain",
        syntax="plain",
        size=1,
        fetched_at="",
    )
    held = Ledger()
    spans = tuple(PassageSpan(place, 0, len(text), text) for place, text in enumerate(TEXTS))
    held.apply(held.register(1, [DocumentPassages(document=document, spans=spans)]).rows)
    return held


@pytest.mark.parametrize(
    ("text", "clean", "passages", "dropped"),
    [
        ("It rises. [S1001.0]", "It rises. [S1001.0]", ["S1001.0"], 0),
        ("It rises [S1001.0, S1001.9].", "It rises [S1001.0].", ["S1001.0"], 1),
        ("It rises  [S9.9]. So.", "It rises. So.", [], 1),
        ("Both. [S1001.1; S1001.0] 【S8.1】", "Both. [S1001.1; S1001.0]", ["S1001.1", "S1001.0"], 1),
        ("A range. [S1001.1-S1001.2]", "A range. [S1001.1-S1001.2]", ["S1001.1", "S1001.2"], 0),
        ("A year [2024], a note [1], code `[S9.9]`.", "A year [2024], a note [1], code `[S9.9]`.", [], 0),
    ],
)
def test_markers_resolve_or_go(text: str, clean: str, passages: list[str], dropped: int) -> None:
    cited = resolve_citations(text, ledger())
    assert (cited.text, [each.id for each in cited.passages], cited.dropped) == (clean, passages, dropped)


def test_a_source_cited_as_a_whole_stands_for_its_nearest_passages() -> None:
    cited = resolve_citations("The moon causes it. [S1001]", ledger())
    assert cited.text == "The moon causes it. [S1001]"
    assert [source.id for source in cited.sources] == ["S1001"]
    assert cited.passages[0].id == "S1001.1"


PIECES = st.lists(
    st.sampled_from(["The tide. ", "[S1001.0]", "[S1001.5]", "[S7.1, S1001.2]", " ", "\n", "`x`", "[S1001]", "é潮 "]),
    max_size=12,
)


@given(PIECES)
def test_nothing_unknown_is_left_and_cleaning_is_done_once(pieces: list[str]) -> None:
    held = ledger()
    cited = resolve_citations("".join(pieces), held)
    again = resolve_citations(cited.text, held)
    assert (again.text, again.dropped) == (cited.text, 0)
    ids = [id for marker in parse_markers(cited.text) for id in marker.ids]
    assert not held.resolve(ids).dropped


def test_findings_without_a_model_are_passages_word_for_word_each_sentence_cited() -> None:
    assert quote_nearest_passages("moon tide", ledger()) == (
        "- The moon causes it. [S1001.1]\n- The tide rises seven metres. [S1001.0] It turns twice a day. [S1001.0]"
    )
    assert quote_nearest_passages("volcano", ledger()) == ""
    passage = ledger().passage("S1001.1")
    assert passage is not None
    assert cited_sentences(passage) == "The moon causes it. [S1001.1]"
    row = msgspec.structs.replace(passage, text="Port: Goole | Note: Dries out. | cells: A2:B2")
    assert cited_sentences(row) == "Port: Goole | Note: Dries out. [S1001.1]"
