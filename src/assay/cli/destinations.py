"""Where a report goes: files (checked before a run costs anything, and written completely or not at all), browser,
clipboard.
"""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import click

from assay import Assay, plugins, settings
from assay.cli.terminal import say, send_control, strip_controls
from assay.core.errors import StoreError
from assay.core.markers import CitationMode
from assay.services.arguments import check_format, suffix_of
from assay.services.home_paths import write_atomically


def check_paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """`paths`, after checking that each can take a report; of several that are the same file, the first.

    Raises:
        click.UsageError: a suffix belongs to no format, the folder is missing, or the place cannot be written.
        ConfigError: a format needs an extra that is not installed.
    """
    targets: dict[Path, Path] = {}
    for path in paths:
        if not (suffix := suffix_of(path)):
            *others, last = plugins.names("exporters")
            raise click.UsageError(f"{path} must end in {', '.join(others)} or {last}")
        target = _target(path)
        try:
            _check(path, target)
        except OSError as error:  # a name that is too long, or a folder without access
            raise click.UsageError(f"{path} cannot be written ({error.strerror}): name another place") from error
        check_format(suffix)
        targets.setdefault(target, path)
    return tuple(targets.values())


def _check(path: Path, target: Path) -> None:
    if not target.parent.is_dir():
        raise click.UsageError(f"the folder {target.parent if path.is_symlink() else path.parent} does not exist")
    if target.is_dir():
        raise click.UsageError(f"{path} is a folder")
    exists = target.exists()
    if exists and not target.is_file():
        raise click.UsageError(f"{path} is not a file")
    if not os.access(target.parent, os.W_OK) or (exists and not os.access(target, os.W_OK)):
        raise click.UsageError(f"{path} cannot be written")


def lines(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines of a file; if it is longer than `longest` bytes, only enough of them to show that."""
    while line := file.readline(longest + 1):
        yield line
        while len(line) > longest and not line.endswith(b"\n"):
            line = file.readline(longest + 1)


def save(path: Path, data: bytes) -> None:
    """Write `data` atomically. If the path is a link, replace its target and keep the target's mode.

    Raises:
        StoreError: the file cannot be written.
    """
    target = _target(path)
    try:
        write_atomically(
            target, data, stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else 0o666 & ~_umask()
        )
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}): name another place") from error


def _target(path: Path) -> Path:
    """The file itself, after following all links. Circular links lead to themselves, and do not fail here."""
    return Path(os.path.realpath(path))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Showing a report in the browser of this machine.


async def write_report_page(assay: Assay, reference: str, citations: CitationMode) -> Path:
    """Write a run's report as one HTML file, in a folder that only this user may read and the system clears in time.

    Raises:
        UnknownName: no such run.
        StoreError: it cannot be written.
    """
    view = await assay.view(reference)
    path = Path(tempfile.mkdtemp(prefix="assay-")) / f"{view.run_id}.html"
    save(path, await assay.export(view.run_id, ".html", citations))
    return path


def open_in_browser(path: Path) -> None:
    """Open a page; if there is no browser, say so."""
    if not settings.terminal_environment().interactive or not webbrowser.open(path.as_uri()):
        say(f"no browser to open {path} in")


SECONDS = 5
_PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--input", "--clipboard"),
    ("clip.exe",),
)
"""In the order in which they are tried: a program without a desktop to copy to fails, and the next is tried."""


def copy_to_clipboard(text: str) -> None:
    """Copy `text` to the clipboard, without control characters, and report success or the reason for failure.

    A terminal does not confirm that it took the text, so for that method only the attempt is reported.
    """
    text = strip_controls(text)
    environment = settings.terminal_environment()
    if not environment.remote and any(_copy_with(program, text) for program in _PROGRAMS):
        say("the report is on the clipboard")
    elif environment.interactive and sys.stderr is not None and sys.stderr.isatty():
        send_control(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        say("the report was sent to the terminal's clipboard; if nothing is there, the terminal does not allow it")
    else:
        names = ", ".join(program[0] for program in _PROGRAMS)
        say(f"not copied: there is no terminal, and none of {names} works here; the report as a file: -o report.md")


def _copy_with(program: tuple[str, ...], text: str) -> bool:
    """True if a program took the text. Its output is discarded, because a program that serves the clipboard keeps
    running.
    """
    executable = shutil.which(program[0])
    if executable is None:
        return False
    data = text.encode("utf-16") if program[0] == "clip.exe" else text.encode()
    try:
        result = subprocess.run(
            (executable, *program[1:]),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0
