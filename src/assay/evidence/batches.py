"""Passages of many documents, in order, cut side by side: texts are handed on in batches, some ahead of need."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.core.errors import StoreError
from assay.core.sources import Document, PassageSpan, Syntax

BATCH_BYTES = 250_000
"""Bytes of text from which on a batch is handed on: a tenth of a second's work."""
AHEAD = 5
"""Batches under way before the first of them is needed."""
Spans = tuple[PassageSpan, ...]
Texts = list[tuple[bytes, Syntax]]
BeginCutting = Callable[[Texts], Callable[[], Sequence[Spans]]]
"""Begins to cut texts in UTF-8; what it gives waits for their passages."""


class _Batch:
    """Documents whose texts are cut together; those whose text cannot be read are in `failed`, by their place."""

    def __init__(self) -> None:
        self.texts: Texts = []
        self.failed: dict[int, StoreError] = {}
        self.count = self.size = 0

    def add(self, document: Document, text: Callable[[Document], bytes]) -> None:
        try:
            data = text(document)
        except StoreError as error:
            self.failed[self.count] = error
        else:
            self.texts.append((data, document.syntax))
            self.size += len(data)
        self.count += 1

    def outcomes(self, found: Sequence[Spans]) -> Iterator[Spans | StoreError]:
        cut = iter(found)
        for place in range(self.count):
            yield self.failed[place] if place in self.failed else next(cut)


def cut_in_order(
    documents: Iterable[Document], text: Callable[[Document], bytes], begin: BeginCutting
) -> Iterator[Spans | StoreError]:
    """The passages of each document, or why its text cannot be read; documents are taken ahead of what is given."""
    under_way: deque[tuple[_Batch, Callable[[], Sequence[Spans]]]] = deque()
    for batch in _batches(documents, text):
        under_way.append((batch, begin(batch.texts)))
        if len(under_way) > AHEAD:
            first, wait = under_way.popleft()
            yield from first.outcomes(wait())
    for batch, wait in under_way:
        yield from batch.outcomes(wait())


def _batches(documents: Iterable[Document], text: Callable[[Document], bytes]) -> Iterator[_Batch]:
    batch = _Batch()
    for document in documents:
        batch.add(document, text)
        if batch.size >= BATCH_BYTES:
            yield batch
            batch = _Batch()
    if batch.count:
        yield batch
