"""What a user does: install the wheel into an environment of its own, and ask a question."""

import subprocess
import zipfile
from pathlib import Path

import pytest
from story import Installed, install

from assay.locale import LOCALES

ROOT = Path(__file__).parents[1]
QUESTION = "How does Assay keep a run after a crash?"

pytestmark = pytest.mark.slow


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory)


def test_the_wheel_has_the_files_which_are_not_python(installed: Installed):
    names = zipfile.ZipFile(installed.wheel).namelist()
    ours = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "assay").rglob("*") if path.is_file()}
    expected = {name for name in ours if not name.endswith((".pyc", ".so"))}
    assert {name for name in expected if not name.endswith(".py")}
    assert expected <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_has_every_catalogue_compiled(installed: Installed):
    """Of a fresh checkout, in which none is."""
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert {name.split("/")[2] for name in names if name.endswith("LC_MESSAGES/assay.mo")} == set(LOCALES[1:])


def test_a_question_is_answered_from_the_installed_wheel(installed: Installed, tmp_path: Path):
    where = run(installed.commands / "python", "-c", "import assay; print(assay.__file__)", cwd=tmp_path)
    assert str(installed.commands.parent) in where.stdout
    done = run(installed.commands / "assay", QUESTION, "--in", ROOT / "docs", "--home", tmp_path / "home", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[1]" in done.stdout
    assert "step" in done.stdout
    cited = run(installed.commands / "assay", "cite", "last", "1", "--home", tmp_path / "home", cwd=tmp_path)
    assert cited.returncode == 0, cited.stderr
    assert cited.stdout.startswith("[1] ")
