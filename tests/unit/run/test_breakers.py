from __future__ import annotations

from assay.run.rate_limits import (
    FAILURES,
    MAX_PAUSE_SECONDS,
    PAUSE,
    PROBE,
    CircuitBreakers,
)

NAMES = ("a", "b")


def broken(*names: str) -> CircuitBreakers:
    breakers = CircuitBreakers()
    for name in names:
        breakers.record_failure(name, 0.0, transient=False)
    return breakers


def test_who_never_failed_is_asked_in_order() -> None:
    assert CircuitBreakers().usable_models(NAMES, 0.0) == NAMES


def test_a_passing_failure_opens_only_when_it_repeats() -> None:
    breakers = CircuitBreakers()
    for _ in range(FAILURES - 1):
        breakers.record_failure("a", 0.0, transient=True)
    assert breakers.usable_models(NAMES, 0.0) == NAMES
    breakers.record_failure("a", 0.0, transient=True)
    assert breakers.usable_models(NAMES, 0.0) == ("b",)


def test_a_success_forgives_earlier_failures() -> None:
    breakers = CircuitBreakers()
    for _ in range(FAILURES):
        breakers.record_failure("a", 0.0, transient=True)
        breakers.record_success("a")
    assert breakers.usable_models(NAMES, 0.0) == NAMES


def test_a_failure_for_good_opens_at_once_and_the_pause_ends() -> None:
    breakers = broken("a")
    assert breakers.usable_models(NAMES, PAUSE - 1) == ("b",)
    assert breakers.usable_models(NAMES, PAUSE) == NAMES


def test_one_probe_goes_through_and_decides() -> None:
    breakers = broken("a")
    breakers.record_start("a", PAUSE)
    assert breakers.usable_models(NAMES, PAUSE) == ("b",)  # the probe is under way
    assert breakers.usable_models(NAMES, PAUSE + PROBE) == NAMES  # it never came back
    breakers.record_failure("a", PAUSE, transient=True)
    assert breakers.usable_models(NAMES, 3 * PAUSE - 1) == ("b",)  # twice as long
    breakers.record_start("a", 3 * PAUSE)
    breakers.record_success("a")
    assert breakers.usable_models(NAMES, 3 * PAUSE) == NAMES


def test_the_pause_has_an_end_and_heeds_the_service() -> None:
    breakers, now = broken("a"), 0.0
    for _ in range(20):
        now += MAX_PAUSE_SECONDS
        breakers.record_start("a", now)
        breakers.record_failure("a", now, transient=True, retry_after=1e9)
    assert breakers.usable_models(NAMES, now + MAX_PAUSE_SECONDS - 1) == ("b",)
    assert breakers.usable_models(NAMES, now + MAX_PAUSE_SECONDS) == NAMES
    found = CircuitBreakers()
    found.record_failure("a", 0.0, transient=False, retry_after=2 * PAUSE)
    assert found.usable_models(NAMES, 2 * PAUSE - 1) == ("b",)


def test_the_tries_of_one_call_are_one_failure() -> None:
    breakers = broken("a")
    for _ in range(5):
        breakers.record_failure("a", 1.0, transient=True)
    assert breakers.usable_models(NAMES, PAUSE) == NAMES


def test_where_all_are_open_the_first_to_come_back_is_asked() -> None:
    breakers = broken("a")
    breakers.record_failure("b", 5.0, transient=False)
    assert breakers.usable_models(NAMES, 6.0) == ("a",)
    assert breakers.usable_models(("b", "a"), 6.0) == ("a",)
