"""The live view of real processes on a real terminal (a pty): what is left of it when they end, however that is."""

import codecs
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import warm
from shells import apart
from terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="written for Linux's terminals")

QUESTION = "Who wrote the Harbor report?"
LIMIT = 120.0


class Seen:
    """A process whose stderr is a terminal, and what a person sees there; `raw` is all it wrote."""

    def __init__(self, *args: object, size: tuple[int, int] = (80, 24), **env: str) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "CI": "", "NO_COLOR": "", "PYTHONUTF8": "1", **env}
        self.process = warm.start(*args, stdout=subprocess.PIPE, stderr=slave, terminal=True, env=environment)
        os.set_blocking(self._master, False)
        self._slave = slave  # held, so that what was written can be read after the process ended
        self.terminal, self.raw = Terminal(size[0]), ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end within a character

    def until(self, seen: Callable[[], bool]) -> None:
        """Read on until `seen` holds."""
        end = time.monotonic() + LIMIT
        while not seen():
            assert time.monotonic() < end, self.terminal.shown
            self._read(0.05)

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in "\n".join(self.terminal.shown))

    def press_ctrl_c(self) -> None:
        os.write(self._master, b"\x03")

    def catch_up(self) -> None:
        """Read what is there, as a terminal does at all times: a process which writes to a full one waits half-way."""
        while self._read(0.0):
            pass

    def end(self) -> tuple[int, str]:
        """The exit code and stdout."""
        self.until(lambda: self.process.poll() is not None)
        self.catch_up()
        assert self.process.stdout is not None
        return self.process.returncode, self.process.stdout.read().decode()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._slave)
        os.close(self._master)

    def _read(self, wait: float) -> bool:
        if not select.select([self._master], [], [], wait)[0]:
            return False
        text = self._decoder.decode(os.read(self._master, 65536))
        self.raw += text
        self.terminal.feed(text)
        return True

    def is_clean(self) -> None:
        """Nothing is switched on or off that was not before."""
        assert self.terminal.cursor
        assert self.terminal.wraps
        assert not self.terminal.modes


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "harbor.md").write_text(
        "# Harbor \x1b[31mreport\x1b]0;owned\x07\n\nThe Harbor report was written by Ada Byron in 1843.\n"
    )
    return folder


@pytest.fixture
def on_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Seen]]:
    apart(tmp_path, monkeypatch)
    started: list[Seen] = []

    def start(*args: object, **more: str) -> Seen:
        started.append(Seen(*args, **more))
        return started[-1]

    yield start
    for seen in started:
        seen.close()


@pytest.fixture
def slow(tmp_path: Path, notes: Path, on_terminal: Callable[..., Seen]) -> Callable[[str, str], Seen]:
    """A run whose model of one role says nothing for a minute; it has come to that."""
    script = tmp_path / "slow.json"
    script.write_text(json.dumps([{"reply": {"text": "late"}, "delay_ms": 60_000}]))

    def start(role: str, phase: str) -> Seen:
        models = {f"ASSAY_MODELS_{role.upper()}": f"scripted:{script}"}
        seen = on_terminal(QUESTION, "--in", notes, "--mode", "deep_research", "--max-time", "60s", **models)
        seen.until_shown(f"● {phase}")
        return seen

    return start


def test_a_run_leaves_three_lines(on_terminal: Callable[..., Seen], notes: Path):
    seen = on_terminal(QUESTION, "--in", notes)
    code, out = seen.end()
    assert (code, "Ada Byron" in out) == (0, True)
    assert [line.split(" ")[0] for line in seen.terminal.shown] == ["completed:", "took", "run"]
    assert "\x1b]" not in seen.raw
    seen.is_clean()


def test_ctrl_c_finishes_and_the_view_says_so(slow: Callable[..., Seen]):
    seen = slow("analytical", "plan")
    seen.press_ctrl_c()
    code, out = seen.end()
    assert code in (5, 6)
    assert out
    assert "finishing" in seen.raw
    assert len(seen.terminal.shown) in (3, 4)  # one of them may be longer than the terminal is wide
    assert seen.terminal.shown[-1].startswith("run ")
    seen.is_clean()


def test_ctrl_c_twice_leaves_a_clean_terminal(slow: Callable[..., Seen]):
    seen = slow("complex", "write")
    seen.press_ctrl_c()
    seen.until_shown("finishing")
    seen.press_ctrl_c()
    assert seen.end() == (130, "")
    assert seen.terminal.shown[0] == "cancelled: The run was cancelled."
    assert len(seen.terminal.shown) == 3
    seen.is_clean()


def test_sigterm_leaves_a_clean_terminal(slow: Callable[..., Seen]):
    seen = slow("complex", "write")
    seen.process.send_signal(signal.SIGTERM)
    assert seen.end() == (143, "")
    assert len(seen.terminal.shown) == 1
    assert seen.terminal.shown[0].startswith("interrupted; to continue: assay runs resume")
    seen.is_clean()


def test_watching_follows_another_process_and_ends_nothing(slow: Callable[..., Seen], on_terminal: Callable[..., Seen]):
    run = slow("complex", "write")
    seen = on_terminal("runs", "watch", "last")
    seen.until_shown("● write")
    seen.press_ctrl_c()
    assert seen.end() == (130, "")
    assert len(seen.terminal.shown) == 1
    assert seen.terminal.shown[0].startswith("no longer watching run")
    assert run.process.poll() is None
    seen.is_clean()
    run.catch_up()
    run.process.kill()  # not even so anything is left switched on
    run.end()
    assert run.terminal.column == 0
    run.is_clean()


def test_an_ended_run_is_replayed(on_terminal: Callable[..., Seen], notes: Path):
    on_terminal(QUESTION, "--in", notes, "-o", notes.parent / "report.md").end()
    seen = on_terminal("runs", "watch", "last", "--speed", "0.1", size=(200, 50))
    assert seen.end() == (0, "")
    assert QUESTION in seen.raw
    assert len(seen.terminal.shown) == 3
    seen.is_clean()


def test_where_nothing_can_be_drawn_there_are_plain_lines(on_terminal: Callable[..., Seen], notes: Path):
    seen = on_terminal(QUESTION, "--in", notes, TERM="dumb")
    assert seen.end()[0] == 0
    assert "\x1b" not in seen.raw
    assert "writing the report" in seen.terminal.shown


def test_verbose_lines_stay_above_the_view(on_terminal: Callable[..., Seen], notes: Path):
    seen = on_terminal(QUESTION, "--in", notes, "-v")
    assert seen.end()[0] == 0
    found = seen.terminal.shown
    assert "  phase triage" in found
    assert [line.split(" ")[0] for line in found[-3:]] == ["completed:", "took", "run"]
    assert not any(line.startswith(("●", "✓ triage")) for line in found)
