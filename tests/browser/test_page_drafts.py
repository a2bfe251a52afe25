"""Nothing written in the page is lost, and nothing is begun twice: reloads, logins that end, impatient fingers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from screens import PASSWORD, SKIPPED, Visit, add_user
from serving import TIDE, WAIT, Served, served

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
    page.locator(".chip", has_text="tides").first.click()
    page.reload()
    assert page.get_by_label("What do you want to find out?").input_value() == TIDE
    assert page.get_by_label("Minutes at most").input_value() == "3"  # what is limited is shown, not folded away
    assert page.locator("input[value=tides]").is_checked()
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*")
    page.goto("/")
    assert page.get_by_label("What do you want to find out?").input_value() == ""


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
    page.locator(".chip", has_text="tides").first.click()
    page.get_by_label("What do you want to find out?").focus()
    for _ in range(3):
        page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/*")
    assert asked(plain, DRAFT) == 1
    page.go_back()
    page.locator("form.ask:not([aria-busy])").wait_for()  # it may be sent again
