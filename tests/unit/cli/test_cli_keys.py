"""`assay keys`: stored for the owner alone, listed without being shown, forgotten."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import warm
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.core.errors import ConfigError, UnknownName

KEY = "sk-planted-0123456789"
ACME = """
from assay.search.web.http import Ask, HttpProvider
from assay.search.web.http import WebHit


class Acme(HttpProvider):
    name = "acme"
    base = "https://search.acme.example"
    needs_key = True

    def ask(self, query):
        return Ask(path="/find", params={"q": query.text}, headers={"authorization": f"Bearer {self.key}"})

    def hits(self, data):
        return []
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "settings" / "config.toml"
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("MISTRAL_API_KEY", "mk-planted")
    return path


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of somebody else's, with a search provider which wants a key."""
    site = tmp_path / "site"
    about = site / "acme_assay-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-assay\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[assay.searches]\nacme = acme_assay:Acme\n")
    (site / "acme_assay.py").write_text(ACME)
    monkeypatch.setenv("PYTHONPATH", str(site))
    return site


def assay(site: Path, *args: str, typed: str = "") -> str:
    """A process of its own, with the package: what is installed is looked up once a process."""
    with tempfile.TemporaryFile() as given:
        given.write(typed.encode())
        given.seek(0)
        done = warm.run(*args, stdin=given, packages=site)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    return done.stdout


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
    assert "is deleted" in keys("rm", "openai").output
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
    ("content", "message"),
    [
        (b"keys = 3\n", "keys in .* is not a table"),
        (b"# \xff\n", "not text in UTF-8"),
        (b"limits.usd = " + b"9" * 5_000, "not valid TOML"),
    ],
)
@pytest.mark.parametrize("command", ["set", "rm"])
def test_a_file_with_odd_content_is_left_alone(content: bytes, message: str, command: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        keys(command, "openai", typed=KEY)
    assert file.read_bytes() == content


def test_a_key_which_no_header_can_carry_is_refused(file: Path) -> None:
    with pytest.raises(ConfigError, match="printable ASCII") as raised:
        keys("set", "openai", typed="sk-“planted”")
    assert "planted" not in str(raised.value)
    assert not file.exists()


def test_a_provider_goes_by_both_its_names() -> None:
    keys("set", "google", typed=KEY)
    assert origins()["gemini"] == "file"
    assert "is deleted" in keys("rm", "gemini").output


@pytest.mark.skipif(sys.platform == "win32", reason="no such links there")
def test_where_the_file_is_a_link_what_it_leads_to_is_written(file: Path) -> None:
    file.parent.mkdir()
    real = file.parent / "real.toml"
    real.write_text('depth = "light"\n')
    file.symlink_to(real)
    keys("set", "openai", typed=KEY)
    assert file.is_symlink()
    assert KEY in real.read_text()


def test_a_provider_of_another_package_has_a_key_like_ours(acme: Path, file: Path) -> None:
    assay(acme, "keys", "set", "acme", typed=f"{KEY}\n")
    assert KEY in file.read_text()
    origins = {each["provider"]: each["origin"] for each in json.loads(assay(acme, "keys", "list", "--json"))}
    assert (origins["acme"], origins["openai"]) == ("file", None)
    ready = (
        "from assay import settings; from assay.services.providers import provider_access;"
        "from assay.core.ports.models import Secret;"
        f"assert settings.load().keys.of('acme').reveal() == {KEY!r}"
    )
    subprocess.run([sys.executable, "-c", ready], check=True, timeout=300)
    assert "keys.acme" in assay(acme, "config", "list")
    assay(acme, "keys", "rm", "acme")
    assert KEY not in file.read_text()


def test_a_key_of_another_package_may_stand_in_the_environment(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_KEYS_ACME", KEY)
    origins = {each["provider"]: each["origin"] for each in json.loads(assay(acme, "keys", "list", "--json"))}
    assert origins["acme"] == "environment"


def test_the_key_of_a_package_which_is_gone_can_be_forgotten(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(f'[keys]\nacme = "{KEY}"\n')
    assert origins()["acme"] == "file"
    assert "is deleted" in keys("rm", "acme").output
    assert "acme" not in origins()


def test_a_provider_nobody_brings_has_no_key(file: Path) -> None:
    with pytest.raises(UnknownName, match="acme"):
        keys("set", "acme", typed=KEY)
    assert not file.exists()


@pytest.mark.parametrize("name", ["a b", "a.b", "x" * 65, "ä"])
def test_a_name_no_package_may_have_is_refused_where_it_is_written(name: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(f'[keys]\n"{name}" = "{KEY}"\n')
    with pytest.raises(ConfigError) as raised:
        keys("list")
    assert KEY not in str(raised.value)
