"""The desktop: the browser and the clipboard of this machine."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
import webbrowser
from pathlib import Path

from assay import Assay, settings
from assay.cli.files import save
from assay.cli.terminal import harmless, put_aside, say
from assay.core.markers import CitationMode

# Showing a report in the browser of this machine.


async def page(assay: Assay, reference: str, citations: CitationMode) -> Path:
    """A run's report as one HTML file, in a folder which only this user may read and the system clears in time.

    Raises:
        UnknownName: no such run.
        StoreError: it cannot be written.
    """
    view = await assay.view(reference)
    path = Path(tempfile.mkdtemp(prefix="assay-")) / f"{view.run_id}.html"
    save(path, await assay.export(view.run_id, ".html", citations))
    return path


def show(path: Path) -> None:
    """Open a page; where there is no browser, say so."""
    if not settings.surroundings().interactive or not webbrowser.open(path.as_uri()):
        say(f"no browser to open {path} in")


SECONDS = 5
_PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--input", "--clipboard"),
    ("clip.exe",),
)
"""In the order in which they are tried: one which has no desktop to copy to fails, and the next has its turn."""


def copy(text: str) -> None:
    """Put `text` on the clipboard, without control characters, and say that it is there, or why not.

    A terminal does not answer whether it took the text, so of that way only the attempt is told.
    """
    text = harmless(text)
    about = settings.surroundings()
    if not about.remote and any(_taken(program, text) for program in _PROGRAMS):
        say("the report is on the clipboard")
    elif about.interactive and sys.stderr is not None and sys.stderr.isatty():
        put_aside(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        say("the report was sent to the terminal's clipboard; if nothing is there, the terminal does not allow it")
    else:
        names = ", ".join(program[0] for program in _PROGRAMS)
        say(f"not copied: there is no terminal, and none of {names} works here; the report as a file: -o report.md")


def _taken(program: tuple[str, ...], text: str) -> bool:
    """Whether a program took the text. Its output goes nowhere: what serves the clipboard goes on behind."""
    where = shutil.which(program[0])
    if where is None:
        return False
    data = text.encode("utf-16") if program[0] == "clip.exe" else text.encode()
    try:
        done = subprocess.run(
            (where, *program[1:]),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
