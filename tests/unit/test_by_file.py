"""Several processes share tests by file: each is loaded by the one which runs it, and all are told of as always."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from inner_pytest import environment

pytestmark = pytest.mark.slow
SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = Path(__file__).parents[1] / "conftest.py"
FILES = {
    "one/test_some.py": """
import os, pytest

@pytest.fixture(scope="session")
def whole(): return os.getpid()

@pytest.mark.parametrize("number", [1, 2])
def test_which_passes(number, whole): assert whole == os.getpid()

def test_which_fails(): assert False

@pytest.mark.campaign
def test_of_a_campaign(): pass
""",
    "one/test_nothing.py": "# No test is here; it is larger than the last one, and so comes before it.",
    "three/test_other.py": "def test_other(): pass\n",
    "three/test_broken.py": "import no_such_module\n",
}


@pytest.mark.parametrize(
    ("options", "told", "code"),
    [
        (("-m", "not campaign"), "1 failed, 3 passed, 1 error", 1),
        pytest.param(("-m", "campaign", "one"), "1 passed", 0, marks=pytest.mark.campaign),
        pytest.param(
            ("three/test_other.py::test_other", "one/test_some.py::test_which_fails"),
            "1 failed, 1 passed",
            1,
            marks=pytest.mark.campaign,
        ),
    ],
)
def test_all_is_run_and_told_of(options: tuple[str, ...], told: str, code: int, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"))
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {SUPPORT}\nmarkers =\n  slow: long\n  campaign: longer\n"
    )
    line = [sys.executable, "-m", "pytest", "-q", "-n1", "--dist", "worksteal", *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment())
    assert (told in done.stdout.splitlines()[-1], done.returncode) == (True, code), done.stdout
