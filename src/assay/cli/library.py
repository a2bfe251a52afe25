"""How commands reach the library: only through `assay.Assay`."""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec

from assay import Assay, settings
from assay.app.assay import DEFAULT_COLLECTION
from assay.app.layout import has_database
from assay.cli.display import can_draw
from assay.cli.terminal import TerminalOptions, say
from assay.core.errors import UsageError
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import ctypes

    from assay.app import embeddings
else:
    ctypes = lazy_module("ctypes")
    embeddings = lazy_module("assay.app.embeddings")

T = TypeVar("T")

# `-vv`: the log of runs on stderr too.


def add_stderr_log(config: settings.Settings) -> settings.Settings:
    """The settings, with the whole log on stderr if `-vv` is given.

    If the live view draws on stderr, there is no room for log lines; `log.file` keeps them.
    """
    context = click.get_current_context(silent=True)
    state = context.find_object(TerminalOptions) if context else None
    if state is None or state.verbosity < 2 or can_draw():
        return config
    log = msgspec.structs.replace(config.log, stderr=True, level="debug")
    return msgspec.structs.replace(config, log=log)


HOW_TO_RUN = "there are no runs yet: `assay QUESTION --in PATH` makes the first"
HOW_TO_ADD = "the library is empty: add documents with `assay docs add PATH`, or name them with `--in PATH`"
MAX_NAMED = 5
ARENA_MAX, ARENAS = -8, 2
"""`M_ARENA_MAX` of glibc's malloc.h, and its value here."""


def open_assay(home: Path | None, config: settings.Settings | None = None) -> Assay:
    """Assay for the home that the command or the settings name; an async context manager.

    Raises:
        ConfigError: the settings cannot be read.
    """
    _share_arenas()
    config = add_stderr_log(config or settings.load())
    return Assay(config, home=home or config.home)


def _share_arenas() -> None:
    """Let the threads of this process share two arenas of the heap, as `MALLOC_ARENA_MAX=2` does, before they begin.

    With one for each thread a process takes 10 MB more. A library must not change this for its user's process.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(ARENA_MAX, ARENAS)


def settings_with_embedder(embedder: str | None, *, elsewhere: bool = False) -> settings.Settings:
    """The settings, with the embedder that a command names; `elsewhere`: another process does the work.

    Raises:
        ConfigError: they cannot be read, or the embedder is not set up correctly.
        UnknownName: there is no such embedder.
        click.UsageError: one is named, and the process that works would not know it.
    """
    if embedder and elsewhere:
        raise click.UsageError(
            "--embedder holds for this process alone, and --detach and --queue leave the run to another; "
            f"set it for all: assay config set embedder.model {embedder}"
        )
    if not embedder:
        return settings.load()
    config = settings.load(embedder={"model": embedder})
    embeddings.load_embedder(config, embedder).close()  # it may be used in the background, where nobody sees an error
    return config


def open_existing(home: Path | None, embedder: str | None = None) -> Assay:
    """Like `open_assay`, for a command that only reads: it does not create a library.

    Raises:
        ConfigError: the settings cannot be read.
        UsageError: there is no library.
    """
    config = settings_with_embedder(embedder)
    if not library_exists(home, config):
        raise UsageError(
            f"there is no library in {home or config.home}: `assay docs add PATH` makes one for documents, "
            "`assay QUESTION --in PATH` one with a run (--home names another)"
        )
    return open_assay(home, config)


def read_library(home: Path | None, read: Callable[[Assay], Awaitable[T]]) -> T:
    """The result of `read`, which gets the library as `open_existing` opens it; in an event loop of its own.

    Raises:
        ConfigError: the settings cannot be read.
        UsageError: there is no library.
    """

    async def open_and_read() -> T:
        async with open_existing(home) as assay:
            return await read(assay)

    return asyncio.run(open_and_read())


def library_exists(home: Path | None, config: settings.Settings | None = None) -> bool:
    """True if the home that the command or the settings name has a library. Creates nothing.

    A home that cannot be read, or is not a folder, counts as one: opening it reports the error.

    Raises:
        ConfigError: the settings cannot be read.
    """
    config = config or settings.load()
    if config.database is not None:
        return True
    folder = (home or config.home).expanduser()
    try:
        return has_database(folder) or (folder.exists() and not folder.is_dir())
    except OSError:
        return True


async def check_collection(assay: Assay, collection: str) -> None:
    """Check that there is such a collection; the default one always exists.

    Raises:
        UnknownName: there is none; the message names the existing ones.
    """
    if collection != DEFAULT_COLLECTION:
        await assay.check_collection(collection)


async def empty_collection_message(
    assay: Assay, collection: str = DEFAULT_COLLECTION, named_by: str = "-c NAME"
) -> str:
    """The message for an empty collection: the collections with documents and how to name one, else how to add some."""
    other_collections = [row.name for row in await assay.collections() if row.documents and row.name != collection]
    if not other_collections:
        return HOW_TO_ADD
    names = ", ".join(other_collections[:MAX_NAMED]) + (", …" if len(other_collections) > MAX_NAMED else "")
    return f"the collection {collection} has no documents; others have some: {names} (`{named_by}`)"


# Folders that are named for a run or a check are looked through each time; a collection is not.

MANY, LONG = 200, 5.0
"""Files and seconds of reading above which it is worth a hint."""
_READING = regex(r"reading: file \d+ of (\d+)")


class ReadingTime:
    """Passes lines of progress on, and notes how many files were read and for how long."""

    def __init__(self, show: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._show, self._now, self._began = show, now, now()
        self._files, self._took = 0, 0.0

    def __call__(self, line: str) -> None:
        """Show a line; may be called from any thread."""
        if match := _READING.match(line):
            self._files, self._took = int(match[1]), self._now() - self._began
        self._show(line)

    def suggest_collection(self, sources: Sequence[str]) -> None:
        """Say on a terminal how to keep a folder among `sources`, if it was long to read."""
        folder = next((source for source in sources if Path(source).is_dir()), "")
        if folder and self._files > MANY and self._took > LONG and sys.stderr is not None and sys.stderr.isatty():
            add_command = f"assay docs add {shlex.quote(folder)} -c NAME"
            say(
                f"{folder} is looked through for each question; to keep it as a collection: {add_command}, then "
                "--in @NAME"
            )


# Names of formats, for readers.

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_NAMES = {
    f"{_OPEN_XML}wordprocessingml.document": "Word",
    f"{_OPEN_XML}presentationml.presentation": "PowerPoint",
    f"{_OPEN_XML}spreadsheetml.sheet": "Excel",
    "application/vnd.ms-excel": "Excel",
    f"{_OPEN_DOCUMENT}text": "OpenDocument text",
    f"{_OPEN_DOCUMENT}presentation": "OpenDocument slides",
    f"{_OPEN_DOCUMENT}spreadsheet": "OpenDocument sheet",
    "application/pdf": "PDF",
    "application/epub+zip": "e-book",
    "application/jsonl": "JSON lines",
    "application/mbox": "mailbox",
    "application/xhtml+xml": "HTML",
    "message/rfc822": "e-mail",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "text",
    "text/x-source": "source code",
}


def format_name(media_type: str) -> str:
    """The name of a format by its media type; any other media type unchanged."""
    return _NAMES.get(media_type, media_type)
