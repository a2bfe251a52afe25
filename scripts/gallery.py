"""Makes docs/gallery again: pictures of the page of `assay serve`, and of an exported report.

    python scripts/gallery.py             the pictures of docs/gallery
    python scripts/gallery.py --all DIR   every screen at 390, 768 and 1440 pixels, light and dark: to look at
    python scripts/gallery.py PAGE.html   the exported report only

The runs are real ones over the documents of `gallery_story`, printed as PDF: planning, research, evidence and
verification are Assay's own. Only the writer is scripted, and careless on purpose: some of its sentences misstate what
they cite, so that the pictures show what verification makes of that. Needs the extras `server` and `dev`, and Chromium.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
from gallery_story import DOCUMENTS, FOLLOWED, QUESTION, Careless
from playwright.async_api import Browser, Page, async_playwright

from assay import Assay
from assay.export.html import render
from assay.server import app
from assay.settings import Settings

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
WIDTHS = {390: 844, 768: 1000, 1440: 960}
SCHEMES = ("light", "dark")
LARGEST = 150_000
"""Bytes of a picture in docs/gallery."""
QUALITY = 88
Wanted = frozenset[tuple[str, int, str]]


class Picture(msgspec.Struct, frozen=True):
    """A screen, and what is done on it before: `click:`, `scroll:`, `focus:`, `wait:`, `there:`
    or `drawn:` (a picture is) and what it is done to, or `press:` and a key.
    """

    name: str
    path: str
    steps: tuple[str, ...] = ()
    language: str = "en"


SCREENS = (
    Picture("ask", "/"),
    Picture("options", "/", ("click:.more summary", "scroll:.more")),
    Picture("run", "/runs/{live}/activity", ("there:.lane:nth-child(2)", "click:.lane details summary")),
    Picture("report", "/runs/{done}"),
    Picture("verdict", "/runs/{done}", ("click:#report a.badge.unsupported", "wait:.note")),
    Picture("citation", "/runs/{done}", ("focus:#report a.cite >> nth=1", "press:Enter", "wait:.note")),
    Picture(
        "source",
        "/runs/{done}",
        (
            "focus:#report a.cite >> nth=1",
            "press:Enter",
            "click:.note .opens a",
            "wait:#source svg",
            "drawn:#source image",
        ),
    ),
    Picture("document", "{document}"),
    Picture("selected", "/runs/{done}", ("focus:#report a.cite", "press:s", "wait:#picked")),
    Picture("rail", "/runs/{done}", ("scroll:#claims-rail",)),
    Picture("sources", "/runs/{done}", ("scroll:#sources",)),
    Picture("activity", "/runs/{done}/activity"),
    Picture("runs", "/runs"),
    Picture("library", "/library"),
    Picture("collection", "/library/harbour"),
    Picture("verify", "/verify"),
    Picture("verified", "/verify", ("fill:#text", "click:form.ask .first", "wait:.verdicts")),
    Picture("compare", "/compare?a={done}&b={other}"),
    Picture("plan", "/runs/{planned}", ("wait:.plan-form",)),
    Picture("german", "/", ("click:.more summary",), language="de"),
    Picture("german-report", "/runs/{done}", language="de"),
    Picture("german-settings", "/settings", language="de"),
    Picture("threads", "/threads"),
    Picture("schedules", "/schedules"),
    Picture("settings", "/settings"),
    Picture("usage", "/admin"),
    Picture("users", "/admin/users"),
    Picture("health", "/admin/health"),
    Picture("all-runs", "/admin/runs"),
    Picture("audit", "/admin/audit"),
    Picture("keys", "/", ("press:?", "wait:#keys")),
    Picture("problem", "/runs/nowhere"),
)
BEST = (
    ("ask", 1440, "light"),
    ("run", 1440, "light"),
    ("verdict", 1440, "light"),
    ("citation", 1440, "dark"),
    ("report", 768, "light"),
    ("source", 1440, "light"),
    ("citation", 390, "dark"),
    ("german", 768, "dark"),
)
"""What docs/gallery shows."""
DRAFT = "The fairway to the harbour of Vendel is 12.4 metres deep at mean low water. The town pays for everything."
"""The text which is verified."""


@contextmanager
def home() -> Iterator[Path]:
    """A folder whose path looks alike on every machine, since the pictures show it."""
    folder = Path(tempfile.gettempdir()) / "assay-gallery"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """A Chromium."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("there is no Chromium on the path")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def printed(browser: Browser, folder: Path) -> list[Path]:
    """The documents as PDF files, as people have them."""
    tab, made = await browser.new_page(), []
    for title, html in DOCUMENTS.items():
        await tab.set_content(f'<!doctype html><html lang="en"><title>{title}</title><body>{html}</body></html>')
        made.append(folder / f"{title.lower().replace(' ', '-')}.pdf")
        await tab.pdf(path=made[-1], format="A5", margin=dict.fromkeys(("top", "right", "bottom", "left"), "18mm"))
    await tab.close()
    return made


