"""What a source is called: of a file its own name, never where it lies."""

from __future__ import annotations

import pytest
from evidence_of import passage, source
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.checks import weigh_words
from assay.verify.evidence import ClaimEvidence, source_names

TEXT = "The harbour of Brest employs 400 people. It closes at nine in the evening."


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("file:///home/ann/1931/harbour.md", "harbour.md"),
        ("file:///home/ann/The%20harbour%20of%20Brest.md", "The harbour of Brest.md"),
        ("https://example.org/1931/harbour", "https://example.org/1931/harbour"),
        ("doi:10.1000/182", "doi:10.1000/182"),
    ],
)
def test_an_address_as_it_names_what_is_there(url: str, name: str) -> None:
    assert source_names(source("S1001", url=url)) == (name,)
    assert source_names(source("S1001", "Harbours", url)) == ("Harbours", name)


@given(st.text("abhrou/-.1931", max_size=30))
def test_where_a_folder_lies_moves_no_score(folder: str) -> None:
    claim = "The harbour of Brest employs many people until the evening."
    cited = passage("S1001.1", TEXT, TEXT)

    def check(url: str) -> object:
        return weigh_words(claim, ClaimEvidence(passages=(cited,), sources={"S1001": source("S1001", url=url)}))

    assert check(f"file:///{folder}/harbour.md") == check("file:///harbour.md")
