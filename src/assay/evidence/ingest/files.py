"""Finds the files for the named paths, and leaves out files in folders that nobody reads."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

import msgspec

from assay.core.clean import error_words
from assay.core.errors import ExtractError, UsageError
from assay.core.lazy import regex

HOME_MARK = "in-use.lock"
"""A file that every home of Assay has, also one whose database is elsewhere."""
UPLOAD_SUFFIX = ".upload"
"""The suffix of folders with uploaded files, whose paths are not shown."""


class FileToRead(msgspec.Struct, frozen=True):
    """A file to read; `named` if the user named it, so that leaving it out needs a message.

    `folder` is the one it was found in; nothing outside it is read.
    """

    path: Path
    named: bool
    folder: Path | None = None


def find_files(paths: Sequence[str | Path]) -> tuple[list[FileToRead], list[str]]:
    """The files of `paths`, each once, in order, and warnings about unreadable folders.

    Raises:
        UsageError: a path does not exist or a glob matches nothing.
    """
    files: dict[str, FileToRead] = {}
    warnings: list[str] = []
    for absolute, file, folder in _find_files(paths, warnings):
        if absolute not in files:
            files[absolute] = FileToRead(Path(file), folder is None, folder)
    return list(files.values()), warnings


def absolute_paths(paths: Sequence[str | Path]) -> list[str]:
    """The absolute paths of the files of `paths`, each once, in order. Quicker than `find_files` for millions.

    Raises:
        UsageError: a path does not exist or a glob matches nothing.
    """
    return list(dict.fromkeys(absolute for absolute, _, _ in _find_files(paths, [])))


def _find_files(paths: Sequence[str | Path], warnings: list[str]) -> Iterator[tuple[str, str, Path | None]]:
    """Each file's absolute path and its path, and the folder it was found in."""
    for pattern in paths:
        for path in _expand(pattern):
            if path.is_dir():
                yield from ((absolute, file, path) for absolute, file in _walk(path, warnings))
            else:
                yield os.path.abspath(path), str(path), None


def address(path: Path) -> str:
    """The address of a file: its path on this machine; for an uploaded file a name that hides it."""
    real = path.resolve()
    if real.parent.suffix == UPLOAD_SUFFIX:
        return f"upload://{real.parent.stem}/{quote(os.fsencode(real.name))}"
    return real.as_uri()


def printable(path: str | Path) -> str:
    """A path that can be stored and shown: bytes of a name that are not UTF-8 become U+FFFD."""
    name = os.fspath(path)
    return name if name.isascii() else os.fsencode(name).decode(errors="replace")


def _expand(pattern: str | Path) -> list[Path]:
    if not os.fspath(pattern).strip():
        raise UsageError("a path is empty: name a file or a folder (. is the current one)")
    path = Path(pattern).expanduser()
    try:
        if os.path.lexists(path):
            return [path]
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot look for {str(pattern)!r} ({error_words(error)}): check the path") from error
    if not matches:
        raise UsageError(f"no file or folder {str(pattern)!r}: check the path")
    return [Path(match) for match in matches]


def _walk(folder: Path, warnings: list[str]) -> Iterator[tuple[str, str]]:
    """The files below a folder, sorted: absolute path and path.

    Links to folders are not followed: only what was named is read. A home of Assay is left out, like hidden files and
    Office's lock files (`~$report.docx`).
    """

    def unreadable(error: OSError) -> None:
        warnings.append(f"skipped {printable(error.filename)}: {error.strerror}")

    for root, folders, names in os.walk(folder, onerror=unreadable):
        if HOME_MARK in names and ("assay.db" in names or "index" in folders):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [path for name in folders if os.path.islink(path := os.path.join(root, name))]
        warnings += [f"skipped {printable(path)}: a link to a folder; name it to read it" for path in links]
        absolute_root = os.path.abspath(root)
        visible_names = (name for name in sorted(names) if not name.startswith((".", "~$")))
        yield from ((os.path.join(absolute_root, name), os.path.join(root, name)) for name in visible_names)


# Reads the bytes of a file: only a regular one, within the limit, and completely.

SNIFFED_BYTES = 8_192
CHUNK_BYTES = 1024 * 1024
READ_ATTEMPTS = 2

# If a named pipe has replaced the file, do not wait for a writer. Windows has neither flag, and a text mode.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
LINK_ERRORS = frozenset((errno.ELOOP, errno.ENOTDIR, errno.EMLINK))
"""System errors for a link if links are not followed."""
CHANGED = "it changed while it was read; add it again when nothing writes to it"