async def told(browser: Browser, folder: Path, engine: Assay) -> str:
    """The id of the run whose report the pictures show."""
    await engine.add(await printed(browser, folder), "harbour")
    handle = engine.start(QUESTION, sources="@harbour", models={"complex": ("scripted-writer",)})
    run = (await handle.view()).run_id
    await engine.label(run, {"starred": "", "project": "harbours"})
    return run


@asynccontextmanager
async def serving(engine: Assay) -> AsyncIterator[str]:
    """The page over a home; its address."""
    sock = app.bind_socket("127.0.0.1", 0)
    begun: asyncio.Future[app.Server] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(app.serve(engine, sock, begun.set_result, no_auth=True))
    await asyncio.wait((task, begun), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    server = await begun
    while not server.started:
        await asyncio.sleep(0.05)
    yield app.url_of(sock)
    server.stop()
    await task


async def shoot(tab: Page, screen: Picture, runs: dict[str, str], file: Path) -> None:
    """A picture of a screen."""
    await tab.set_extra_http_headers({"Accept-Language": screen.language})
    await tab.goto(screen.path.format(**runs), wait_until="load")
    for step in screen.steps:
        action, _, selector = step.partition(":")
        place = tab.locator(selector).first
        if action == "wait":
            await place.wait_for()
        elif action == "there":
            await place.wait_for(state="attached")
        elif action == "click":
            await place.click()
        elif action == "focus":
            await place.focus()
        elif action == "fill":
            await place.fill(DRAFT)
        elif action == "drawn":
            await place.evaluate("one => one.decode()")
        elif action == "press":
            await tab.keyboard.press(selector)
        else:
            await place.evaluate("one => one.scrollIntoView()")
    if file.suffix == ".webp":  # a third as large as a PNG
        browsing = await tab.context.new_cdp_session(tab)
        taken = await browsing.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        file.write_bytes(base64.b64decode(taken["data"]))
    else:
        await tab.screenshot(path=file)


async def looked_at(browser: Browser, url: str, done: str, folder: Path, wanted: Wanted) -> AsyncIterator[Path]:
    """Each picture which is wanted."""
    kind = "webp" if wanted else "png"
    for scheme in SCHEMES:
        for width, height in WIDTHS.items():
            tab = await browser.new_page(
                base_url=url,
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            for screen in SCREENS:
                if not wanted or (screen.name, width, scheme) in wanted:
                    live = await begun(tab) if "{live}" in screen.path else ""
                    planned = await begun(tab, review_plan="required") if "{planned}" in screen.path else ""
                    other = await begun(tab, model="extractive") if "{other}" in screen.path else ""
                    document = await cited(tab, done) if "{document}" in screen.path else ""
                    file = folder / f"{screen.name}-{width}-{scheme}.{kind}"
                    runs = {"done": done, "live": live, "planned": planned, "other": other, "document": document}
                    await shoot(tab, screen, runs, file)
                    yield file
            await tab.close()


async def cited(tab: Page, done: str) -> str:
    """Where the first passage of a report is marked in its document."""
    await tab.goto(f"/runs/{done}")
    return await tab.locator(".opens a").first.get_attribute("href") or ""


async def begun(tab: Page, **more: str) -> str:
    """A run which goes on, slowly where nothing else is said."""
    scope = {"collections": ["harbour"]}
    body = {"question": FOLLOWED, "mode": "deep_research", "model": "slow-reader", "scope": scope} | more
    answer = await tab.request.post("/api/v1/runs?wait=5" if "model" in more else "/api/v1/runs", data=body)
    return str((await answer.json())["id"])


async def pictures(folder: Path, wanted: Wanted = frozenset()) -> list[Path]:
    """The pictures which are wanted, all where nothing is said."""
    models = {"scripted-writer": Careless(), "slow-reader": Careless(slow=True)}
    with home() as place:
        async with browsing() as browser, Assay(Settings(), home=place / "home", models=models) as engine:
            done = await told(browser, place, engine)
            async with serving(engine) as url:
                return [file async for file in looked_at(browser, url, done, folder, wanted)]


async def exported(file: Path) -> None:
    """The report as an HTML file."""
    models = {"scripted-writer": Careless()}
    with home() as place:
        async with browsing() as browser, Assay(Settings(), home=place / "home", models=models) as engine:
            run = await told(browser, place, engine)
            file.write_text(render(await engine.view(run)), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Make what is wanted."""
    if arguments[:1] == ["--all"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(pictures(folder))
        return 0
    if arguments:
        asyncio.run(exported(Path(arguments[0])))
        return 0
    for old in GALLERY.glob("*.webp"):
        old.unlink()
    for file in asyncio.run(pictures(GALLERY, frozenset(BEST))):
        size = file.stat().st_size
        sys.stdout.write(f"{file.relative_to(ROOT)} {size / 1000:.0f} kB\n")
        if size > LARGEST:
            raise SystemExit(f"{file.name} has more than {LARGEST / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
