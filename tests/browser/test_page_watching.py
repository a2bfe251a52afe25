"""The page in Chromium while a run goes on: its agents, its plan and its questions, and who watches or steers it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ports import free_port
from screens import ASKS, PLANS, SKIPPED, WATCHED, Visit, begin, scripted, unusable
from serving import WAIT, Served

UNFINISHED = ("being checked", "Report as it is written")
"""What the report says before the run has ended; its region may come later than the state."""

pytestmark = pytest.mark.skipif(bool(SKIPPED), reason=SKIPPED or "there is one")


def test_the_rail_shows_the_claims_which_are_asked_for(visit: Visit, slow: Served) -> None:
    run = begin(slow, "How far does it rise?")
    page = visit(slow).page
    page.goto(f"/runs/{run}/activity")  # from there nobody is led to the report, which would end the next visit
    page.locator("#read").wait_for()
    page.goto(f"/runs/{run}")
    shown = page.locator(".rail .claims > li:visible")
    every = shown.count()
    page.locator(".rail .chip", has_text="Contradicted").click()
    assert shown.count() < every
    page.locator(".rail .chip", has_text="All").click()
    assert shown.count() == every > 0


def test_two_who_watch_and_one_who_reads_anew_see_the_same(visit: Visit, slow: Served) -> None:
    run = begin(slow, WATCHED)
    seen = visit(slow)
    first = seen.page
    first.goto(f"/runs/{run}/activity")
    first.locator(".lane").nth(1).wait_for()
    second = seen.watched(seen.context.new_page(), slow)
    second.goto(f"/runs/{run}/activity")
    first.reload()
    for page in (first, second):
        page.locator(".lane.finished").first.wait_for()
    same(first, second, ".lanes")
    for page in (first, second):
        page.locator(".status.completed").wait_for()
        for unfinished in UNFINISHED:
            page.get_by_text(unfinished).wait_for(state="hidden")
    same(first, second, ".run-page")
    second.reload()
    second.locator(".status.completed").wait_for()
    again = second.locator("#r-report, #r-team, #r-plan").all_inner_texts()
    live = first.locator("#r-report, #r-team, #r-plan").all_inner_texts()
    assert again == live


def same(one: Any, other: Any, part: str) -> None:
    """Wait until two pages say the same in a part: a fragment reaches one of them first."""
    end = time.monotonic() + WAIT
    while (said := one.locator(part).inner_text()) != (told := other.locator(part).inner_text()):
        assert time.monotonic() < end, (said, told)
        one.wait_for_timeout(50)


def test_nothing_is_lost_of_what_one_does_while_fragments_arrive(visit: Visit, slow: Served) -> None:
    run = begin(slow, WATCHED)
    page = visit(slow).page
    page.goto(f"/runs/{run}/activity")
    page.locator("#lane-2-steps summary").wait_for()
    page.locator("#lane-2-steps summary").click()
    page.get_by_label("Tell it something").fill("Look at the moon")
    page.locator("#r-plan li span").first.evaluate("one => getSelection().selectAllChildren(one)")
    page.get_by_label("Tell it something").evaluate("one => one.focus()")
    page.locator(".lane.finished").first.wait_for()
    assert page.evaluate("document.activeElement.id") == "steer"
    assert page.get_by_label("Tell it something").input_value() == "Look at the moon"
    assert page.locator("#lane-2-steps").get_attribute("open") is not None
    page.keyboard.press("Enter")
    page.locator("#r-steering q").wait_for()
    assert page.locator("#r-steering q").inner_text() == "Look at the moon"
    live = page.locator("[role=status], [aria-live]:not([aria-live=off])")
    assert [one.get_attribute("id") for one in live.all()] == ["announced"]  # one line, and no token in it
    assert "@" not in live.inner_text()
    page.locator("#read").wait_for()
    assert page.url.endswith("/activity")  # who did something is not led away


def test_a_message_leaves_its_field_at_once_and_its_form_leaves_with_the_run(visit: Visit, slow: Served) -> None:
    run = begin(slow, WATCHED)
    seen = visit(slow)
    page, field = seen.page, seen.page.get_by_label("Tell it something")
    page.goto(f"/runs/{run}/activity")
    page.locator("#lane-2-steps summary").wait_for()
    seen.context.set_offline(True)
    field.fill("Look at Brest")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('steer').value === 'Look at Brest'")  # it was not sent
    seen.context.set_offline(False)
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('steer').value === ''")
    page.locator("#r-steering q").wait_for()
    page.locator("#read").wait_for()
    field.wait_for(state="hidden")
    seen.faults.clear()  # that nobody could be reached


def test_a_key_pressed_twice_pauses_and_resumes(visit: Visit, slow: Served) -> None:
    """The focus stays on a button which changes its words, and moves to no other where one goes away."""
    page = visit(slow).page
    page.goto(f"/runs/{begin(slow, WATCHED)}/activity")
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Resume").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Pause").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Pause"
    page.get_by_role("button", name="Finish now").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Finish now").wait_for(state="detached")
    page.wait_for_function("document.activeElement.id === 'r-status'")
    page.locator("#read").wait_for()


def test_who_answered_is_led_to_the_report(visit: Visit, slow: Served) -> None:
    page = visit(slow).page
    page.goto(f"/runs/{begin(slow, ASKS, ask='required')}")
    page.get_by_role("button", name="Decide for me").click()
    page.locator("#report").wait_for()


def test_questions_are_answered_and_a_lost_connection_loses_nothing(visit: Visit, slow: Served) -> None:
    seen = visit(slow)
    page = seen.page
    page.goto(f"/runs/{begin(slow, ASKS, ask='required')}")
    page.get_by_label("Which Brest?").fill("The one in Brittany")
    page.get_by_role("button", name="Continue with these answers").click()
    page.locator(".lane").first.wait_for()
    seen.expects = "ERR_INTERNET_DISCONNECTED"
    seen.context.set_offline(True)
    page.locator("#lost").wait_for(state="visible")
    seen.context.set_offline(False)
    page.locator("#read, #report").first.wait_for()


def test_a_server_which_is_killed_and_started_again_shows_the_same(visit: Visit, tmp_path: Path) -> None:
    port = str(free_port())
    with scripted(tmp_path, "--port", port) as server:
        seen = visit(server)
        page = seen.page
        page.goto(f"/runs/{begin(server, WATCHED)}/activity")
        page.locator(".lane.finished").first.wait_for()
        before = page.locator(".lane.finished").first.inner_text()
        server.kill()
        page.locator("#lost").wait_for(state="visible")
    with scripted(tmp_path, "--port", port):
        page.locator(".status.completed").wait_for()
        for unfinished in UNFINISHED:
            page.get_by_text(unfinished).wait_for(state="hidden")
        assert page.locator("#lost").is_hidden()
        assert page.locator(".lane").count() == 2
        assert page.locator(".lane").first.inner_text().split("\n")[0] == before.split("\n")[0]
        live = page.locator("#r-report, #r-team, #r-plan").all_inner_texts()
        page.reload()
        assert page.locator("#r-report, #r-team, #r-plan").all_inner_texts() == live
        seen.faults.clear()  # that nobody answered


def test_a_plan_is_put_in_order_and_approved(visit: Visit, slow: Served) -> None:
    seen = visit(slow)
    page = seen.page
    page.goto(f"/runs/{begin(slow, PLANS, review_plan='required')}")
    steps = page.locator(".plan-step:not(.spare) [name=title]")
    steps.nth(1).wait_for()
    page.get_by_role("button", name="Move down").first.click()
    page.locator(".plan-step.spare [name=title]").fill("What the harbour says")
    page.keyboard.press("Tab")
    assert [each.input_value() for each in steps.all()] == [
        "What the moon does",
        "Tide at Brest",
        "What the harbour says",
    ]
    page.locator(".plan-step").nth(0).get_by_role("button", name="Remove").click()
    assert page.evaluate("document.activeElement.value") == "Tide at Brest"  # the keyboard goes on at the next step
    page.get_by_role("button", name="Start research").click()
    page.locator("#r-plan li", has_text="What the harbour says").wait_for()
    titles = page.locator("#r-plan li > span:first-child").all_inner_texts()
    assert titles == ["Tide at Brest", "What the harbour says"]
    page.get_by_role("button", name="Cancel").click()
    seen.faults.clear()  # the question whether it is meant


def test_a_plan_is_put_in_order_by_dragging(visit: Visit, slow: Served) -> None:
    seen = visit(slow)
    page = seen.page
    page.goto(f"/runs/{begin(slow, PLANS, review_plan='required')}")
    steps = page.locator(".plan-step:not(.spare)")
    steps.nth(1).wait_for()
    page.locator(".plan-step .grip").first.drag_to(steps.nth(1), target_position={"x": 60, "y": 70})
    titles = [each.input_value() for each in page.locator(".plan-step:not(.spare) [name=title]").all()]
    assert titles == ["What the moon does", "Tide at Brest"]
    page.get_by_role("button", name="Start research").click()
    page.locator("#r-plan li:first-child", has_text=titles[0]).wait_for()  # until then it is the plan as proposed
    assert page.locator("#r-plan li > span:first-child").all_inner_texts() == titles
    page.get_by_role("button", name="Cancel").click()
    seen.faults.clear()  # the question whether it is meant


def test_what_is_unclear_can_be_left_to_assay(visit: Visit, slow: Served) -> None:
    page = visit(slow).page
    page.goto(f"/runs/{begin(slow, ASKS, ask='required')}")
    page.get_by_role("button", name="Decide for me").click()
    page.locator(".lane").first.wait_for()
    assert page.locator(".needs").count() == 0


def test_on_a_narrow_screen_the_agents_are_tabs(visit: Visit, slow: Served) -> None:
    """The one which is chosen stays so while fragments arrive; both are there before they have done anything."""
    run = begin(slow, WATCHED)
    page = visit(slow, viewport={"width": 390, "height": 844}).page
    page.goto(f"/runs/{run}/activity")
    tabs, lanes = page.get_by_role("tab"), page.locator(".lanes > .lane")
    tabs.nth(1).wait_for()
    assert [lanes.nth(at).is_visible() for at in range(2)] == [True, False]
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-controls')") == lanes.nth(1).get_attribute("id")
    page.locator(".lane.finished").first.wait_for(state="attached")
    page.locator(".lane-tabs .finished").first.wait_for()
    assert [lanes.nth(at).is_visible() for at in range(2)] == [False, True]
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert unusable(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    lanes.first.wait_for()
    assert lanes.nth(1).is_visible()
    assert tabs.count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#read").wait_for()
    assert lanes.nth(1).is_visible()
