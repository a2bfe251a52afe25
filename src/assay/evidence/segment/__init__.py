"""The segmenter: cuts a document's text into the passages a model may cite.

There is one text form for all formats: light Markdown and reStructuredText (headings, list items, table rows, code,
`key: value` header fields), which every extractor writes; only pages and table rows are lines already. Passages are
computed, never stored; under one version name, the same text always gives the same passages.

lines, blocks   the kind of each line, and which belong together     flat      the same for pages and rows contents
which blocks are navigation                          context   labels and leads of blocks passages        blocks cut to
size
"""

from __future__ import annotations

from assay.core.sources import PassageSpan, Syntax
from assay.evidence.segment.blocks import blocks
from assay.evidence.segment.contents import marked
from assay.evidence.segment.context import placed
from assay.evidence.segment.passages import pages, rows, spans

SEGMENTER = "segment/2"


def segment(text: str, syntax: Syntax) -> tuple[PassageSpan, ...]:
    """The passages of `text`: ordinals from 0, ascending, not overlapping, none blank.

    Offsets are bytes of the text's UTF-8: `text.encode()[span.start:span.end].decode() == span.text`. Every word is in
    a passage, except invisible markup: fence lines, comments, delimiters of front matter.
    """
    if syntax == "pages":
        return spans(text, pages(text))
    if syntax == "rows":
        return spans(text, rows(text))
    found = blocks(text, syntax)
    return spans(text, found if syntax == "code" else placed(text, marked(text, found)))


__all__ = ["SEGMENTER", "segment"]
