from __future__ import annotations

from assay.run.health import FAILURES, LONGEST, PAUSE, PROBE, Health

NAMES = ("a", "b")


def broken(*names: str) -> Health:
    health = Health()
    for name in names:
        health.failed(name, 0.0, transient=False)
    return health


def test_who_never_failed_is_asked_in_order() -> None:
    assert Health().usable(NAMES, 0.0) == NAMES


def test_a_passing_failure_opens_only_when_it_repeats() -> None:
    health = Health()
    for _ in range(FAILURES - 1):
        health.failed("a", 0.0, transient=True)
    assert health.usable(NAMES, 0.0) == NAMES
    health.failed("a", 0.0, transient=True)
    assert health.usable(NAMES, 0.0) == ("b",)


def test_a_success_forgives_earlier_failures() -> None:
    health = Health()
    for _ in range(FAILURES):
        health.failed("a", 0.0, transient=True)
        health.succeeded("a")
    assert health.usable(NAMES, 0.0) == NAMES


def test_a_failure_for_good_opens_at_once_and_the_pause_ends() -> None:
    health = broken("a")
    assert health.usable(NAMES, PAUSE - 1) == ("b",)
    assert health.usable(NAMES, PAUSE) == NAMES


def test_one_probe_goes_through_and_decides() -> None:
    health = broken("a")
    health.asked("a", PAUSE)
    assert health.usable(NAMES, PAUSE) == ("b",)  # the probe is under way
    assert health.usable(NAMES, PAUSE + PROBE) == NAMES  # it never came back
    health.failed("a", PAUSE, transient=True)
    assert health.usable(NAMES, 3 * PAUSE - 1) == ("b",)  # twice as long
    health.asked("a", 3 * PAUSE)
    health.succeeded("a")
    assert health.usable(NAMES, 3 * PAUSE) == NAMES


def test_the_pause_has_an_end_and_heeds_the_service() -> None:
    health, now = broken("a"), 0.0
    for _ in range(20):
        now += LONGEST
        health.asked("a", now)
        health.failed("a", now, transient=True, retry_after=1e9)
    assert health.usable(NAMES, now + LONGEST - 1) == ("b",)
    assert health.usable(NAMES, now + LONGEST) == NAMES
    told = Health()
    told.failed("a", 0.0, transient=False, retry_after=2 * PAUSE)
    assert told.usable(NAMES, 2 * PAUSE - 1) == ("b",)


def test_the_tries_of_one_call_are_one_failure() -> None:
    health = broken("a")
    for _ in range(5):
        health.failed("a", 1.0, transient=True)
    assert health.usable(NAMES, PAUSE) == NAMES


def test_where_all_are_open_the_first_to_come_back_is_asked() -> None:
    health = broken("a")
    health.failed("b", 5.0, transient=False)
    assert health.usable(NAMES, 6.0) == ("a",)
    assert health.usable(("b", "a"), 6.0) == ("a",)
