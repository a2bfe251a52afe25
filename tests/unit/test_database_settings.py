"""Which database is used: what is said to Assay beats what hosts call theirs, and a password is never shown."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

from assay import settings
from assay.core.errors import ConfigError
from assay.settings import describe, load

URL = "postgresql://me:hidden@db.corp/assay"
psycopg = pytest.mark.skipif(importlib.util.find_spec("psycopg") is None, reason="needs psycopg (assay[workers])")


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("ASSAY_DATABASE", raising=False)


def database() -> str:
    found = load().database
    return found.reveal() if found else ""


def test_without_one_it_is_the_file_in_the_home() -> None:
    assert load().database is None


@psycopg
def test_what_hosts_call_theirs_counts_where_it_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", URL)
    assert database() == URL
    monkeypatch.setenv("ASSAY_DATABASE", "none")
    assert database() == ""
    monkeypatch.setenv("ASSAY_DATABASE", "postgresql://other/assay")
    assert database() == "postgresql://other/assay"
    monkeypatch.delenv("ASSAY_DATABASE")
    monkeypatch.setenv("DATABASE_URL", "mysql://another/program")
    assert database() == ""


def test_without_the_extra_it_is_some_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", URL)
    monkeypatch.setattr(settings.importlib.util, "find_spec", lambda name: None)
    assert database() == ""


def test_its_password_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", URL)
    (found,) = [each for each in describe(load()) if each.name == "database"]
    assert (found.value, found.origin, found.secret) == ("***", "environment", True)
    assert "hidden" not in repr(load())


def test_what_is_no_such_url_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", "mysql://me:hidden@host/a")
    with pytest.raises(ConfigError, match=r"database: .*expected postgresql://") as error:
        load()
    assert "hidden" not in str(error.value)


def test_without_its_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("postgres", "sessions"):
        monkeypatch.delitem(sys.modules, f"assay.store.sql.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"assay\[workers\]"):
        importlib.import_module("assay.store.sql.postgres")
