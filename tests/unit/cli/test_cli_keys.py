"""`assay keys`: stored for the owner alone, listed without being shown, forgotten."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.core.errors import ConfigError, UnknownName

KEY = "sk-planted-0123456789"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings" / "config.toml"
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", "mk-planted")
    return path


def keys(*args: str, typed: str = "") -> Result:
    return CliRunner().invoke(cli, ["keys", *args], input=typed, catch_exceptions=False)


def origins() -> dict[str, str | None]:
    return {each["provider"]: each["origin"] for each in json.loads(keys("list", "--json").stdout)}


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_a_key_is_stored_for_its_owner_alone(file: Path) -> None:
    result = keys("set", "openai", typed=f"{KEY}\n")
    assert KEY not in result.output
    assert KEY in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_keys_are_listed_by_where_they_come_from_and_never_shown() -> None:
    keys("set", "openai", typed=KEY)
    assert (origins()["openai"], origins()["mistral"], origins()["exa"]) == ("file", "environment", None)
    shown = keys("list").output + keys("list", "--json").output
    assert KEY not in shown
    assert "mk-planted" not in shown


def test_a_key_is_forgotten_and_the_rest_of_the_file_stays(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('# mine\ndepth = "light"\n')
    keys("set", "openai", typed=KEY)
    assert "forgotten" in keys("rm", "openai").output
    assert origins()["openai"] is None
    assert file.read_text().startswith('# mine\ndepth = "light"\n')
    assert "there is no key" in keys("rm", "openai").output


@pytest.mark.parametrize("command", ["set", "rm"])
def test_only_providers_have_keys(command: str) -> None:
    with pytest.raises(UnknownName, match="did you mean 'openai'"):
        keys(command, "opnai", typed=KEY)


def test_nothing_is_no_key(file: Path) -> None:
    assert keys("set", "openai", typed=" \n").exit_code == 2
    assert not file.exists()


def test_a_file_which_is_not_toml_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[keys\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        keys("rm", "openai")
    assert file.read_text() == "[keys\n"


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"keys = 3\n", "keys in .* is no table"),
        (b"# \xff\n", "not valid TOML"),
        (b"limits.usd = " + b"9" * 5_000, "not valid TOML"),
    ],
)
@pytest.mark.parametrize("command", ["set", "rm"])
def test_a_file_with_odd_content_is_left_alone(held: bytes, said: str, command: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(held)
    with pytest.raises(ConfigError, match=said):
        keys(command, "openai", typed=KEY)
    assert file.read_bytes() == held


def test_a_key_which_no_header_can_carry_is_refused(file: Path) -> None:
    with pytest.raises(ConfigError, match="printable ASCII") as raised:
        keys("set", "openai", typed="sk-“planted”")
    assert "planted" not in str(raised.value)
    assert not file.exists()


def test_a_provider_goes_by_both_its_names() -> None:
    keys("set", "google", typed=KEY)
    assert origins()["gemini"] == "file"
    assert "forgotten" in keys("rm", "gemini").output


@pytest.mark.skipif(sys.platform == "win32", reason="no such links there")
def test_where_the_file_is_a_link_what_it_leads_to_is_written(file: Path) -> None:
    file.parent.mkdir()
    real = file.parent / "real.toml"
    real.write_text('depth = "light"\n')
    file.symlink_to(real)
    keys("set", "openai", typed=KEY)
    assert file.is_symlink()
    assert KEY in real.read_text()
