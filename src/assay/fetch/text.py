"""Files that are text as they are: plain text, Markdown and reStructuredText, source code."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import first_line, read_fields, stem
from assay.fetch.text_form import decode


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


CODE_SUFFIXES = (
    *(".py", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".go", ".js", ".mjs", ".jsx", ".ts", ".tsx"),
    *(".java", ".kt", ".scala", ".swift", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".hs", ".ml", ".ex", ".erl"),
    *(".clj", ".dart", ".zig", ".nim", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".sql", ".toml", ".yaml"),
    *(".yml", ".json", ".ini", ".cfg", ".conf", ".xml", ".css", ".scss", ".proto", ".graphql", ".tf", ".cmake"),
    *(".mk", ".gradle", ".vue", ".svelte", ".diff", ".patch"),
)


class CodeExtractor:
    """The file unchanged; passages are groups of its lines."""

    name = "code/1"
    suffixes = CODE_SUFFIXES
    media_type = "text/x-source"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document; its title is the file's name.

        Raises:
            ExtractError: the bytes are not text.
        """
        yield Extracted(text=decode(data), extractor=self.name, syntax="code", title=stem(name))
