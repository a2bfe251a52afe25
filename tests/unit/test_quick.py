"""`make test-fast`: what is listed as slow is left out."""

import subprocess
import sys
from pathlib import Path

import quick
from inner_pytest import environment

SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import time, pytest

def test_at_once(): pass

def test_which_waits(): time.sleep(0.4)

@pytest.mark.slow
def test_which_is_marked(): pass

@pytest.mark.parametrize("store", ["memory", "postgres"])
def test_of_a_store(store): pass
"""


def outcome(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-c", str(folder / "pytest.ini"), *options]
    files = [] if options and Path(options[-1]).is_file() else [str(folder)]
    line = [*command, *files]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder, env=environment())
    return done.stdout.splitlines()[-1]


def test_what_is_listed_as_slow_is_left_out(tmp_path: Path):
    unit = tmp_path / "unit"
    unit.mkdir()
    (unit / "test_some.py").write_text(TESTS)
    (unit / "test_sleepy.py").write_text("import time\n\ndef test_which_sleeps(): time.sleep(0.4)\n")
    list_of_slow = tmp_path / "slow.txt"
    own = f"\nquick.SLOW = Path({str(list_of_slow)!r})\n"
    own += "quick.QUICK = 0.3  # on a busy machine also what does nothing takes a while\n"
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8") + own)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\nmarkers = slow: takes long\n")
    assert "6 passed" in outcome(tmp_path, "--note-slow")
    assert list_of_slow.read_text().splitlines()[1:] == ["unit/test_sleepy.py", "unit/test_some.py::test_which_waits"]
    assert "2 passed, 3 deselected" in outcome(tmp_path, "--fast")
    (unit / "test_some.py").write_text(TESTS.replace("time.sleep(0.4)", "pass"))
    assert "5 passed" in outcome(tmp_path, "--note-slow", str(unit / "test_some.py"))
    assert list_of_slow.read_text().splitlines()[1:] == ["unit/test_sleepy.py"]


def test_every_line_of_the_list_names_what_there_is():
    gone = []
    for line in quick.listed():
        file, *names = line.split("::")
        path = CONFTEST.parents[1] / file
        if not path.is_file() or not all(name in path.read_text(encoding="utf-8") for name in names[:1]):
            gone.append(line)
    assert gone == []  # renamed or removed: do the same with the line in tests/slow.txt
