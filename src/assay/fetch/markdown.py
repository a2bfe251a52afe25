"""Markdown and reStructuredText, which are the text form itself."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import read_fields, stem
from assay.fetch.text_decoder import decode


class MarkdownExtractor:
    """Markdown unchanged; title, author and date come from its front matter, header lines or first heading."""

    name = "markdown/2"
    suffixes = (".md", ".markdown", ".mdx", ".rst", ".rest", ".rst.txt", ".md.txt")
    media_type = "text/markdown"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document.

        Raises:
            ExtractError: the bytes are not text.
        """
        text = decode(data)
        fields = read_fields(text)
        yield Extracted(
            text=text,
            extractor=self.name,
            syntax="markdown",
            title=fields.title or stem(name),
            author=fields.author,
            published=fields.published,
            language=fields.language or detect(text),
            metadata=fields.other,
        )
