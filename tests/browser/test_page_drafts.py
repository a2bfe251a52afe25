"""Nothing written in the page is lost, and nothing is begun twice: reloads, logins that end, impatient fingers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from screens import SKIPPED, Visit, shelve
from serving import PASSWORD, TIDE, TIDES, WAIT, Served, add_user, served

DRAFT = "Why does the tide at Brest rise so far, and what does that mean for the port?"

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for a login."""
    home = tmp_path_factory.mktemp("guarded") / "home"
    add_user(home, "ana")
    with served(home) as server:
        yield server


def log_in(page: Any) -> None:
    assert page.evaluate("document.activeElement.name") == "name"
    assert not page.get_by_role("navigation").count()  # all it leads to asks for the login first
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def asked(server: Served, question: str) -> int:
    """How many runs ask this."""
    found = httpx.get(f"{server.url}/api/v1/runs", params={"limit": 100}, trust_env=False, timeout=WAIT).json()
    return sum(run["question"] == question for run in found["runs"])


def test_a_question_outlasts_a_reload_with_its_options_and_goes_once_it_is_asked(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.locator(".more summary").click()
    page.get_by_label("What do you want to find out?").fill(TIDE)
    page.get_by_label("Minutes at most").fill("3")
    page.locator("input[value=tides]").check(force=True)
    page.locator("input[name=web]").check(force=True)
    page.reload()
    assert page.get_by_label("What do you want to find out?").input_value() == TIDE
    assert page.get_by_label("Minutes at most").input_value() == "3"  # what is limited is shown, not folded away
    assert page.locator("input[value=tides]").is_checked()
    assert page.locator("input[name=web]").is_checked()
    page.locator("input[name=web]").uncheck(force=True)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*")
    page.goto("/")
    assert page.get_by_label("What do you want to find out?").input_value() == ""


def test_a_question_that_did_not_arrive_is_there_again(visit: Visit, plain: Served) -> None:
    seen = visit(plain)
    page = seen.page
    page.goto("/")
    page.get_by_label("What do you want to find out?").fill(DRAFT)
    seen.context.set_offline(True)
    with page.expect_event("requestfailed"):
        page.keyboard.press("Control+Enter")
    page.wait_for_function("location.protocol === 'chrome-error:'")
    seen.context.set_offline(False)
    page.goto("/runs")
    page.goto("/")
    assert page.get_by_label("What do you want to find out?").input_value() == DRAFT


def test_a_refused_question_is_as_the_server_has_it(visit: Visit, plain: Served) -> None:
    seen = visit(plain)
    page, seen.expects = seen.page, "422"
    page.goto("/?question=Older")
    page.get_by_label("What do you want to find out?").fill(DRAFT)
    for chip in page.locator("input[name=collection]:checked, input[name=web]:checked").all():
        chip.uncheck(force=True)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("alert").wait_for()
    assert page.get_by_label("What do you want to find out?").input_value() == DRAFT
    page.goto("/?question=Newer")
    assert page.get_by_label("What do you want to find out?").input_value() == "Newer"


def test_a_question_outlasts_a_login_that_ended_but_not_another_user(visit: Visit, guarded: Served) -> None:
    seen = visit(guarded)
    page = seen.page
    page.goto("/?question=From%20a%20link")
    log_in(page)
    page.wait_for_url("**/?question=From%20a%20link")  # with all of its address
    page.get_by_label("What do you want to find out?").fill(DRAFT)
    seen.context.clear_cookies()
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/login?next=/")
    log_in(page)
    page.wait_for_url(f"{guarded.url}/")
    assert page.get_by_label("What do you want to find out?").input_value() == DRAFT
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    assert page.evaluate("sessionStorage.length") == 0


def test_what_is_sent_twice_begins_once(visit: Visit, plain: Served) -> None:
    page = visit(plain).page
    page.goto("/")
    page.get_by_label("What do you want to find out?").fill(DRAFT)
    page.locator("input[value=tides]").check(force=True)
    page.get_by_label("What do you want to find out?").focus()
    for _ in range(3):
        page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/*")
    assert asked(plain, DRAFT) == 1
    page.go_back()
    page.locator("form.ask:not([aria-busy])").wait_for()  # it may be sent again


def test_a_login_that_ends_while_one_watches_is_said_and_what_one_writes_stays(visit: Visit, guarded: Served) -> None:
    seen = visit(guarded)
    page, seen.expects = seen.page, "4"  # 401, and a server that nobody reaches
    page.goto("/")
    log_in(page)
    page.get_by_label("What do you want to find out?").fill(TIDE)
    page.locator("input[type=file]").set_input_files(
        {"name": "t.md", "mimeType": "text/plain", "buffer": TIDES.encode()}
    )
    page.locator(".more summary").click()
    page.get_by_label("Show me the plan before research begins").check()
    page.get_by_role("button", name="Research").click()
    page.locator(".plan-form").wait_for()  # it waits for a person, and is watched
    seen.context.clear_cookies()
    page.get_by_label("Tell it something").fill("Look at Brest")
    page.keyboard.press("Enter")
    page.locator("#noted").get_by_text("Your login has ended, and nothing was sent.").wait_for()
    assert page.get_by_label("Tell it something").input_value() == "Look at Brest"
    assert page.locator("#noted").get_by_role("link", name="Log in again").get_attribute("target") == "_blank"
    page.evaluate("document.getElementById('stream')._htmx.sse.reader.cancel()")  # as where a connection breaks
    page.locator("#logged-out").wait_for()
    assert not page.locator("#lost").is_visible()
    page.locator("#logged-out a").click()
    log_in(page)
    page.locator(".plan-form").wait_for()


def test_a_folder_is_added_with_the_folders_inside(visit: Visit, plain: Served, tmp_path: Path) -> None:
    """Two files of one name stay two, hidden ones stay where they are, and more are sent than one request may have."""
    for name in ("north/notes.txt", "south/notes.txt", "south/.hidden.txt", "pier.txt"):
        file = tmp_path / "coast" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"This is {name}, which is long enough to be read.\n", encoding="utf-8")
    for number in range(110):
        (tmp_path / "coast" / f"a{number:03}.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    shelve(plain, "coast", "tides.md", TIDES)
    seen = visit(plain)
    page, seen.expects = seen.page, "422"  # what a browser notes of the parts that are pictures alone
    page.goto("/library/coast")
    page.get_by_label("Or a folder").set_input_files(tmp_path / "coast")
    page.locator("form[data-upload] button").click()
    page.get_by_text("4 documents", exact=True).wait_for()
    names = page.locator(".documents .facts > span:first-child").all_inner_texts()
    assert sorted(names) == ["north - notes.txt", "pier.txt", "south - notes.txt", "tides.md"]


def test_files_sent_when_the_login_has_ended_are_answered_in_words(visit: Visit, guarded: Served) -> None:
    seen = visit(guarded)
    page, seen.expects = seen.page, "401"
    page.goto("/library")
    log_in(page)
    page.get_by_label("Name").fill("tides")
    page.get_by_role("button", name="Create").click()
    seen.context.clear_cookies()
    page.locator("#files").set_input_files({"name": "t.md", "mimeType": "text/plain", "buffer": TIDES.encode()})
    page.locator("form[data-upload] button").click()
    said = page.get_by_role("alert").inner_text()
    assert said.startswith("Your login has ended")
    assert "<" not in said
