"""What every store keeps of the promises in `core.ports.Memo`."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled


def test_what_is_kept_is_there_for_every_process(stores: Any) -> None:
    assert stores.one.cache.recall("a") is None
    stores.one.cache.keep("a", b"first")
    assert stores.one.cache.recall("a") == b"first"
    assert stores.two.cache.recall("a") == b"first"
    assert stores.two.cache.recall("b") is None


def test_what_is_kept_never_changes(stores: Any) -> None:
    stores.one.cache.keep("a", b"first")
    stores.two.cache.keep("a", b"second")
    assert stores.one.cache.recall("a") == stores.two.cache.recall("a") == b"first"


@settings(max_examples=scaled(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.text("0123456789abcdef/", min_size=1, max_size=70), data=st.binary(max_size=500))
def test_bytes_come_back_as_they_were(stores: Any, key: str, data: bytes) -> None:
    stores.one.cache.keep(key, data)
    kept = stores.one.cache.recall(key)
    stores.one.cache.keep(key, data + b"x")
    assert stores.two.cache.recall(key) == kept


def test_what_begins_so_is_found_and_forgotten(stores: Any) -> None:
    cache = stores.one.cache
    for key in ("request/a", "request/a/done", "request/b", "requests", "library/id", "s"):
        cache.keep(key, key.encode())
    assert stores.two.cache.entries("request/") == {
        key: key.encode() for key in ("request/a", "request/a/done", "request/b")
    }
    assert cache.entries("none/") == {}
    cache.forget(["request/a", "request/a/done", "never"])
    cache.forget([])
    assert sorted(stores.two.cache.entries("request")) == ["request/b", "requests"]
    cache.keep("request/a", b"again")
    assert cache.recall("request/a") == b"again"
