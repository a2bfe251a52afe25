"""`make test-fast`: what took long when it last ran is left out."""

import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import time, pytest

def test_at_once(): pass

def test_which_waits(): time.sleep(0.4)

@pytest.mark.slow
def test_which_is_marked(): pass
"""


def outcome(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-c", str(folder / "pytest.ini"), *options]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=120, cwd=folder)
    return done.stdout.splitlines()[-1]


def test_only_what_was_quick_runs_again(tmp_path: Path):
    unit = tmp_path / "unit"
    unit.mkdir()
    (unit / "test_some.py").write_text(TESTS)
    busy = "\nquick.QUICK = 0.3  # on a busy machine also what does nothing takes a while\n"
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8") + busy)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\nmarkers = slow: takes long\n")
    assert "2 passed, 1 deselected" in outcome(tmp_path, "--fast")  # nothing is known yet but the marks
    assert "3 passed" in outcome(tmp_path)
    assert "2 passed, 1 deselected" in outcome(tmp_path, "--fast")
    (unit / "test_some.py").write_text(TESTS.replace("time.sleep(0.4)", "pass"))
    assert "1 passed" in outcome(tmp_path, "-k", "test_which_waits")
    assert "3 passed" in outcome(tmp_path, "--fast")
