"""Passages as an embedder reads them, and asking one until it answers."""

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


# Asking an embedder until it answers: it is waited for as it asks, and asked for less where it was too much.

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds before the second attempt, each later pause twice the one before; and the most that is waited."""
SHORTEST = 64
"""Code points; a text is not cut to less."""
Sleep = Callable[[float], None]


def embed(
    embedder: Embedder, texts: Sequence[str], kind: TextKind, *, attempts: int = ATTEMPTS, sleep: Sleep = time.sleep
) -> Embedding:
    """The vectors of `texts`.

    Raises:
        SearchError: every attempt failed, or it would fail again.
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
