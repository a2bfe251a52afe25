"""A cited passage in its document, for a reader who wants to check."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.claims import Claim
from assay.core.errors import UnknownName
from assay.core.ports import Library
from assay.core.sources import Passage, Source
from assay.evidence.documents import DocumentReader, context


class CitedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage a report cites, in its document.

    `before` and `after` are what stands around it; `claims` are the sentences which rest on it, with their verdicts.
    """

    number: int
    source: Source
    passage: Passage
    before: str
    after: str
    claims: tuple[Claim, ...]


def show(
    library: Library, reader: DocumentReader, claims: Sequence[Claim], number: int, source: Source, passage: Passage
) -> CitedPassage:
    """The passage behind display number `number` of a report with these claims. Blocking.

    Raises:
        UnknownName: the library does not have its document.
        StoreError: the document's text is not there, or damaged.
    """
    document = library.document(passage.document_sha256)
    if document is None:
        raise UnknownName("document", passage.document_sha256)
    before, _, after = context(reader, document, passage.start, passage.end)
    resting = tuple(claim for claim in claims if passage.id in claim.passages)
    return CitedPassage(number=number, source=source, passage=passage, before=before, after=after, claims=resting)
