"""Files of a folder which nobody reads: for machines, made by machines, or another form of a page beside them.

They are left out where a folder, an archive or a repository was named, and read where they were named themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath

from assay.evidence.ingest.files import FileToRead

STYLES, SCRIPTS, DRAWINGS = "a style sheet", "a script of pages", "a drawing"
FOR_MACHINES = {
    **dict.fromkeys((".css", ".less", ".scss", ".sass"), STYLES),
    **dict.fromkeys((".js", ".mjs", ".cjs"), SCRIPTS),
    ".svg": DRAWINGS,
    ".map": "a map of sources",
}
LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock pdm.lock uv.lock pipfile.lock"
    " cargo.lock composer.lock gemfile.lock go.sum flake.lock mix.lock podfile.lock".split()
)
MINIFIED = re.compile(r"[.-]min\.\w+$", re.IGNORECASE)
SOURCE = "text/x-source"
"""The media type of source code. A manual made by a tool is still read by people; only code is asked who made it."""
DATA = frozenset((".json", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".sql", ".diff", ".patch"))
"""Suffixes of source files whose lines may be long though people wrote them, or want to know what they hold."""
LONG_LINES, LEAST = 300, 2_000
"""Bytes of a line on average, in code of at least so many bytes, from which on it is minified."""
HEAD = 2_000
GENERATED = re.compile(
    rb"@generated\b|\bcode generated\b[^\n]{0,200}\bdo not edit|\bdo not (?:edit|modify)\b[^\n]{0,80}\bgenerated\b"
    rb"|\b(?:auto-?|automatically |machine[- ])generated\b[^\n]{0,200}(?:\n[^\n]{0,200}){0,2}?\bdo not (?:edit|modify)",
    re.IGNORECASE,
)
"""What generators write at the top, after the conventions of Go (`Code generated … DO NOT EDIT.`) and of tools
for reviews (`@generated`)."""

PAGES = (".html", ".htm", ".xhtml")
SOURCES = (".rst", ".md", ".markdown", ".txt", ".text", ".org", ".adoc", ".texi", ".pod", ".rest", ".mdx")
SPHINX = "_sources"
"""The folder of the sources beside the pages Sphinx makes of them."""
SHARED = 0.7
"""Share of a source's words which its page has, too."""
LARGEST_TWIN = 4_000_000
_WORD = re.compile(rb"[^\W_]{3,}|[\x80-\xff]{3,}")


def by_name(name: str) -> str:
    """Why a file of this name is left out; "" where its name does not tell."""
    if name.lower() in LOCKS:
        return "a lock file"
    if MINIFIED.search(name):
        return "minified"
    return FOR_MACHINES.get(PurePath(name).suffix.lower(), "")


def by_content(name: str, data: bytes, media_type: str) -> str:
    """Why a file with these bytes is left out: minified, or made by a tool. "" where it is for people."""
    if media_type != SOURCE:
        return ""
    if GENERATED.search(data[:HEAD]):
        return "made by a tool"
    plain = PurePath(name).suffix.lower() in DATA
    if not plain and len(data) >= LEAST and len(data) > LONG_LINES * (data.count(b"\n") + 1):
        return "minified"
    return ""


def twins(files: Iterable[FileToRead]) -> dict[Path, Path]:
    """For each source nobody named, the page beside it which may have been made of it: `a.rst` and `a.html`, or
    `_sources/a.rst.txt` and `a.html`.
    """
    unnamed = [file.path for file in files if not file.named]
    there = {os.fspath(path) for path in unnamed}
    found = ((path, _page_of(path, there.__contains__)) for path in unnamed if path.suffix.lower() in SOURCES)
    return {path: page for path, page in found if page is not None}


def _page_of(path: Path, exists: Callable[[str], bool]) -> Path | None:
    stem = path
    while stem.suffix.lower() in SOURCES:
        stem = stem.with_suffix("")
    parts = stem.parts
    places = [stem]
    if SPHINX in parts:
        at = len(parts) - 1 - parts[::-1].index(SPHINX)
        places.append(Path(*parts[:at], *parts[at + 1 :]))
    pages = (Path(f"{place}{suffix}") for place in places for suffix in PAGES)
    return next((page for page in pages if exists(os.fspath(page))), None)


def is_twin(source: bytes, page: bytes) -> bool:
    """Whether a page says what a source says: it has most of its words."""
    words = set(_WORD.findall(source.lower()))
    return bool(words) and len(words & set(_WORD.findall(page.lower()))) >= SHARED * len(words)


def said(reasons: Mapping[str, list[str]]) -> list[str]:
    """A line for each reason: how many files it holds for, and the first of them."""
    lines = []
    for reason, names in reasons.items():
        first = ", ".join(names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines.append(f"left out ({reason}; name it to read it): {first}{more}")
    return lines
