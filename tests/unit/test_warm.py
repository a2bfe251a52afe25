"""Commands as forks of a warm process are what new processes are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import warm

pytestmark = pytest.mark.skipif(not warm.FORKS, reason="commands start anew on this system")


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """An environment with a home and settings of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return kept | {"ASSAY_HOME": str(tmp_path / "home"), "ASSAY_CONFIG": str(tmp_path / "config.toml")}


@pytest.mark.parametrize("words", [("config", "path"), ("runs", "show", "nosuch"), ("runs", "shwo")])
def test_it_says_and_ends_as_a_new_process(words: tuple[str, ...], place: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", *words]
    new = subprocess.run(command, env=place, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    forked = warm.run(*words, env=place, cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (new.returncode, new.stdout, new.stderr)


def test_a_signal_is_its_end(place: dict[str, str], tmp_path: Path) -> None:
    process = warm.start("schedule", "watch", env=place, cwd=tmp_path, session=True, stderr=subprocess.PIPE)
    assert os.getsid(process.pid) == process.pid
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(120) == -signal.SIGKILL
    process.send_signal(signal.SIGTERM)  # who has ended is sent nothing
    assert process.communicate()[0] == b""
