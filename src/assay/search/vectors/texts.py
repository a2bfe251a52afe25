"""Passages as an embedder reads them, and vectors as they are kept."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence

from assay.core.closeness import passage_text
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import POINTER, UNFOUND, around

LONGEST = 2_000
"""Code points of a text; a model with a window of 512 tokens reads no more of it."""
KEY = 16
"""Bytes of a text's hash."""
LARGEST = 127


def embedded_spans(spans: Iterable[PassageSpan]) -> list[PassageSpan]:
    """The passages which get vectors: headings are in the texts of those below them, and pointers say nothing."""
    return [span for span in spans if span.kind not in UNFOUND and not POINTER.fullmatch(span.text)]


def text_of(span: PassageSpan, document: Document) -> str:
    """What is embedded of a passage: what it stands under, else the document's title, what it is about, its words."""
    above = span.heading[-1] if span.heading else document.title
    return passage_text(above, around(span), span.text)[:LONGEST]


def key_of(text: str) -> bytes:
    """What a text is known by: equal texts, equal vectors."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:KEY]


def quantized(vector: Sequence[float]) -> bytes:
    """A vector as signed bytes, the largest number of which is 127: cosines ask for directions only."""
    scale = max(map(abs, vector), default=0.0)
    if not scale:
        return bytes(len(vector))
    return array("b", [round(number * LARGEST / scale) for number in vector]).tobytes()
