"""What commands load: a module which nobody needs costs every start of every command."""

import subprocess
import sys
from pathlib import Path

import pytest

TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"
LOADED = "import sys; from assay.cli.main import main; main(sys.argv[1:]); print('#', *sys.modules)"

ENGINE = ("assay.phases", "assay.agents", "assay.tools", "assay.verify", "assay.run.engine", "assay.models")
INDEX = ("tantivy", "assay.search", "assay.fetch", "assay.evidence", "lxml", "selectolax", "trafilatura", "pypdfium2")
WEB = ("httpx2", "httpcore2", "anyio", "h11", "urllib.request", "assay.search.web", "assay.search.mcp", "dateutil")
WORDS = ("nupunkt", "babel", "markdown_it", "psutil")
SCREEN = ("rich", "assay.cli.live")
STARTS = ("assay.services.threads", "assay.run.execution", "assay.core.run_options", "assay.locale")
"""What starts a run, and goes on with one."""
TYPED = ("pydantic", "pydantic_core", "genai_prices")
"""What the library of prices needs, and servers of MCP: 0.2 s and 14 MB."""
RARE = ("alembic", "filelock", "structlog", "opentelemetry", "pydantic_ai", "psycopg", "importlib.resources.simple")


@pytest.fixture
def loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    note = tmp_path / "tides.md"
    note.write_text(TIDES)

    def modules(*args: str) -> set[str]:
        command = [sys.executable, "-c", LOADED, *(str(note) if arg == "NOTE" else arg for arg in args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        assert "#" in done.stdout, done.stderr
        return set(done.stdout.rsplit("#", 1)[1].split())

    return modules


def test_nothing_is_loaded_which_a_command_does_not_need(loads):
    """One run, and what looks at it afterwards; a whole run over a text loads nothing of the web."""
    run = loads("How far does the tide rise?", "--in", "NOTE", "--offline", "-q", "--depth", "light")
    assert unneeded(run, WEB, RARE[:1], RARE[2:], SCREEN[1:], TYPED) == []
    assert {"assay.phases.pipeline", "sqlalchemy", "tantivy"} <= run  # and what it needs, it has
    for command in (("runs", "list"), ("runs", "show", "last"), ("claims", "last")):
        assert unneeded(loads(*command), ENGINE, INDEX, WEB, WORDS, SCREEN, RARE, TYPED) == [], command
    assert unneeded(loads("runs", "list"), STARTS) == []


def test_help_loads_the_table_of_commands_and_nothing_else(loads):
    ours = {name for name in loads("--help") if name.startswith("assay.") and not name.startswith("assay.cli")}
    assert ours == {"assay.core", "assay.core.errors", "assay.core.later"}


def test_settings_are_listed_without_a_library(loads):
    loaded = loads("config", "list")
    assert unneeded(loaded, ENGINE, INDEX, WEB, WORDS, SCREEN, RARE, TYPED, ("sqlalchemy", "assay.app")) == []


def unneeded(loaded: set[str], *groups: tuple[str, ...]) -> list[str]:
    return [name for group in groups for name in group if name in loaded]
