"""The first example of docs/api.md, by curl as it stands there, against a server process."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from serving import TIDES, Served, served

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
EXAMPLE = "k3v9q2x7ab"
"""The run's id on the page."""

pytestmark = pytest.mark.skipif(
    shutil.which("curl") is None or shutil.which("sh") is None, reason="no curl, or no shell of POSIX here"
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home") as server:
        yield server


def commands() -> list[str]:
    """The commands of the page's first example, each on one line."""
    block = PAGE.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
    lines = block.replace("\\\n", "").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_the_example_goes_from_a_document_to_a_report(server: Served, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text(TIDES, encoding="utf-8")
    here, run = urlsplit(server.url).netloc, EXAMPLE
    lines: list[str] = []
    for command in commands():
        asked = command.replace("localhost:8484", here).replace(EXAMPLE, run)
        done = subprocess.run(asked, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
        lines.append(done.stdout)
        if '"events_url"' in done.stdout:
            run = json.loads(done.stdout)["id"]
    added, _, events, shown, report = lines
    assert json.loads(added)["additions"][0]["state"] == "done"
    assert re.findall(r"(?m)^event: (.*)$", events)[-1] == "run.completed"
    assert json.loads(shown)["status"] == "completed"
    assert "seven metres" in report
