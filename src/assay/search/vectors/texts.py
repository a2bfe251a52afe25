"""Passages in the form for an embedder, and calls of an embedder with retries."""

from __future__ import annotations

import hashlib
import time
from array import array
from collections.abc import Callable, Iterable, Sequence

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, SearchError
from assay.core.messages import passage_text
from assay.core.ports import Embedder, Embedding, TextKind
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import POINTER, UNFOUND, around

LONGEST = 2_000
"""Code points of a text; a model with a window of 512 tokens reads no more."""
KEY = 16
"""Bytes of a text's hash."""
LARGEST = 127


def embedded_spans(spans: Iterable[PassageSpan]) -> list[PassageSpan]:
    """The passages that get vectors: headings are in the texts below them, and pointers say nothing."""
    return [span for span in spans if span.kind not in UNFOUND and not POINTER.fullmatch(span.text)]


def text_of(span: PassageSpan, document: Document) -> str:
    """The text to embed for a passage: its heading, or else the document's title, its topic, its words."""
    above = span.heading[-1] if span.heading else document.title
    return passage_text(above, around(span), span.text)[:LONGEST]


def key_of(text: str) -> bytes:
    """The key of a text: equal texts have equal vectors."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:KEY]


def quantized(vector: Sequence[float]) -> bytes:
    """A vector as signed bytes, scaled so that the largest is 127: cosines only depend on directions."""
    scale = max(map(abs, vector), default=0.0)
    if not scale:
        return bytes(len(vector))
    return array("b", [round(number * LARGEST / scale) for number in vector]).tobytes()


# Calls an embedder with retries: it waits as long as the embedder asks, and sends less if it was too much.

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds before the second attempt, doubling each time; and the longest pause."""
SHORTEST = 64
"""Code points; a text is not cut further."""
Sleep = Callable[[float], None]


def embed(
    embedder: Embedder, texts: Sequence[str], kind: TextKind, *, attempts: int = ATTEMPTS, sleep: Sleep = time.sleep
) -> Embedding:
    """Return the vectors of `texts`.

    Raises:
        SearchError: every attempt failed, or a retry would fail again.
    """
    try:
        return _attempted(embedder, texts, kind, attempts, sleep)
    except ContextTooLong as error:
        if len(texts) == 1 and len(texts[0]) <= SHORTEST:
            raise SearchError(f"{embedder.name}: {error}") from error
    if len(texts) == 1:
        return embed(embedder, [texts[0][: len(texts[0]) // 2]], kind, attempts=attempts, sleep=sleep)
    half = len(texts) // 2
    parts = [embed(embedder, part, kind, attempts=attempts, sleep=sleep) for part in (texts[:half], texts[half:])]
    return Embedding([*parts[0].vectors, *parts[1].vectors], parts[0].tokens + parts[1].tokens)


def _attempted(embedder: Embedder, texts: Sequence[str], kind: TextKind, attempts: int, sleep: Sleep) -> Embedding:
    for attempt in range(1, attempts + 1):
        try:
            return embedder.embed(texts, kind)
        except ContextTooLong:
            raise
        except ModelFailed as error:
            raise SearchError(f"{embedder.name}: {error}") from error
        except ModelError as error:
            pause = FIRST_PAUSE * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
            if not error.transient or attempt == attempts or pause > LONGEST_PAUSE:
                raise SearchError(f"{embedder.name}: {error.reason}") from error
            sleep(pause)
    raise AssertionError("the last attempt returns or raises")
