"""The page in Chromium, as people use it: ask, watch, steer, read; by mouse, by keyboard, without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from pdfs import column, pdf
from sampling import crossed
from screens import SKIPPED, Seen, Visit, begin, choose, unusable
from serving import TIDE, WAIT, Served

PLACE = "(one) => [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight]"

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")


def test_ask_watch_and_read(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.get_by_label("What do you want to find out?").fill(TIDE)
    choose(page, "tides")
    page.get_by_role("button", name="Research", exact=True).click()
    page.wait_for_url("**/runs/*")
    page.locator("#report .cite").first.wait_for()  # who only watches is led to the report
    assert page.locator("h1").inner_text() == TIDE
    page.locator("#report .badge").first.click()
    note = page.locator(".note")
    assert "quoted" in note.locator(".part").first.inner_text()
    assert "rises seven metres" in note.locator("mark").first.inner_text()
    note.get_by_role("link", name="Read it in its document").first.click()
    assert "rises seven metres" in page.locator("mark#passage").inner_text()
    assert "turns twice a day" in page.locator(".document-text").inner_text()


def test_a_citation_opens_by_pointer_focus_and_tap_and_closes_by_escape(visit: Visit, plain: Served) -> None:
    run = begin(plain, TIDE)
    for options, opens in (({}, "hover"), ({}, "focus"), ({"has_touch": True}, "tap")):
        page = visit(plain, **options).page
        page.goto(f"/runs/{run}/activity")
        page.locator("#read").wait_for()
        page.goto(f"/runs/{run}")
        cite, note = page.locator("#report .cite").first, page.locator(".note")
        if opens == "focus":
            page.keyboard.press("j")
        else:
            getattr(cite, opens)()
        note.wait_for(state="visible")
        assert "seven metres" in note.inner_text()
        page.keyboard.press("Escape")
        note.wait_for(state="hidden")


@pytest.fixture(scope="module")
def ended(browser: Any, plain: Served) -> str:
    """A run of the built-in model which has ended."""
    run = begin(plain, TIDE)
    seen = Seen(browser, plain)
    seen.page.goto(f"/runs/{run}/activity")
    seen.page.locator("#read").wait_for()
    seen.close()
    return run


ACTS = ["Verify this", "What speaks against it?", "Ask about it"]


@pytest.mark.parametrize(("act", "by"), crossed(ACTS, ["mouse", "keyboard"]))
def test_what_is_selected_is_verified_opposed_or_asked_about(
    visit: Visit, plain: Served, ended: str, act: str, by: str
) -> None:
    page = visit(plain).page
    page.goto(f"/runs/{ended}")
    if by == "mouse":
        box = page.locator("#report .claim").first.bounding_box()
        page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
        page.get_by_role("button", name=act).click()
    else:
        page.keyboard.press("j")
        page.keyboard.press("s")
        while page.evaluate("document.activeElement.textContent") != act:
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    if act == "Verify this":
        page.wait_for_url("**/verify")
        assert page.locator(".verdicts > li").first.get_attribute("class") in ("quoted", "supported")
        assert "seven metres" in page.get_by_label("Your text").input_value()
    else:
        asked = page.get_by_label("Your question").input_value()
        assert "seven metres" in asked
        assert asked.startswith("What speaks against" if "against" in act else "About")
        assert page.evaluate("document.activeElement.id") == "next"
        page.keyboard.type(" How so?")
        page.get_by_role("button", name="Answer from this evidence").click()
        page.wait_for_url(lambda url: "/runs/" in url and ended not in url)
        assert "seven metres" in page.locator("h1").inner_text()


def test_each_claim_says_how_far_it_answers_and_a_refusal_shows_what_comes_closest(
    visit: Visit, plain: Served, ended: str
) -> None:
    page = visit(plain).page
    page.goto(f"/runs/{ended}")
    assert page.locator(".rail .claims > li .relevance").first.inner_text() == "answers the question"
    page.goto(f"/runs/{begin(plain, 'Who painted the lighthouse of Brest red?')}/activity")
    page.locator("#read").click()
    page.locator("#report").wait_for()
    assert "Closest passages" in page.locator("#report").inner_text()


def test_escape_gives_a_selection_back(visit: Visit, plain: Served, ended: str) -> None:
    page = visit(plain).page
    page.goto(f"/runs/{ended}")
    page.keyboard.press("j")
    page.keyboard.press("s")
    assert page.evaluate("document.activeElement.name") == "verify"
    page.keyboard.press("Escape")
    assert page.locator("#picked").is_hidden()
    assert page.evaluate("document.activeElement.matches('#report a.cite')")


def test_a_report_is_copied_with_its_citations(visit: Visit, plain: Served, ended: str) -> None:
    page = visit(plain, permissions=["clipboard-read", "clipboard-write"]).page
    page.goto(f"/runs/{ended}")
    page.get_by_role("button", name="Copy with citations").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "seven metres" in copied
    assert "[1]" in copied
    assert "tides" in copied.partition("## Sources")[2].lower()


def test_one_asks_on_in_a_conversation(visit: Visit, plain: Served) -> None:
    run = begin(plain, TIDE)
    page = visit(plain).page
    page.goto(f"/runs/{run}/activity")
    page.locator("#read").wait_for()
    page.goto(f"/runs/{run}")
    page.get_by_label("Your question").fill("How often does it turn?")
    page.get_by_role("button", name="Answer from this evidence").click()
    page.locator("#report .cite").first.wait_for()
    assert "twice a day" in page.locator("#report").inner_text()
    page.get_by_role("link", name="Conversation").click()
    page.locator(".messages .user .said").nth(1).wait_for()
    found = page.locator(".messages .user .said").all_inner_texts()
    assert found == [TIDE, "How often does it turn?"]
    page.goto("/threads")
    assert page.locator(".runs .question").first.inner_text() == TIDE


def test_every_option_of_a_question_reaches_its_run(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.get_by_label("What do you want to find out?").fill(TIDE)
    choose(page, "tides")
    page.locator(".more summary").click()
    fields = {
        "Minutes at most": "5",
        "Tokens at most": "500000",
        "Searches at most": "40",
        "Only these sites": "example.org",
    }
    fields |= {"Not these sites": "example.com", "Published from": "2020-01-01", "Published until": "2026-01-01"}
    fields |= {"Language": "en", "Instructions": "Be brief", "Template": "## The tide", "For the report": "extractive"}
    for name, value in fields.items():
        page.get_by_label(name).fill(value)
    for name, value in {
        "Mode": "deep_research",
        "Depth": "light",
        "Length": "short",
        "Strategy": "orchestrated",
    }.items():
        page.locator(f"select[name={name.lower()}]").select_option(value)
    page.get_by_label("Show me the plan before research begins").check()
    page.get_by_role("button", name="Estimate").click()
    assert "tokens" in page.locator("#estimate .estimate").inner_text()
    page.get_by_role("button", name="Research", exact=True).click()
    page.wait_for_url("**/runs/*")
    run = page.url.rpartition("/")[2]
    page.get_by_role("button", name="Start research").click()
    page.goto(f"/runs/{run}/activity")
    page.locator("#read").wait_for()
    address = f"{plain.url}/api/v1/runs/{run}/events"
    events = httpx.get(address, headers={"Accept": "application/json"}, trust_env=False, timeout=WAIT).json()["events"]
    brief = events[0]["data"]["brief"]
    assert brief["budget"] == {"tokens": 500_000, "seconds": 300.0, "searches": 40}
    assert (brief["mode"], brief["depth"], brief["strategy"]) == ("deep_research", "light", "orchestrated")
    assert (brief["instructions"], brief["language"]) == ("Be brief", "en")
    assert brief["template"][0]["title"] == "The tide"
    assert brief["models"]["complex"] == ["extractive"]


DROP = """([place, name, text]) => {
  const given = new DataTransfer();
  given.items.add(new File([text], name, { type: "text/plain" }));
  for (const kind of ["dragover", "drop"])
    document.querySelector(place).dispatchEvent(
      new DragEvent(kind, { dataTransfer: given, bubbles: true, cancelable: true }));
}"""


def test_files_are_dropped_beside_a_question_and_a_draft_into_its_field(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.evaluate(DROP, ["#question", "mole.txt", "The mole of Vendel was built in 1850."])
    assert page.locator(".chip.file").inner_text().endswith("mole.txt")
    page.get_by_label("What do you want to find out?").fill("When was the mole of Vendel built?")
    page.get_by_role("button", name="Research", exact=True).click()
    page.locator("#report .cite").first.wait_for()
    assert "built in 1850" in page.locator("#report").inner_text()
    page.goto("/verify")
    page.evaluate(DROP, ["#text", "draft.txt", "The tide at Brest rises seven metres."])
    choose(page, "tides")
    page.get_by_role("button", name="Verify").click()
    page.locator(".verdicts > li").first.wait_for()
    assert "seven metres" in page.locator(".verdicts").inner_text()


def test_only_a_pdf_is_shown_as_printed_too(visit: Visit, plain: Served, ended: str) -> None:
    page = visit(plain).page
    page.goto(f"/runs/{ended}")
    page.locator("#report .cite").first.click()
    page.locator("#source mark#passage").wait_for()
    assert page.locator("#source .views").is_hidden()


def test_a_text_is_checked_against_files_chosen_beside_it(visit: Visit, plain: Served, tmp_path: Path) -> None:
    page = visit(plain).page
    file = tmp_path / "mole.txt"
    file.write_text("The mole of Vendel was built in 1850.")
    page.goto("/verify")
    page.get_by_label("Your text").fill("The mole of Vendel was built in 1850.")
    page.locator("input[type=file]").set_input_files(file)
    assert page.locator(".chip.file").inner_text().endswith("mole.txt")
    page.get_by_role("button", name="Verify").click()
    assert page.locator(".verdicts > li").first.get_attribute("class") == "quoted"


def test_by_keyboard_alone(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    page.keyboard.type(TIDE)
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.value") != "tides":
        page.keyboard.press("Tab")
    if not page.evaluate("document.activeElement.checked"):  # as the only collection is
        page.keyboard.press("Space")
    while page.evaluate("document.activeElement.textContent") != "Research":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")
    page.keyboard.press("Shift")  # who does something is not led to the report while the next page comes
    page.goto(f"{page.url}/activity")
    page.locator("#read").wait_for()
    while page.evaluate("document.activeElement.id") != "read":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#report .cite").first.wait_for()
    page.keyboard.press("j")
    assert "seven metres" in page.locator(".note").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs")


def test_without_scripts_one_asks_waits_and_reads(visit: Visit, plain: Served, tmp_path: Path) -> None:
    page = visit(plain, java_script_enabled=False).page
    file = tmp_path / "harbour.md"
    file.write_text("# Harbour\n\nThe harbour of Brest was dug in 1631.\n")
    page.goto("/")
    page.get_by_label("What do you want to find out?").fill("When was the harbour of Brest dug?")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Research", exact=True).click()
    page.locator("#report .cite, #read").first.wait_for()
    if page.locator("#read").count():
        page.locator("#read").click()
    assert "dug in 1631" in page.locator("#report").inner_text()
    page.locator("#report .cite").first.click()
    assert page.url.endswith("#quote-1-1")
    page.get_by_label("Your question").fill("Who dug the harbour?")
    page.get_by_role("button", name="Answer from this evidence").click()
    page.locator("#report, #r-status").first.wait_for()
    assert page.locator("h1").inner_text() == "Who dug the harbour?"


def test_runs_are_starred_labelled_and_found_by_that(visit: Visit, plain: Served) -> None:
    run = begin(plain, TIDE)
    page = visit(plain).page
    page.goto(f"/runs/{run}/activity")
    page.locator("#read").wait_for()
    page.goto(f"/runs/{run}")
    page.get_by_role("button", name="☆ Star").click()
    page.locator("details.labels summary").click()
    page.get_by_label("A new label").fill("project=<b>tides</b>")
    page.get_by_role("button", name="Add", exact=True).click()
    page.goto("/runs")
    page.locator(".runs .label").first.click()
    assert page.locator(".runs > li").count() == 1
    assert page.locator(".runs .label").inner_text() == "project: <b>tides</b>"
    assert unusable(page) == []
    page.get_by_role("link", name="★ Starred").click()
    page.locator(".runs .star button").click()
    page.locator(".none").wait_for()  # it was the only one
    assert f"?label=starred#run-{run}" in page.url  # on a longer list, where one was


def test_a_source_is_read_beside_the_report_and_over_it_where_there_is_no_room(visit: Visit, plain: Served) -> None:
    """The page of the PDF, with the place marked, and its text; by mouse and by keyboard; Esc leads back."""
    page_of = pdf(
        [column("Salt in the air."), column("The tide at Brest rises seven metres.", "It turns twice a day.")]
    )
    path = f"{plain.url}/api/v1/collections/printed/documents"
    httpx.post(path, params={"name": "tides.pdf"}, content=page_of, trust_env=False, timeout=WAIT).raise_for_status()
    run = begin(plain, TIDE, scope={"collections": ["printed"]})
    for width, over in ((1440, False), (390, True)):
        page = visit(plain, viewport={"width": width, "height": 900}).page
        page.goto(f"/runs/{run}/activity")
        page.locator("#read").wait_for()
        page.goto(f"/runs/{run}")
        before = page.locator("#report").evaluate(PLACE)
        cite, pane = page.locator("#report .cite").first, page.locator("#source")
        cite.focus()
        page.keyboard.press("Enter")
        page.locator(".note").wait_for()
        assert pane.is_hidden()
        if over:
            page.locator(".note .opens a").first.click()
        else:
            page.keyboard.press("Escape")
            cite.click()
        pane.locator("svg rect").first.wait_for()
        assert pane.get_attribute("role") == ("dialog" if over else "complementary")
        assert page.locator(".note").is_hidden()  # one of the two is enough
        if not over:  # the quote is not half behind the source
            page.keyboard.press("j")
            edge = "(one) => one.getBoundingClientRect()"
            note, beside = page.locator(".note").evaluate(edge), pane.evaluate(edge)
            assert note["right"] <= beside["left"]
        assert page.locator("#report").evaluate(PLACE) == before  # nothing jumps
        assert pane.locator("svg").get_attribute("aria-label") == "Page 2 as printed"
        assert page.evaluate("fetch(document.querySelector('#source image').href.baseVal).then((one) => one.ok)")
        assert unusable(page) == []
        pane.get_by_label("Text", exact=True).check()
        assert "rises seven metres" in pane.locator("mark#passage").inner_text()
        for _ in range(2):
            page.keyboard.press("Escape")
        pane.wait_for(state="hidden")
        assert page.evaluate("document.querySelectorAll('[inert]').length") == 0


def test_a_marked_page_is_there_without_scripts(visit: Visit, plain: Served) -> None:
    page_of = pdf([column("The heron of Ourne wades.")])
    path = f"{plain.url}/api/v1/collections/herons/documents"
    httpx.post(path, params={"name": "heron.pdf"}, content=page_of, trust_env=False, timeout=WAIT).raise_for_status()
    [document] = httpx.get(path, trust_env=False, timeout=WAIT).json()["documents"]
    page = visit(plain, java_script_enabled=False).page
    page.goto(f"/documents/{document['sha256']}?start=0&end=9#passage")
    assert page.locator("figure.printed rect").count() == 1
    assert page.locator("mark#passage").inner_text() == "The heron"
