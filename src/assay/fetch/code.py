"""Source code and structured text files, as text."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.sources import Extracted
from assay.fetch.fields import stem
from assay.fetch.text_decoder import decode

SUFFIXES = (
    *(".py", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".go", ".js", ".mjs", ".jsx", ".ts", ".tsx"),
    *(".java", ".kt", ".scala", ".swift", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".hs", ".ml", ".ex", ".erl"),
    *(".clj", ".dart", ".zig", ".nim", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".sql", ".toml", ".yaml"),
    *(".yml", ".json", ".ini", ".cfg", ".conf", ".xml", ".css", ".scss", ".proto", ".graphql", ".tf", ".cmake"),
    *(".mk", ".gradle", ".vue", ".svelte", ".diff", ".patch"),
)


class CodeExtractor:
    """The file unchanged; passages are groups of its lines."""

    name = "code/1"
    suffixes = SUFFIXES
    media_type = "text/x-source"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document; its title is the file's name.

        Raises:
            ExtractError: the bytes are not text.
        """
        yield Extracted(text=decode(data), extractor=self.name, syntax="code", title=stem(name))
