"""`--open` and `assay runs open`: the report in the browser."""

import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import cli


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Addresses a browser was asked for."""
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: shown.append(url) is None)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "")
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "harbor.md").write_text("# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n")
    monkeypatch.chdir(tmp_path)
    return shown


def page(url: str) -> Path:
    return Path(url.removeprefix("file://"))


def test_the_report_opens_when_the_run_ends_and_again_later(opened: list[str]):
    question = "Who wrote the Harbor report?"
    done = CliRunner().invoke(cli, [question, "--in", "harbor.md", "--open", "--depth", "light"])
    assert done.exception is None, done.output
    assert len(opened) == 1
    shown = page(opened[0]).read_text(encoding="utf-8")
    assert "Ada Byron" in shown
    assert "<html" in shown
    assert stat.S_IMODE(page(opened[0]).parent.stat().st_mode) == 0o700
    assert "Ada Byron" in done.stdout
    later = CliRunner().invoke(cli, ["runs", "open", "last"])
    assert Path(later.stdout.strip()) == page(opened[1])


def test_without_a_browser_the_page_is_named(opened: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = CliRunner().invoke(cli, ["Who wrote the Harbor report?", "--in", "harbor.md", "--open", "--depth", "light"])
    assert "no browser to open /" in done.stderr
    assert done.exit_code == 0


@pytest.mark.parametrize("other", ["--detach", "--queue"])
def test_a_run_which_is_not_waited_for_opens_nothing(opened: list[str], other: str):
    done = CliRunner().invoke(cli, ["Who wrote it?", "--in", "harbor.md", "--open", other])
    assert done.exit_code == 2
    assert "later: assay runs open last" in done.stderr
    assert opened == []
