"""The HTML page in Chromium: it loads nothing, runs nothing of a report's, and everybody can use it (axe)."""

from pathlib import Path

import hostile
import logs
import msgspec
import pytest
import repaired
from browsers import MISSING
from screens import unusable

from assay.core.sources import Surroundings
from assay.core.view import RunView, fold_events
from assay.export.html import render

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING or "there is one")

WIDTHS = (320, 768, 1440)
RULES: dict[str, tuple[str, ...]] = {"light": (), "dark": ("color-contrast",)}
"""What axe is asked: in the dark nothing but the colours is another."""
LONG = "https://example.org/" + "a-very-long-address-without-any-space/" * 12


class Watched:
    """A page which notes what it asked for, said and opened."""

    def __init__(self, browser: "sync_api.Browser", file: Path, view: RunView, **context: object) -> None:
        file.write_text(render(view), encoding="utf-8")
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.events: list[str] = []
        self.page.on("request", lambda request: self.events.append(f"request {request.url[:99]}"))
        self.page.on("console", lambda message: self.events.append(f"{message.type} {message.text}"))
        self.page.on("pageerror", lambda error: self.events.append(f"error {error}"))
        self.page.on("dialog", self._dialog)
        self.page.goto(file.as_uri())
        self.address = f"request {file.as_uri()[:99]}"

    def _dialog(self, dialog: "sync_api.Dialog") -> None:
        self.events.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def quiet(self) -> bool:
        """Whether nothing happened but that the file itself was opened."""
        return self.events == [self.address]


def rich() -> RunView:
    """Two agents' run with a long address, a wide table, code, right-to-left text and every list at the top."""
    view = fold_events(logs.two_agents().events)
    table = (
        "| " + " | ".join(f"a column {n}" for n in range(9)) + " |\n" + "|---" * 9 + "|\n" + "| 1,234,567 " * 9 + "|\n"
    )
    written = (
        f"{view.report.text}\n\n## A table\n\n{table}\n\n```\n{'code ' * 60}\n```\n\n> מים שקטים\n\n"
        f"<{LONG}> and `{'x' * 200}`\n"
    )
    around = {id: Surroundings(id=id, before="Before it. ", after=" After it.") for id in view.passages}
    sources = {id: msgspec.structs.replace(one, url=LONG, author="A. Writer") for id, one in view.sources.items()}
    report = msgspec.structs.replace(view.report, text=written)
    return msgspec.structs.replace(view, report=report, sources=sources, surroundings=around)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages") / "report.html"


def test_hostile_text_does_nothing(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, hostile.with_text(hostile.HOSTILE))
    for link in watched.page.locator("a[data-show]").all():
        link.click()
        watched.page.keyboard.press("Escape")
    assert watched.quiet(), watched.events
    assert watched.page.locator(".note").is_hidden()
    watched.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    browser: "sync_api.Browser", file: Path, scheme: str
) -> None:
    watched = Watched(browser, file, rich(), color_scheme=scheme, reduced_motion="reduce")
    page = watched.page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator("a.badge").first.click()
        assert unusable(page, *RULES[scheme]) == []
        page.keyboard.press("Escape")
    assert watched.quiet(), watched.events
    watched.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_ledger_of_claims(browser: "sync_api.Browser", file: Path, scheme: str) -> None:
    watched = Watched(browser, file, repaired.view(), color_scheme=scheme, reduced_motion="reduce")
    page = watched.page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert unusable(page, *RULES[scheme]) == []
    assert page.locator(".compared em").first.is_visible()
    assert watched.quiet(), watched.events
    watched.context.close()


def test_a_quote_opens_and_closes_by_keyboard(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich())
    page, note = watched.page, watched.page.locator(".note")
    cite = page.locator("a.cite").first
    page.locator("article").focus()
    page.keyboard.press("Tab")
    assert cite.evaluate("one => one === document.activeElement")
    assert note.is_visible()
    page.keyboard.press("Escape")
    assert note.is_hidden()
    page.keyboard.press("Enter")
    assert note.evaluate("one => one === document.activeElement")
    assert note.locator("blockquote").inner_text() == "Before it. Status: Active 🐍 After it. …"
    assert "S2002.3" in note.inner_text()
    page.keyboard.press("Escape")
    assert note.is_hidden()
    assert cite.evaluate("one => one === document.activeElement")
    watched.context.close()


