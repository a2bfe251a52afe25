"""Plain text."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import first_line, stem
from assay.fetch.text_decoder import decode


class TextExtractor:
    """Text unchanged. Also reads files of unknown kinds if they are text."""

    name = "text/2"
    suffixes = (".txt", ".text", ".log", ".org", ".tex")
    media_type = "text/plain"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document; its title is the first line if that is not a sentence, else the file's name.

        Raises:
            ExtractError: the bytes are not text.
        """
        text = decode(data)
        title = first_line(text) or stem(name)
        yield Extracted(text=text, extractor=self.name, syntax="plain", title=title, language=detect(text))
