"""Every screen of the page: everybody can use it (axe), nothing is wider than the window, hostile texts stay texts."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile
import httpx
import pytest
from screens import (
    ASKS,
    PLANS,
    SKIPPED,
    WATCHED,
    WIDTHS,
    Seen,
    Visit,
    begin,
    choose,
    cut,
    scripted,
    shelve,
    unusable,
)
from serving import PASSWORD, WAIT, Served, add_user, served

from assay.core.ports.lists import CELL_OF
from assay.server.page.hub import render_regions
from assay.server.page.templates_environment import asset_url, assets

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")

NARROWEST = 320


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with scripted(tmp_path_factory.mktemp("screens")) as server:
        yield server


@pytest.fixture(scope="module")
def screens(browser: Any, server: Served) -> dict[str, str]:
    """Every screen by its name: runs which wait, one which goes on, one which has ended, and all the others."""
    done = begin(server, "How far does it rise?")
    begin(server, "How often does it turn?", labels={CELL_OF: "tides.csv"})
    runs = {
        "questions": begin(server, ASKS, ask="required"),
        "plan": begin(server, PLANS, review_plan="required"),
        "report": done,
    }
    seen = Seen(browser, server)
    seen.page.goto(f"/runs/{done}/activity")
    seen.page.locator("#read").wait_for()
    for name in ("questions", "plan"):
        seen.page.goto(f"/runs/{runs[name]}")
        seen.page.locator(".needs").wait_for()
    seen.page.goto("/library/tides")
    document = seen.page.locator(".documents a").first.get_attribute("href")
    seen.close()
    user = {"name": "ana", "password": PASSWORD, "role": "member"}  # a login is asked for from the next start on
    httpx.post(f"{server.url}/api/v1/users", json=user, trust_env=False, timeout=WAIT).raise_for_status()
    weekly = {"every": "weekly", "run": {"question": "What is new?", "scope": {"collections": ["tides"]}}}
    httpx.post(f"{server.url}/api/v1/schedules", json=weekly, trust_env=False, timeout=WAIT).raise_for_status()
    others = {
        "home": "/",
        "runs": "/runs",
        "search": "/runs?q=rise",
        "threads": "/threads",
        "library": "/library",
        "collection": "/library/tides",
        "found": "/library/tides?q=tide",
        "document": f"{document}?start=9&end=46#passage",
        "verify": "/verify",
        "compare": f"/compare?a={done}&b={done}",
        "settings": "/settings",
        "schedules": "/schedules",
        "tables": "/tables",
        "table": "/tables/tides.csv",
        "usage": "/admin",
        "users": "/admin/users",
        "all runs": "/admin/runs",
        "health": "/admin/health",
        "audit": "/admin/audit",
        "login": "/login",
        "problem": "/runs/nowhere",
        "activity": f"/runs/{done}/activity",
    }
    return others | {name: f"/runs/{run}" for name, run in runs.items()}


def open_at(page: Any, path: str, width: int) -> None:
    """A screen with all its details open."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")


