"""How passwords are hashed outside of tests, where it is to take long."""

from __future__ import annotations

import passwords
import pytest

from assay.services import users

argon2 = pytest.importorskip("argon2", reason="the extra `server` is missing")


def test_a_password_is_hashed_as_rfc_9106_recommends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argon2, "PasswordHasher", passwords.STRONG)
    hashed = users._hasher().hash("correct horse battery")
    found = argon2.extract_parameters(hashed)
    assert (found.type, found.memory_cost, found.time_cost) == (argon2.Type.ID, 64 * 1024, 3)
    assert found.salt_len >= 16
    monkeypatch.undo()
    assert users._matches_hash(hashed, "correct horse battery")
    assert not users._matches_hash(hashed, "correct horse cattery")
