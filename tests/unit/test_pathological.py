"""Texts made to take long (`bench/pathological.py`), at small sizes: the time they take grows as they do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from growth import WORST, exponent
from pathological import EVIDENCE, constructs, read
from sampling import sampled

from assay.core.sources import Document, sha256
from assay.evidence.segment import segment
from assay.fetch.html_markdown import MAX_TAG_DEPTH, limit_nesting
from assay.verify.texts.marked_text import mark_citations
from assay.verify.texts.text_check import DocumentAccess, check_by_rules

SIZE = 5_000
TEXTS = {name: (suffix, make) for name, suffix, make in constructs("text")}
DRAFTS = {name: make for name, _, make in constructs("draft") if not name.startswith("mixed")}
DOCUMENT = Document(
    sha256=sha256(EVIDENCE.encode()),
    snapshot_sha256="",
    extractor="t",
    url="file:///tides.md",
    title="Tides",
    name="tides.md",
    media_type="text/markdown",
    syntax="markdown",
    size=len(EVIDENCE),
    fetched_at="",
)
SHELF = DocumentAccess(
    find=lambda reference: (DOCUMENT,),
    spans=lambda document: segment(EVIDENCE, "markdown"),
    text_of=lambda name: EVIDENCE.encode(),
    all_documents=(DOCUMENT,),
)


@pytest.mark.parametrize("name", sampled(TEXTS, 2))
def test_a_text_is_read_in_linear_time(name: str) -> None:
    suffix, make = TEXTS[name]
    assert exponent(lambda text: read(text, suffix), make, SIZE) < WORST


@pytest.mark.parametrize("name", sampled(DRAFTS, 3))
def test_a_draft_is_verified_in_linear_time(name: str) -> None:
    make: Callable[[int], str] = DRAFTS[name]
    assert exponent(lambda text: check_by_rules(text, mark_citations(text), SHELF), make, SIZE // 2) < WORST


BLOCKS = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header"
    " hgroup main menu nav ol search section summary table ul"
)


@pytest.mark.parametrize("tag", [*BLOCKS.split(), "DIV"])
def test_no_page_is_too_deep_to_be_read_at_once(tag: str) -> None:
    deep = f"<{tag} class=a>" * 5_000 + "text" + f"</{tag}>" * 5_000
    kept = limit_nesting(deep)
    assert (kept.count(f"<{tag} "), kept.count(f"</{tag}>")) == (MAX_TAG_DEPTH, MAX_TAG_DEPTH)
    assert "text" in kept
    no_block = f"<{tag}x>" * 5_000
    assert limit_nesting(no_block) == no_block
    flat = f"<{tag}>a</{tag}>" * 5_000
    assert limit_nesting(flat) == flat