class FileContent(msgspec.Struct, frozen=True):
    """A file's bytes, and its state while they were read."""

    data: bytes
    mtime_ns: int


def check_regular(status: os.stat_result) -> None:
    """Refuse anything but a regular file.

    Raises:
        ExtractError: it is a pipe, a device, a socket or a folder.
    """
    if not stat.S_ISREG(status.st_mode):
        raise ExtractError("not a regular file")


def read_file(path: Path, largest: int, *, text: bool, folder: Path | None = None) -> FileContent | None:
    """The content of a regular file of at most `largest` bytes; with `text`, None if it does not look like text.

    A file that changes meanwhile is read once more. With a `folder`, nothing outside it is read, even if something is
    replaced meanwhile.

    Raises:
        ExtractError: not a regular file, too large, changed again, or a link that leads out of the folder.
        OSError: it cannot be opened or read.
    """
    descriptor = os.open(path, OPEN_FLAGS) if folder is None else _open_below(folder, path)
    try:
        if text and b"\0" in _first_bytes(descriptor):
            return None
        for _ in range(READ_ATTEMPTS):
            content = _read_if_stable(descriptor, largest)
            if content is not None:
                return content
    finally:
        os.close(descriptor)
    raise ExtractError(CHANGED)


def _open_below(folder: Path, path: Path) -> int:
    """Open a file below a folder; a link is followed if it leads to another file of the folder."""
    if os.open not in os.supports_dir_fd:
        return os.open(path, OPEN_FLAGS)
    try:
        return _open_step_by_step(folder, path.relative_to(folder))
    except OSError as error:
        if error.errno not in LINK_ERRORS:
            raise
    real_folder, real_path = Path(os.path.realpath(folder)), Path(os.path.realpath(path, strict=True))
    if not real_path.is_relative_to(real_folder):
        raise ExtractError("a link that leads out of the folder; name it to read it")
    try:
        return _open_step_by_step(real_folder, real_path.relative_to(real_folder))
    except OSError as error:
        raise ExtractError(CHANGED) if error.errno in LINK_ERRORS else error from error


