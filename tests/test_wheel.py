"""What a user does: install the wheel into an environment of its own, and ask a question."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from functools import partial
from pathlib import Path

import pytest

from assay.locale import LOCALES

ROOT = Path(__file__).parents[1]
QUESTION = "How does Assay keep a run after a crash?"

pytestmark = pytest.mark.slow


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment with the wheel in it.

    The libraries come from the environment of the tests, through a path file, so that no network is needed.
    """
    folder = tmp_path_factory.mktemp("clean")
    assert run(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    python = commands / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel]
    done = run(*pip)
    assert done.returncode == 0, done.stderr
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return commands


def test_the_wheel_has_the_files_which_are_not_python(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    ours = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "assay").rglob("*") if path.is_file()}
    expected = {name for name in ours if not name.endswith((".pyc", ".so"))}
    assert {name for name in expected if not name.endswith(".py")}
    assert expected <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_has_every_catalogue_compiled(tmp_path: Path):
    """Of a fresh checkout, in which none is."""
    fresh = tmp_path / "fresh"
    left_out = shutil.ignore_patterns("*.mo", "__pycache__", "migrations")
    for name in ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        copy = shutil.copy if (ROOT / name).is_file() else partial(shutil.copytree, ignore=left_out)
        fresh.mkdir(exist_ok=True)
        copy(ROOT / name, fresh / name)
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, fresh)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[2] for name in names if name.endswith("LC_MESSAGES/assay.mo")} == set(LOCALES[1:])


def test_a_question_is_answered_from_the_installed_wheel(installed: Path, tmp_path: Path):
    where = run(installed / "python", "-c", "import assay; print(assay.__file__)", cwd=tmp_path)
    assert str(installed.parent) in where.stdout
    done = run(installed / "assay", QUESTION, "--in", ROOT / "docs", "--home", tmp_path / "home", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[1]" in done.stdout
    assert "step" in done.stdout
    cited = run(installed / "assay", "cite", "last", "1", "--home", tmp_path / "home", cwd=tmp_path)
    assert cited.returncode == 0, cited.stderr
    assert cited.stdout.startswith("[1] ")
