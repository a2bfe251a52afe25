import io
import sys
from pathlib import Path

import logs
import pytest

from assay.cli.display import PlainDisplay, can_draw, display
from assay.cli.live import Screen
from assay.cli.main import main
from assay.core import events as e


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Tty:
    """Stderr, from now on; no fixture, as pytest puts its own back between that and the test."""
    stream = Tty()
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_a_terminal_gets_the_live_view(monkeypatch: pytest.MonkeyPatch):
    on_terminal(monkeypatch)
    assert isinstance(display(0), Screen)
    assert isinstance(display(2), Screen)
    assert isinstance(display(-1), PlainDisplay)


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")])
def test_less_is_asked_for(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    on_terminal(monkeypatch)
    assert can_draw()
    monkeypatch.setenv(name, value)
    assert not can_draw()


def test_what_cannot_show_the_signs_gets_plain_lines(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    terminal.encoding = "iso-8859-1"
    assert not can_draw()


def test_events_and_the_view_do_not_share_a_terminal(monkeypatch: pytest.MonkeyPatch):
    on_terminal(monkeypatch)
    assert can_draw(events=True)
    monkeypatch.setattr(sys, "stdout", Tty())
    assert not can_draw(events=True)
    assert can_draw()


def test_no_stderr_no_view(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not can_draw()


def test_plain_lines_hold_no_escape_sequence(capsys: pytest.CaptureFixture[str]):
    shown = PlainDisplay(1)
    shown.show_progress("reading: file 1 of 2\x1b[31m")
    with shown:
        for envelope in logs.failing_agent().events:
            shown.show(envelope)
    shown.say("cancelling")
    errors = capsys.readouterr().err
    assert "\x1b" not in errors
    assert "agent 1 failed: no model answered\n" in errors
    assert errors.startswith("reading: file 1 of 2[31m\n")
    assert errors.endswith("cancelling\n")


def test_plain_lines_say_the_same_warning_once(capsys: pytest.CaptureFixture[str]):
    log = logs.Log()
    for message in ("searxng cannot be reached", "searxng cannot be reached", "the disk is slow"):
        log.add("", e.Warned(message=message))
    shown = PlainDisplay(0)
    for envelope in log.events:
        shown.show(envelope)
    assert capsys.readouterr().err == "warning: searxng cannot be reached\nwarning: the disk is slow\n"


def test_quiet_says_only_what_was_asked_for(capsys: pytest.CaptureFixture[str]):
    shown = PlainDisplay(-1)
    shown.show_progress("reading")
    for envelope in logs.one_agent().events:
        shown.show(envelope)
    assert capsys.readouterr().err == ""


async def test_a_terminal_that_went_away_ends_the_view_only(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)

    def gone(text: str) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(terminal, "write", gone)
    with Screen() as shown:
        for envelope in logs.one_agent().events:
            shown.show(envelope)
        shown.say("finishing")


async def test_what_is_told_before_the_run_passes_and_warnings_stay(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    with Screen() as shown:
        shown.show_progress("reading: file 1 of 2")
        shown.show_progress("skipped a.pdf: not text")
        shown.say("finishing")
    text = terminal.getvalue()
    assert "skipped a.pdf: not text\r\n" in text
    assert "finishing" in text
    assert text.rindex("\x1b[J") > text.rindex("finishing")


def test_commands_speak_english_and_the_report_its_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    (tmp_path / "hafen.md").write_text("# Der Hafen\n\nDer Hafen von Emden ist sieben Meter tief.\n")
    assert main(["Wie tief ist der Hafen von Emden?", "--in", str(tmp_path / "hafen.md")]) == 0
    out, err = capsys.readouterr()
    assert "1 Aussage: 1 wörtlich zitiert" in out
    assert "hafen.md (1 document)" in err
    for command in (["claims", "last"], ["cite", "last", "1"], ["runs", "show", "last"]):
        assert main(command) == 0
        shown = capsys.readouterr().out
        assert "verbatim in S" in shown
        assert "wörtlich" not in shown
    assert main(["claims", "last", "--json"]) == 0
    assert "wörtlich in S" in capsys.readouterr().out
