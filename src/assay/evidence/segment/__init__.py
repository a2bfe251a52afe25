"""The segmenter: cuts a document's text into the passages a model may cite, here or in a separate process.

There is one text form for all formats: light Markdown and reStructuredText (headings, list items, table rows, code,
`key: value` header fields), which every extractor writes; only pages and table rows are lines already. Passages are
computed, never stored; under one version name, the same text always gives the same passages.

`lines` knows the kind of each line, `blocks` which belong together, `contents` which blocks are navigation;
`passages` finds their labels and leads, and cuts them to size; `flat` has the blocks of pages and rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.core.errors import ExtractError
from assay.core.sources import SYNTAXES, Extracted, PassageSpan, Syntax
from assay.evidence.segment.blocks import blocks
from assay.evidence.segment.contents import mark_navigation
from assay.evidence.segment.flat import page_blocks, row_blocks
from assay.evidence.segment.passages import add_context, spans

SEGMENTER = "segment/4"


def segment(text: str, syntax: Syntax) -> tuple[PassageSpan, ...]:
    """The passages of `text`: ordinals from 0, ascending, not overlapping, none blank.

    Offsets are bytes of the text's UTF-8: `text.encode()[span.start:span.end].decode() == span.text`. Every word is in
    a passage, except invisible markup: fence lines, comments, delimiters of front matter.
    """
    if syntax == "pages":
        return spans(text, page_blocks(text))
    if syntax == "rows":
        return spans(text, row_blocks(text))
    text_blocks = blocks(text, syntax)
    return spans(text, text_blocks if syntax == "code" else add_context(text, mark_navigation(text, text_blocks)))


# For a separate process: texts are sent as files, and passages returned as one document.

_PASSAGES = msgspec.msgpack.Decoder(tuple[PassageSpan, ...])
_TEXTS = msgspec.msgpack.Decoder(list[tuple[bytes, Syntax]])
_PASSAGES_OF_EACH = msgspec.msgpack.Decoder(list[tuple[PassageSpan, ...]])


class PassageCutter:
    """Cuts a text, given as UTF-8, whose syntax is the file's name."""

    name = SEGMENTER
    suffixes: tuple[str, ...] = ()
    media_type = "text/plain"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Yield one document with the passages in `body`.

        Raises:
            ExtractError: there is no such syntax.
        """
        syntax = next((known_syntax for known_syntax in SYNTAXES if known_syntax == name), None)
        if syntax is None:
            raise ExtractError(f"no syntax {name!r}")
        body = msgspec.msgpack.encode(segment(data.decode(), syntax))
        yield Extracted(text="", extractor=self.name, syntax=syntax, body=body)


def passages_of(answer: Extracted) -> tuple[PassageSpan, ...]:
    """The passages in the answer of a `PassageCutter`.

    Equal headings, labels and leads are one object, as the segmenter makes them: apart they take as much memory as the
    texts.
    """
    headings: dict[tuple[str, ...], tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    return tuple(
        msgspec.structs.replace(
            span,
            heading=headings.setdefault(span.heading, span.heading),
            label=texts.setdefault(span.label, span.label),
            lead=texts.setdefault(span.lead, span.lead),
        )
        for span in _PASSAGES.decode(answer.body or b"")
    )


class BatchCutter:
    """Cuts several texts, packed by `pack_texts`: a message for each would cost as much as cutting most of them."""

    name = SEGMENTER
    suffixes: tuple[str, ...] = ()
    media_type = "text/plain"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Yield one document with the passages of each text in `body`."""
        del name
        passages = [segment(text.decode(), syntax) for text, syntax in _TEXTS.decode(data)]
        yield Extracted(text="", extractor=self.name, syntax="pages", body=msgspec.msgpack.encode(passages))


def pack_texts(texts: Sequence[tuple[bytes, Syntax]]) -> bytes:
    """Texts in UTF-8 for a `BatchCutter`."""
    return msgspec.msgpack.encode(texts)


def passages_of_each(answer: Extracted) -> list[tuple[PassageSpan, ...]]:
    """The passages in the answer of a `BatchCutter`, of each text."""
    return _PASSAGES_OF_EACH.decode(answer.body or b"")