def test_leaving_a_note_by_tab_leads_back_to_the_text(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich())
    page, note = watched.page, watched.page.locator(".note")
    badge = page.locator("a.badge").first
    for key, presses in (("Tab", note.locator("a[href], button")), ("Shift+Tab", note.locator(".none"))):
        badge.focus()
        page.keyboard.press("Enter")
        assert note.is_visible()
        for _ in range(presses.count() + 1):
            page.keyboard.press(key)
        assert note.is_hidden()
        assert badge.evaluate("one => one === document.activeElement")
    watched.context.close()


def test_a_quote_can_be_copied(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich(), permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    page.locator("a.cite").first.click()
    page.get_by_role("button", name="Copy quote").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[:2] == ["“Status: Active 🐍”", "bytes 0–19 · passage S2002.3"]
    assert copied[2:5] == ["Document pep1", "A. Writer, retrieved 2025-01-01", LONG]
    assert copied[5].startswith("SHA-256 of the document ")
    watched.context.close()


def test_a_quote_opens_under_the_mouse(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich())
    page, note = watched.page, watched.page.locator(".note")
    page.locator("a.badge").first.hover()
    note.wait_for(state="visible")
    assert "the number differs" in note.inner_text()
    note.locator("blockquote").hover()
    page.wait_for_timeout(350)
    assert note.is_visible()
    page.locator("h1").hover()
    note.wait_for(state="hidden")
    watched.context.close()


def test_problems_only(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich())
    page = watched.page
    page.get_by_label("Problems only").check()
    assert page.locator("article .claim.supported").first.is_hidden()
    assert page.locator("article .claim.contradicted").first.is_visible()
    assert page.locator("article h2").first.is_visible()
    assert page.locator(".claims > li:visible").count() == 1
    watched.context.close()


def test_the_note_of_a_quote_has_the_context_which_its_neighbours_share(
    browser: "sync_api.Browser", file: Path
) -> None:
    view, document = fold_events(logs.two_agents().events), "Aa bb. Cc dd. Ee ff. Gg hh. Ii jj."
    sha256, passages, around = view.passages["S2002.3"].document_sha256, {}, {}
    for id, words in (("S1001.4", "Gg hh."), ("S2002.3", "Cc dd.")):
        start = document.index(words)
        end = start + len(words)
        passages[id] = msgspec.structs.replace(
            view.passages[id], source="S2002", document_sha256=sha256, text=words, start=start, end=end
        )
        around[id] = Surroundings(id=id, before=document[:start], after=document[end:])
    watched = Watched(
        browser, file, msgspec.structs.replace(view, passages={**view.passages, **passages}, surroundings=around)
    )
    page = watched.page
    for cite in page.locator("a.cite[data-show='quote-1-1'], a.cite[data-show='quote-1-2']").all():
        cite.click()
        assert page.locator(".note mark").count() == 1
        assert page.locator(".note .quote blockquote").inner_text() == f"{document} …"
        page.keyboard.press("Escape")
    assert watched.quiet()
    watched.context.close()


def test_all_is_there_without_scripts(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich(), java_script_enabled=False)
    page = watched.page
    page.locator("a.cite").first.click()
    assert page.url.endswith("#quote-1-1")
    assert page.locator("#quote-1-1 mark").is_visible()
    page.get_by_label("Problems only").check()
    assert page.locator("article .claim.supported").first.is_hidden()
    watched.context.close()


def test_print_has_the_quotes_and_no_controls(browser: "sync_api.Browser", file: Path) -> None:
    watched = Watched(browser, file, rich())
    watched.page.emulate_media(media="print")
    assert watched.page.locator("#quote-2-1 mark").is_visible()
    assert watched.page.locator("nav").is_hidden()
    pdf = watched.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 10_000
    watched.context.close()