def test_everybody_can_use_every_screen(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    """By light and, where nothing but the colours is another, in the dark; down to 320 pixels nothing is cut."""
    seen, found = visit(server, color_scheme="light"), {}
    page, seen.expects = seen.page, "404"
    for place, (name, path) in enumerate(screens.items()):
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        open_at(page, path, WIDTHS[-1])
        for width in (NARROWEST, *WIDTHS):
            page.set_viewport_size({"width": width, "height": 900})
            if wide := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
                found[name, width] = [("too wide", wide)]
            if faults := cut(page):
                found[name, width, "cut"] = faults
            if width == WIDTHS[place % len(WIDTHS)] and (faults := unusable(page)):  # each at one: they share parts
                found[name, width] = faults
        width = WIDTHS[-1] if place % 2 else WIDTHS[0]
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        if faults := unusable(page, "color-contrast"):
            found[name, width, "dark"] = faults
    assert found == {}


def test_everybody_can_watch_a_run(visit: Visit, server: Served) -> None:
    page = visit(server).page
    page.goto(f"/runs/{begin(server, WATCHED)}/activity")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(".lane").nth(1).wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert width == WIDTHS[0] or unusable(page) == []  # the narrow one is looked at where its agents are tabs
    page.locator("#read").wait_for()


def test_at_320_pixels_nothing_is_cut(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    """German words are longer; English ones are looked at above."""
    seen = visit(server, viewport={"width": NARROWEST, "height": 640}, locale="de-DE")
    page, seen.expects = seen.page, "404"
    for path in screens.values():
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert cut(page) == [], path


SMALL = """() => [...document.querySelectorAll('button, select, textarea, summary, .button, .chip, .tick, input')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches('[type=checkbox], [type=radio]'))
  .filter((one) => !one.closest('.chip, .unseen') || one.matches('.chip'))
  .filter((one) => { const { width, height } = one.getBoundingClientRect(); return height < 43.5 || width < 43.5; })
  .map((one) => one.outerHTML.slice(0, 160))"""


def test_what_a_finger_presses_has_44_pixels(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    seen = visit(server, viewport={"width": WIDTHS[0], "height": 844}, has_touch=True, is_mobile=True)
    page, seen.expects = seen.page, "404"
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    found = {}
    for name, path in screens.items():
        page.goto(path)
        if small := page.evaluate(SMALL):
            found[name] = small
        if wide := page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
            found[name, "too wide"] = wide
    assert found == {}


BESIDE_ITS_FORM = """() => [...document.querySelectorAll('form :is(input, select, textarea, button)')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.unseen'))
  .filter((one) => one.getBoundingClientRect().right > one.closest('form').getBoundingClientRect().right + 1)
  .map((one) => one.outerHTML.slice(0, 160))"""


def test_text_of_twice_the_size_fits(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    seen = visit(server, viewport={"width": WIDTHS[0], "height": 844})
    page, seen.expects = seen.page, "404"
    found = {}
    for name, path in screens.items():
        page.goto(path)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        if faults := [*cut(page), *page.evaluate(BESIDE_ITS_FORM)]:
            found[name] = faults
    assert found == {}


def test_with_forced_colours_one_sees_where_one_is(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    page = visit(server, forced_colors="active").page
    page.goto(screens["plan"])
    lines = "all => new Set(all.map((one) => getComputedStyle(one)[PROPERTY])).size"
    assert page.locator(".top nav a").evaluate_all(lines.replace("PROPERTY", "'borderBottomColor'")) == 2
    assert page.locator(".phases li").evaluate_all(lines.replace("PROPERTY", "'borderTopStyle'")) == 2


def test_hostile_texts_stay_texts(visit: Visit, server: Served) -> None:
    text = hostile.HOSTILE.replace("\x00", "")
    shelve(server, "bad", "<img src=x onerror=alert(1)>.md", f"# {text}\n\n{text}\n\nThe tide at Brest rises.\n")
    run = begin(server, f"{text} tide?", scope={"collections": ["bad"]})
    page = visit(server).page
    page.goto(f"/runs/{run}/activity")
    page.locator("#read, .status.failed").first.wait_for()
    for path in (f"/runs/{run}/activity", f"/runs/{run}", "/runs", "/library/bad", "/", "/compare", "/verify"):
        page.goto(path)
        assert page.locator("[onerror]").count() == 0
        assert page.locator("main script").count() == 0
        assert "\u202e" not in page.content()
    for path in ("/?question=%3Cscript%3Ealert(1)%3C/script%3E", "/runs?q=%22%3E%3Cscript%3E", "/login?next=//evil"):
        page.goto(path)
        assert page.locator("main script").count() == 0
    assert page.locator("input[name=next]").get_attribute("value") == "/"


def test_the_regions_of_a_hostile_run_are_text() -> None:
    regions = "".join(render_regions(hostile.with_text(hostile.HOSTILE)).values())
    assert "<script" not in regions
    assert "<img" not in regions
    assert not re.search(r"href=\"(?!https?://|#|/)", regions)


def test_one_logs_in_and_sees_what_is_his(visit: Visit, tmp_path: Path) -> None:
    home = tmp_path / "home"
    add_user(home, "ana")
    with served(home) as server:
        seen = visit(server)
        page, seen.expects = seen.page, "401"
        page.goto("/library")
        assert page.url.endswith("/login?next=/library")
        for password in ("wrong", PASSWORD):
            page.get_by_label("Name").fill("ana")
            page.get_by_label("Password").fill(password)
            page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/library")
        assert page.locator(".user").inner_text() == "ana"
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        page.goto("/")
        assert "/login" in page.url


def test_a_theme_is_kept(visit: Visit, server: Served) -> None:
    page = visit(server).page
    page.goto("/settings")
    page.locator(".chip", has_text="Dark").click()
    page.get_by_role("button", name="Apply").click()
    page.goto("/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


def test_documents_are_added_searched_and_taken_out(visit: Visit, server: Served, tmp_path: Path) -> None:
    page = visit(server).page
    for name in ("harbour", "tower"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\nThe {name} of Brest was built in 1631.\n")
    page.goto("/library")
    page.get_by_label("Name").fill("old towns")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/library/old%20towns")
    page.get_by_label("Files").set_input_files([tmp_path / "harbour.md", tmp_path / "tower.md"])
    page.get_by_role("button", name="Add").first.click()
    page.locator(".documents > li").nth(1).wait_for()
    page.get_by_label("Words in these documents").fill("tower built")
    page.get_by_role("button", name="Search").click()
    assert "Tower" in page.locator(".hits a").first.inner_text()
    page.locator(".hits .snippet a").first.click()
    assert "tower of Brest" in page.locator("mark#passage").inner_text()


def test_a_text_is_verified(visit: Visit, server: Served) -> None:
    page = visit(server).page
    page.goto("/verify")
    page.get_by_label("Your text").fill("The tide at Brest rises seven metres. The tide at Brest rises nine metres.")
    choose(page, "tides")
    page.get_by_role("button", name="Verify").click()
    page.locator(".verdicts > li").nth(1).wait_for()
    page.wait_for_function("document.activeElement.id === 'checked'")  # where one goes on reading
    assert page.locator(".verdicts > li").first.get_attribute("class") in ("quoted", "supported")
    assert page.locator(".verdicts > li").nth(1).get_attribute("class") not in ("quoted", "supported")


def test_a_report_prints_and_a_run_keeps_still(visit: Visit, server: Served, screens: dict[str, str]) -> None:
    seen = visit(server)
    page = seen.page
    page.goto(screens["report"])
    page.emulate_media(media="print")
    for gone in (".top", ".tools", ".rail .filters", ".go-on"):
        assert page.locator(gone).is_hidden(), gone
    for there in ("#report", ".rail .claims > li >> nth=0", ".sources .quote >> nth=0"):
        assert page.locator(there).is_visible(), there
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="screen", reduced_motion="reduce")
    page.goto(f"/runs/{begin(server, WATCHED)}/activity")
    page.locator(".status.running").wait_for()
    assert page.evaluate("document.getAnimations().length") == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate("document.getAnimations().length") > 0
    page.get_by_role("button", name="Cancel").click()
    seen.faults.clear()  # the question whether it is meant


def test_a_page_weighs_little() -> None:
    scripts = {name: len(gzip.compress(data, 9)) for name, data in assets().items() if name.endswith(".js")}
    assert sum(scripts.values()) < 40_000, scripts
    assert len(gzip.compress(assets()["style.css"], 9)) < 25_000
    assert all(asset_url(name).startswith("/static/") for name in scripts)
    assert not re.search(rb"(?:src|href|url\()=?[\"']?https?:", assets()["style.css"])


@pytest.mark.parametrize(
    ("zone", "shown"), [("America/New_York", r"\d{4}-\d\d-\d\d \d\d:\d\d GMT−[45]"), ("Asia/Kolkata", r".*GMT\+5:30")]
)
def test_moments_are_shown_in_the_time_zone_of_the_reader(
    visit: Visit, server: Served, screens: dict[str, str], zone: str, shown: str
) -> None:
    page = visit(server, timezone_id=zone).page
    page.goto(screens["schedules"])
    assert re.fullmatch(f"next {shown}", page.locator(".schedules .facts span").nth(1).inner_text())
    page.goto(f"/runs/{begin(server, 'How far does it fall?')}/activity")
    page.locator("#read").wait_for()
    page.goto("/compare")
    assert re.fullmatch(f"{shown} · .+", page.locator("select[name=a] option").first.inner_text())
    without = visit(server, timezone_id=zone, java_script_enabled=False).page
    without.goto(screens["schedules"])
    assert without.locator(".schedules time").first.inner_text().endswith(" UTC")
