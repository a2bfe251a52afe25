"""Passages as an embedder reads them, and vectors as they are kept."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence

from assay.core.sources import Document, Span
from assay.search.local.index import POINTER

LONGEST = 2_000
"""Code points of a text; a model with a window of 512 tokens reads no more of it."""
KEY = 16
"""Bytes of a text's hash."""
LARGEST = 127


def embedded_spans(spans: Iterable[Span]) -> list[Span]:
    """The passages which get vectors: headings are in the texts of those below them, and pointers say nothing."""
    return [span for span in spans if span.kind != "heading" and not POINTER.fullmatch(span.text)]


def text_of(span: Span, document: Document) -> str:
    """What is embedded of a passage: what it stands under, else the document's title, and its own words."""
    above = span.heading[-1] if span.heading else document.title
    return f"{above}\n{span.text}"[:LONGEST] if above else span.text[:LONGEST]


def key_of(text: str) -> bytes:
    """What a text is known by: equal texts, equal vectors."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:KEY]


def quantized(vector: Sequence[float]) -> bytes:
    """A vector as signed bytes, the largest number of which is 127: cosines ask for directions only."""
    scale = max(map(abs, vector), default=0.0)
    if not scale:
        return bytes(len(vector))
    return array("b", [round(number * LARGEST / scale) for number in vector]).tobytes()
