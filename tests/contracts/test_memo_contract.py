"""What every store keeps of the promises in `core.ports.Memo`."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def test_what_is_kept_is_there_for_every_process(stores: Any) -> None:
    assert stores.one.memo.recall("a") is None
    stores.one.memo.keep("a", b"first")
    assert stores.one.memo.recall("a") == b"first"
    assert stores.two.memo.recall("a") == b"first"
    assert stores.two.memo.recall("b") is None


def test_what_is_kept_never_changes(stores: Any) -> None:
    stores.one.memo.keep("a", b"first")
    stores.two.memo.keep("a", b"second")
    assert stores.one.memo.recall("a") == stores.two.memo.recall("a") == b"first"


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.text("0123456789abcdef/", min_size=1, max_size=70), data=st.binary(max_size=500))
def test_bytes_come_back_as_they_were(stores: Any, key: str, data: bytes) -> None:
    stores.one.memo.keep(key, data)
    kept = stores.one.memo.recall(key)
    stores.one.memo.keep(key, data + b"x")
    assert stores.two.memo.recall(key) == kept
