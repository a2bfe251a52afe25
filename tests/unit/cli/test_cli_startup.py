"""What commands load: a module which nobody needs costs every start of every command."""

import subprocess
import sys
from pathlib import Path

import pytest

TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"
LOADED = """import sys
from assay.cli.main import main
command = []
for word in [*sys.argv[1:], ";"]:
    if word != ";":
        command.append(word)
        continue
    main(command)
    print("#", *sys.modules)
    command = []
"""

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

    def modules(*args: str) -> list[set[str]]:
        """Of commands one after another in a process, each ended by `;`: what was loaded when each had ended."""
        command = [sys.executable, "-c", LOADED, *(str(note) if arg == "NOTE" else arg for arg in args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        found = [set(line.split()) for line in done.stdout.splitlines() if line.startswith("# sys ")]
        assert len(found) == args.count(";") + 1, done.stderr
        return found

    return modules


def test_nothing_is_loaded_which_a_command_does_not_need(loads):
    """One run, and what looks at it afterwards; a whole run over a text loads nothing of the web.

    What looks at it is one process, the least first: what a command loads is still there for the next one.
    """
    (run,) = loads("How far does the tide rise?", "--in", "NOTE", "--offline", "-q", "--depth", "light")
    assert unneeded(run, WEB, RARE[:1], RARE[2:], SCREEN[1:], TYPED) == []
    assert {"assay.phases.pipeline", "sqlalchemy", "tantivy"} <= run  # and what it needs, it has
    helped, settings, *looked = loads(*"--help ; config list ; runs list ; runs show last ; claims last".split())
    ours = {name for name in helped if name.startswith("assay.") and not name.startswith("assay.cli")}
    assert ours == {
        "assay.core",
        "assay.core.errors",
        "assay.core.lazy",
        "assay.core.name_suggestions",
        "assay.core.stop_gate",
    }  # the table of commands and nothing else
    for loaded in (settings, *looked):
        assert unneeded(loaded, ENGINE, INDEX, WEB, WORDS, SCREEN, RARE, TYPED) == []
    assert unneeded(settings, ("sqlalchemy", "assay.app")) == []  # they are listed without a library
    assert unneeded(looked[0], STARTS) == []


def unneeded(loaded: set[str], *groups: tuple[str, ...]) -> list[str]:
    return [name for group in groups for name in group if name in loaded]
