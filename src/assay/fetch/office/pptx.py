"""PowerPoint presentations."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.later import later
from assay.core.sources import Extracted
from assay.fetch.fields import stem
from assay.fetch.office.package import DAMAGED, author_of, created_on, need, unpacked
from assay.fetch.text_form import TextBuilder, clean

if TYPE_CHECKING:
    from lxml import etree
    from pptx.presentation import Presentation
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
else:
    etree = later("lxml.etree")

DEEPEST_GROUP = 8


class PptxExtractor:
    """One document: one section per slide, whose heading states its number, with text, tables, and then the notes.

    The headings of a passage thus name its slide. Pictures and charts are omitted.
    """

    name = "pptx/1"
    suffixes = (".pptx",)
    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document.

        Raises:
            ExtractError: encrypted, damaged, malicious, or without text; or the extra is missing.
        """
        need("pptx", "python-pptx")
        import pptx  # noqa: PLC0415 - of the extra `office`
        from pptx.exc import PythonPptxError  # noqa: PLC0415 - of the extra `office`

        with unpacked(data):
            try:
                shown = pptx.Presentation(io.BytesIO(data))
                writing = TextBuilder()
                written = [_write(slide, number, writing) for number, slide in enumerate(shown.slides, 1)]
            except (PythonPptxError, KeyError, ValueError, AttributeError, etree.LxmlError) as error:
                raise ExtractError(DAMAGED) from error
        if not any(written):
            raise ExtractError("no text on its slides")
        yield _extracted(shown, writing.text, name, self.name)


def _extracted(shown: Presentation, text: str, name: str, extractor: str) -> Extracted:
    facts = shown.core_properties
    return Extracted(
        text=text,
        extractor=extractor,
        syntax="markdown",
        title=clean(facts.title or "").strip()[:300].removeprefix("PowerPoint Presentation") or stem(name),
        author=author_of(facts),
        published=created_on(facts),
        language=detect(text),
        metadata={"slides": str(len(shown.slides))},
    )


def _write(slide: Slide, number: int, writing: TextBuilder) -> bool:
    """Write a slide; return whether it has any text."""
    before = len(writing.text)
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None else ""
    writing.heading(f"Slide {number}: {heading}" if heading else f"Slide {number}", 2)
    bare = len(writing.text)
    for shape in _shapes(slide.shapes, 0):
        if title is None or shape.shape_id != title.shape_id:
            _write_shape(shape, writing)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = [
            paragraph.text for paragraph in slide.notes_slide.notes_text_frame.paragraphs if paragraph.text.strip()
        ]
        if notes:
            writing.heading("Notes", 3)
        for note in notes:
            writing.paragraph(note)
    return bool(heading) or len(writing.text) > max(bare, before)


def _shapes(shapes: Iterable[BaseShape], deep: int) -> Iterator[BaseShape]:
    """The shapes in order, including those in groups."""
    for shape in shapes:
        inner = getattr(shape, "shapes", None)
        if inner is not None and deep < DEEPEST_GROUP:
            yield from _shapes(inner, deep + 1)
        else:
            yield shape


def _write_shape(shape: BaseShape, writing: TextBuilder) -> None:
    table = shape.table if getattr(shape, "has_table", False) else None  # type: ignore[attr-defined]
    if table is not None:
        writing.table([[cell.text for cell in row.cells] for row in table.rows])
    elif shape.has_text_frame:
        paragraphs = [each for each in shape.text_frame.paragraphs if each.text.strip()]  # type: ignore[attr-defined]
        for paragraph in paragraphs:
            if shape.is_placeholder and len(paragraphs) > 1:
                writing.item(paragraph.text, paragraph.level)
            else:
                writing.paragraph(paragraph.text)