def _open_step_by_step(folder: Path, relative_path: Path) -> int:
    """Open a path below a folder step by step, so that no step is a link at that moment."""
    descriptor = os.open(folder, FOLDER_FLAGS)
    try:
        for name in relative_path.parts[:-1]:
            below = os.open(name, FOLDER_FLAGS | NO_FOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        return os.open(relative_path.name, OPEN_FLAGS | NO_FOLLOW, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _first_bytes(descriptor: int) -> bytes:
    check_regular(os.fstat(descriptor))
    return os.read(descriptor, SNIFFED_BYTES)


def _read_if_stable(descriptor: int, largest: int) -> FileContent | None:
    """The content; None if the file changed while it was read."""
    before = os.fstat(descriptor)
    check_regular(before)
    if before.st_size > largest:
        raise ExtractError(f"larger than {largest / 1_000_000:g} MB (the setting documents.max_file_mb)")
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts: list[bytes] = []
    size = 0
    while size <= before.st_size and (part := os.read(descriptor, CHUNK_BYTES)):
        parts.append(part)
        size += len(part)
    after = os.fstat(descriptor)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and size == before.st_size
    return FileContent(b"".join(parts), after.st_mtime_ns) if same else None


# Files that nobody reads: for machines, made by machines, or duplicates of a page beside them.

STYLES, SCRIPTS, DRAWINGS = "a style sheet", "a script of pages", "a drawing"
FOR_MACHINES = {
    **dict.fromkeys((".css", ".less", ".scss", ".sass"), STYLES),
    **dict.fromkeys((".js", ".mjs", ".cjs"), SCRIPTS),
    ".svg": DRAWINGS,
    ".map": "a map of sources",
}
LOCK_FILES = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock pdm.lock uv.lock pipfile.lock"
    " cargo.lock composer.lock gemfile.lock go.sum flake.lock mix.lock podfile.lock".split()
)
MINIFIED = regex(r"[.-]min\.\w+$", re.IGNORECASE)
SOURCE = "text/x-source"
"""The media type of source code. People read manuals made by a tool; only for code it matters who made it."""
DATA_SUFFIXES = frozenset(
    (".json", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".sql", ".diff", ".patch")
)
"""Suffixes of source files that may have long lines although people wrote them, or that people want to read."""
KEPT_SUFFIXES = frozenset(
    ".gpx .kml .opml .plist .rss .atom .xsd .wsdl .pom .csproj .config .env .properties .desktop .editorconfig"
    " .gitconfig .service .socket .timer .mount .bib .ris".split()
)
"""Suffixes of data, settings and references, which people want to read whatever wrote them."""
LONG_LINES, MIN_MINIFIED_BYTES = 300, 2_000
"""Code is minified if its lines have on average so many bytes and it has at least so many bytes."""
HEAD_BYTES = 2_000
GENERATED_MARK = regex(
    rb"@generated\b|\bcode generated\b[^\n]{0,200}\bdo not edit|\bdo not (?:edit|modify)\b[^\n]{0,80}\bgenerated\b"
    rb"|\b(?:auto-?|automatically |machine[- ])generated\b[^\n]{0,200}(?:\n[^\n]{0,200}){0,2}?\bdo not (?:edit|modify)",
    re.IGNORECASE,
)
"""Marks of generated files, by the conventions of Go and of review tools (`@generated`)."""

PAGES = (".html", ".htm", ".xhtml")
SOURCES = (".rst", ".md", ".markdown", ".txt", ".text", ".org", ".adoc", ".texi", ".pod", ".rest", ".mdx")
SPHINX = "_sources"
"""The folder of the sources beside the pages that Sphinx makes from them."""
TWIN_SHARE = 0.7
"""The share of a source's words that its page must have too."""
MAX_TWIN_BYTES = 4_000_000
_WORD = regex(rb"[^\W_]{3,}|[\x80-\xff]{3,}")


def name_exclusion(name: str) -> str:
    """Why a file with this name is left out; "" if its name does not show it."""
    if name.lower() in LOCK_FILES:
        return "a lock file"
    if MINIFIED.search(name):
        return "minified"
    return FOR_MACHINES.get(PurePath(name).suffix.lower(), "")


def content_exclusion(name: str, data: bytes, media_type: str) -> str:
    """Why a file with these bytes is left out: minified, or made by a tool. "" if it is for people."""
    suffix = PurePath(name).suffix.lower()
    if media_type != SOURCE or suffix in KEPT_SUFFIXES:
        return ""
    if GENERATED_MARK.search(data[:HEAD_BYTES]):
        return "made by a tool"
    if (
        suffix not in DATA_SUFFIXES
        and len(data) >= MIN_MINIFIED_BYTES
        and len(data) > LONG_LINES * (data.count(b"\n") + 1)
    ):
        return "minified"
    return ""


def find_twins(files: Iterable[FileToRead]) -> dict[Path, Path]:
    """Map each source that nobody named to the page beside it that may have been made from it: `a.rst` and `a.html`, or
    `_sources/a.rst.txt` and `a.html`.
    """
    unnamed = [file.path for file in files if not file.named]
    existing_paths = {os.fspath(path) for path in unnamed}
    pairs = ((path, _page_of(path, existing_paths.__contains__)) for path in unnamed if path.suffix.lower() in SOURCES)
    return {path: page for path, page in pairs if page is not None}


def _page_of(path: Path, exists: Callable[[str], bool]) -> Path | None:
    stem = path
    while stem.suffix.lower() in SOURCES:
        stem = stem.with_suffix("")
    parts = stem.parts
    stems = [stem]
    if SPHINX in parts:
        index = len(parts) - 1 - parts[::-1].index(SPHINX)
        stems.append(Path(*parts[:index], *parts[index + 1 :]))
    pages = (Path(f"{base}{suffix}") for base in stems for suffix in PAGES)
    return next((page for page in pages if exists(os.fspath(page))), None)


def is_twin(source: bytes, page: bytes) -> bool:
    """True if a page says what a source says: it has most of its words."""
    words = set(_WORD.findall(source.lower()))
    return bool(words) and len(words & set(_WORD.findall(page.lower()))) >= TWIN_SHARE * len(words)


NAME_TEXT = "name files, folders or pages with text (hidden files are read only by name)"
"""What to do where nothing was found to read, and nothing says why."""


def nothing_read_message(sources: str, reasons: Sequence[str]) -> str:
    """The message if no document could be read in `sources`: the reasons, or what to do."""
    message = f"no document could be read in {sources}"
    return "; ".join([message, *reasons]) if reasons else f"{message}: {NAME_TEXT}"


def left_out_notes(reasons: Mapping[str, list[str]]) -> list[str]:
    """A line for each reason: the number of files, and the first of them."""
    lines = []
    for reason, names in reasons.items():
        first = ", ".join(names[:3])
        suffix = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines.append(f"left out ({reason}; name it to read it): {first}{suffix}")
    return lines
