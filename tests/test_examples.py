"""The examples in the README and the pages are run as they stand."""

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
import warm
from serving import served

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
IN_ORDER = {"tutorial.md"}
"""Pages whose commands follow one another: `tests/unit/test_documentation.py` types them in order."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

QUESTION = "How does Assay keep a run after a crash?"
SERVER = "http://127.0.0.1:8484"

MAIN = """
import ast, asyncio, inspect, sys, types
code = compile({code!r}, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
sys.modules["example"] = types.ModuleType("example")
made = eval(code, vars(sys.modules["example"]))
if inspect.iscoroutine(made):
    asyncio.run(made)
"""


def blocks(language: str) -> list[object]:
    """The examples of a language: one parameter each, named for its page."""
    return [
        pytest.param(code, id=f"{page.name}-{place}")
        for page in PAGES
        if page.name not in IN_ORDER
        for place, (kind, code) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
        if kind == language
    ]


class Asked(NamedTuple):
    """A home in which the question of the README was asked over docs/, and what the command printed."""

    home: Path
    printed: str


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    folder = tmp_path_factory.mktemp("asked")
    done = warm.run(QUESTION, "--in", "docs/", cwd=ROOT, env=environment_of(folder))
    assert done.returncode == 0, done.stderr
    return Asked(folder / "home", done.stdout)


def environment_of(folder: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("ASSAY_") or name == "ASSAY_SEARCH_WEB"
    }
    return kept | {"ASSAY_HOME": str(folder / "home"), "ASSAY_CONFIG": str(folder / "config.toml")}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_of(tmp_path)


def begin(code: str, environment: dict[str, str], asked: Asked) -> None:
    """An example over docs/ finds them read."""
    if "docs/" in code:
        shutil.copytree(asked.home, environment["ASSAY_HOME"])


@pytest.mark.parametrize("code", blocks("python"))
def test_python(code: str, environment: dict[str, str], tmp_path: Path, asked: Asked):
    """An example which speaks to a server finds one, over a document."""
    if SERVER not in code:
        begin(code, environment, asked)
        ended(code, environment)
        return
    (tmp_path / "zen.md").write_text("# The Zen of Python\n\nThe Zen of Python was written by Tim Peters.\n")
    assert warm.run("docs", "add", str(tmp_path / "zen.md"), cwd=ROOT, env=environment).returncode == 0
    with served(tmp_path / "home") as server:
        ended(code.replace(SERVER, server.url), environment)


def ended(code: str, environment: dict[str, str]) -> None:
    """A block is run to its end."""
    done = warm.run(program=MAIN.format(code=code), cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", blocks("console"))
def test_commands(code: str, environment: dict[str, str], asked: Asked):
    """`$ assay …` succeeds; other commands (`make`, `pip`) are what the build itself does."""
    begin(code, environment, asked)
    for line in code.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ assay ") else []
        if not words:
            continue
        done = warm.run(*words[1:], cwd=ROOT, env=environment)
        assert done.returncode == 0, done.stderr


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in [*PAGES, ROOT / "SECURITY.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_readme_shows_the_true_report(asked: Asked) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = next(code for kind, code in BLOCK.findall(page) if kind == "text")
    report = shown.split("quoted\n", 1)[1]
    assert f'$ assay "{QUESTION}" --in docs/' in page
    wanted = [line for line in report.splitlines() if line and line != "…"]
    assert wanted
    assert [line for line in wanted if line not in asked.printed.splitlines()] == []
