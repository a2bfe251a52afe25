"""Makes docs/gallery again: the pictures of an HTML report.

    python scripts/gallery.py            the run, its page, and the pictures (needs playwright and a Chromium)
    python scripts/gallery.py PAGE.html  the run and its page only

The run is a real one over the Markdown files of docs/: planning, research, evidence and verification are Assay's own.
Only the writer is scripted, and careless on purpose: some of its sentences misstate what they cite, so that the
pictures show what verification makes of that.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, sync_playwright

from assay import Assay
from assay.core.messages import Delta, Profile, Reply, Request, TextDelta
from assay.core.view import RunView
from assay.export.html import render
from assay.models.extractive.model import Extractive
from assay.settings import Settings

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
QUESTION = "What happens when a run crashes? What does verification check? What happens at 80 % of a limit?"

# {words} stands for a marker of the first passage at hand which holds them.
REPORT = """\
A run survives a crash because every model call and every tool call is a durable step in the journal
{every model call and every tool call}. Verification gives each factual sentence a verdict from the passages it cites
{gets a verdict}. At 70 % of a limit the run says so {of a limit the run says so}.

## When a run crashes

- After a crash or `kill -9`, `assay runs resume ID` takes the run up again {takes the run up again}.
- Steps that were committed return their stored results and are **not done again** {return their stored results}.
- SIGTERM leaves the run as a crash would: it can be resumed, and the exit code is 143 {the exit code is 143}.
- A process that wakes up after losing its lease can still write {after losing its lease}.

## What verification checks

Verification splits the report into claims, which are its factual sentences {splits the report into claims}.
Quotations are compared byte for byte, and numbers are compared in code {compared byte}. What no check can decide is
unchecked, with a reason {What no check can decide}. Most reports pass at the first attempt {gets a verdict}.

| stage | what happens | since |
|---|---|--:|
| 80 % of a limit | the run says so {of a limit the run says so} | |
| 100 % of a limit | research ends and the report is written from what was found {of a limit the run says so} | |
| the gate fails | the command exits with 4 {the verification gate failed} | 2019 |

## What could not be found

The documents do not say how long a lease lasts.
"""
_WORDS = re.compile(r"\{([^{}]+)\}")
_PASSAGE = re.compile(r"^\[(S\d+\.\d+)\] (.*(?:\n  .*)*)", re.MULTILINE)

# name, width, height, scheme, what is done first
PICTURES = (
    ("report-1440-light", 1440, 1000, "light", "click:#report a.badge.unsupported"),
    ("report-1440-dark", 1440, 1000, "dark", "click:#report a.cite >> nth=1"),
    ("report-768-light", 768, 1000, "light", ""),
    ("report-390-light", 390, 844, "light", ""),
    ("report-390-dark", 390, 844, "dark", "click:#report a.cite >> nth=0"),
    ("sources-768-dark", 768, 1000, "dark", "scroll:#sources"),
)


class Careless:
    """The built-in model, but for the report: that is `REPORT`, whatever was found."""

    def __init__(self) -> None:
        self._model = Extractive()
        self.profile: Profile = msgspec.structs.replace(self._model.profile, name="scripted-writer")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """As the built-in model, or the report."""
        if request.task != "write":
            async for part in self._model.stream(request):
                yield part
            return
        text = _WORDS.sub(lambda words: _marker(request, words[1]), REPORT)
        yield TextDelta(text)
        yield Reply(text=text, stop="end", model=self.profile.name)

    async def offered(self) -> tuple[str, ...]:
        """Itself."""
        return (self.profile.name,)

    async def close(self) -> None:
        """There is nothing to let go of."""


def _marker(request: Request, words: str) -> str:
    shown = [message.text for message in request.messages if message.role == "user"]
    found = (match[1] for text in shown for match in _PASSAGE.finditer(text) if words in " ".join(match[2].split()))
    id = next(found, None)
    if id is None:
        raise SystemExit(f"no passage at hand holds {words!r}: change REPORT")
    return f"[{id}]"


async def run() -> RunView:
    """The run, in memory."""
    documents = Path(tempfile.gettempdir()) / "assay-gallery" / "docs"  # a path which looks alike on every machine
    shutil.rmtree(documents, ignore_errors=True)
    documents.mkdir(parents=True)
    for path in (ROOT / "docs").glob("*.md"):
        shutil.copy(path, documents)
    try:
        async with Assay(Settings(), models={"scripted-writer": Careless()}) as assay:
            handle = assay.start(QUESTION, sources=str(documents), models={"complex": ("scripted-writer",)})
            return await handle.view()
    finally:
        shutil.rmtree(documents.parent)


def shoot(page: Path, folder: Path) -> Iterator[Path]:
    """The pictures of `page`."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("there is no Chromium on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, width, height, scheme, first in PICTURES:
            yield _shot(browser, page, folder / f"{name}.png", (width, height), scheme, first)
        browser.close()


def _shot(browser: Browser, page: Path, file: Path, size: tuple[int, int], scheme: str, first: str) -> Path:
    viewport = {"width": size[0], "height": size[1]}
    tab = browser.new_page(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    tab.goto(page.resolve().as_uri())
    action, _, selector = first.partition(":")
    if action == "click":
        tab.locator(selector).first.click()
    elif action == "scroll":
        tab.locator(selector).evaluate("one => one.scrollIntoView()")
    tab.screenshot(path=file)
    tab.close()
    convert = shutil.which("convert")  # ImageMagick: a palette makes them half as large
    if convert:
        palette = ["+dither", "-colors", "96", "-strip", "-define", "png:compression-level=9"]
        subprocess.run([convert, str(file), *palette, str(file)], check=True, timeout=60)
    return file


def main(arguments: list[str]) -> int:
    """Make the page, and without an argument the pictures."""
    html = render(asyncio.run(run()))
    if arguments:
        Path(arguments[0]).write_text(html, encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(html, encoding="utf-8")
        GALLERY.mkdir(parents=True, exist_ok=True)
        for file in shoot(page, GALLERY):
            sys.stdout.write(f"{file.relative_to(ROOT)} {file.stat().st_size / 1000:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
