"""Commands as forks of a warm process are what new processes are."""

from __future__ import annotations

import os
import select
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


@pytest.mark.skipif("PYTEST_XDIST_TESTRUNUID" not in os.environ, reason="no other process runs tests of this session")
def test_one_server_is_there_for_all_processes_of_a_session() -> None:
    there, _, pid = warm._server(sys.executable)
    program = "import sys, warm; print(*warm._server(sys.executable)[::2])"
    path = os.pathsep.join([str(warm.SERVER.parent), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert found.stdout.split() == [there, str(pid)], found.stderr


def test_who_gets_no_answer_gets_a_server_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there, line, _ = warm._server(sys.executable)
    kept = warm._known(there)  # else it ends with its last guest
    assert kept
    with monkeypatch.context() as patched:
        patched.setattr(warm, "_ALONE", set())
        with pytest.warns(UserWarning, match="did not answer"):
            warm._renew(sys.executable)
        assert line.fileno() == -1
        patched.setattr(warm, "_known", lambda _: (line, 1))
        patched.setattr(warm, "PLACE", str(tmp_path))
        assert Path(warm._server(sys.executable)[0]).name != Path(there).name
    warm._server.cache_clear()
    assert warm._server(sys.executable)[2] == kept[1]
    kept[0].close()


def test_the_server_ends_with_its_last_guest(tmp_path: Path) -> None:
    """It listens, and has not loaded anything here."""
    where = tmp_path / "door"
    program = f"import warm_server; assert warm_server._listen({str(where)!r}) is None"
    server = subprocess.Popen([sys.executable, "-c", program], cwd=warm.SERVER.parent, stdout=subprocess.PIPE)
    assert server.stdout is not None
    with warm.locked(str(where)), server.stdout as said:
        assert said.readline() == b"listening\n"
        guests = [warm._known(str(where)) for _ in range(2)]
        (first, pid), (second, _) = [each for each in guests if each]
        assert pid == server.pid
    first.close()
    third = warm._known(str(where))
    assert third
    third[0].close()
    assert server.poll() is None
    second.close()
    assert server.wait(120) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_process_ends_with_the_tests_that_were_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    where = str(tmp_path / "door")
    program = f"import time, warm_server; warm_server._listen({where!r}) and time.sleep(600)"
    server = subprocess.Popen([sys.executable, "-c", program], cwd=warm.SERVER.parent, stdout=subprocess.PIPE)
    assert server.stdout is not None
    with server.stdout as said:
        assert said.readline() == b"listening\n"
        guest, pid = warm._known(where) or (None, 0)
        assert guest
        monkeypatch.setattr(warm, "_server", lambda _: (where, guest, pid))
        process = warm.Process("serve")
        lives = os.pidfd_open(process.pid)
        assert not select.select([lives], [], [], 0)[0]
        guest.close()  # as when this process is killed
        assert select.select([lives], [], [], 120)[0]
        os.close(lives)
    assert server.wait(120) == 0
