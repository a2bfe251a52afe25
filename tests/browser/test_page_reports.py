"""What a stranger reads of a report: in which language, by which words, past how long a question."""

from __future__ import annotations

from typing import Any

import pytest
from screens import SKIPPED, Visit, begin, shelve, unusable
from serving import Served

HARBOUR = "# الميناء\n\nيبلغ عمق الرصيف في ميناء بريست 12.4 مترا. ويستطيع استقبال السفن التي يصل طولها إلى 300 متر.\n"
LONG = f"How far does the tide at Brest rise? {'It matters for ships. ' * 300}".strip()

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")


def read(page: Any, run: str) -> None:
    """Wait for a report, and open it."""
    page.goto(f"/runs/{run}/activity")
    page.locator("#read").wait_for()
    page.goto(f"/runs/{run}")


def test_what_code_says_of_a_report_has_the_language_and_direction_of_the_report(visit: Visit, plain: Served) -> None:
    shelve(plain, "harbour", "harbour.md", HARBOUR)
    page = visit(plain).page
    read(page, begin(plain, "كم يبلغ عمق الرصيف في ميناء بريست؟", scope={"collections": ["harbour"]}))
    for part in (".short", ".glance .counts", "#sources", ".claims"):
        place = page.locator(part).first
        assert place.evaluate("one => one.closest('[lang]').lang") == "ar"
        assert place.evaluate("one => getComputedStyle(one).direction") == "rtl"
    assert page.locator(".rail h2").first.evaluate("one => one.closest('[lang]').lang") == "en"
    page.locator("#report a.badge").first.click()
    assert page.locator(".note .part").first.evaluate("one => getComputedStyle(one).direction") == "rtl"
    assert page.locator(".note button").first.evaluate("one => getComputedStyle(one).direction") == "ltr"


def test_a_long_question_leaves_room_for_its_answer(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    read(page, begin(plain, LONG))
    heading = page.get_by_role("heading", level=1)
    assert LONG in " ".join(heading.inner_text().split())
    assert heading.bounding_box()["height"] < 400
    heading.focus()
    page.keyboard.press("End")  # it scrolls, by keyboard too
    page.wait_for_function("() => document.querySelector('h1').scrollTop > 0")
    assert unusable(page) == []


def test_a_report_says_what_its_verdicts_mean_and_leads_from_a_reason_to_its_quote(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    read(page, begin(plain, "How far does the tide at Brest rise?"))
    page.get_by_text("What the verdicts mean").click()
    assert page.get_by_text("Copied word for word from its source.").is_visible()
    assert unusable(page) == []
    page.locator(".claims .reason a").first.click()
    assert page.url.endswith("#quote-1-1")


def test_a_note_shows_the_words_that_are_cited(visit: Visit, plain: Served) -> None:
    """What stands before them may fill the note: it is scrolled."""
    page = visit(plain, viewport={"width": 1000, "height": 420}).page
    shelve(
        plain,
        "pilots",
        "pilots.md",
        f"# Pilots\n\n{'Nobody counted the boats. ' * 14}\n\nThe mole is 90 metres long.\n",
    )
    read(page, begin(plain, "How long is the mole?", scope={"collections": ["pilots"]}))
    page.locator("#report a.badge").first.click()
    note, mark = page.locator(".note").bounding_box(), page.locator(".note mark").bounding_box()
    assert note["y"] < mark["y"] < mark["y"] + mark["height"] <= note["y"] + note["height"] + 1


def test_on_a_page_from_right_to_left_a_source_stands_at_the_left(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    read(page, begin(plain, "How far does the tide at Brest rise?"))
    page.evaluate("document.dir = 'rtl'")
    page.locator("#report a.cite").first.click()
    source = page.locator("#source")
    source.wait_for()
    place, text = source.bounding_box(), page.locator(".text-column").first.bounding_box()
    assert place["x"] == 0
    assert place["width"] <= text["x"]


@pytest.mark.parametrize("width", [1024, 1200, 1440, 1900])
def test_a_note_leaves_the_claims_free(visit: Visit, plain: Served, width: int) -> None:
    page = visit(plain, viewport={"width": width, "height": 800}).page
    read(page, begin(plain, "How far does the tide at Brest rise, and how often does it turn?"))
    rail = page.locator("#claims-rail").bounding_box()
    for link in page.locator("#report :is(a.cite, a.badge)").all():
        link.hover()
        page.locator("#report [aria-expanded=true]").wait_for()
        note = page.locator(".note").bounding_box()
        assert note["x"] >= 0
        assert note["x"] + note["width"] <= rail["x"] or note["x"] >= rail["x"] + rail["width"]
        page.keyboard.press("Escape")


def test_a_note_begins_with_what_is_wrong(visit: Visit, plain: Served) -> None:
    page = visit(plain, viewport={"width": 1000, "height": 420}).page
    read(page, begin(plain, "How far does the tide at Brest rise?"))
    badge = page.locator("#report a.badge").first
    badge.evaluate("one => one.classList.replace('quoted', 'unsupported')")
    badge.click()
    assert page.locator(".note").evaluate("one => one.scrollTop") == 0


def test_what_a_browser_cannot_do_is_not_offered(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined })")
    page.goto("/settings")
    page.get_by_text("This browser blocks notifications from Assay").wait_for()
    assert page.locator("#notify").is_hidden()
    read(page, begin(plain, "How far does the tide at Brest rise?"))
    assert page.locator("#copy").is_hidden()
