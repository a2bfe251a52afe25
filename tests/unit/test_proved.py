"""What was found right once is read again when it has changed."""

from __future__ import annotations

from pathlib import Path

import proved


def test_what_has_changed_is_not_proved(tmp_path: Path) -> None:
    assert not proved.is_known("it", b"one", b"two", folder=tmp_path)
    proved.note("it", b"one", b"two", folder=tmp_path)
    assert proved.is_known("it", b"one", b"two", folder=tmp_path)
    assert not proved.is_known("it", b"onetwo", b"", folder=tmp_path)
