"""Schemathesis over the server's own OpenAPI, against a real process: nothing fails, and answers are as described.

`make fuzz` makes more requests of each operation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Served, served

SUPPORT = Path(__file__).parents[1] / "support"
EXAMPLES = os.environ.get("ASSAY_TEST_EXAMPLES", "2")
CHECKS = (
    "does_not_fail",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "names_no_command",
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    slow = {"ASSAY_SERVER_REQUESTS_PER_MINUTE": "1000000", "ASSAY_SERVER_RUNS_PER_HOUR": "1000000"}
    with served(tmp_path / "home", ASSAY_SEARCH_OFFLINE="true", ASSAY_WORKERS_SLOTS="1", **slow) as server:
        yield server


def test_the_server_answers_every_request_as_it_describes(server: Served, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi-3.1.json"),
            *("--url", server.url, "--phases", "fuzzing", "--max-examples", EXAMPLES, "--seed", "16"),
            *("--checks", ",".join(CHECKS), "--suppress-health-check", "all", "--request-timeout", "60"),
            *("--exclude-path", "/api/v1/events", "--continue-on-failure", "--generation-database", "none"),
        ],
        env=os.environ | {"SCHEMATHESIS_HOOKS": "conformance", "PYTHONPATH": str(SUPPORT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1_800,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "Traceback" not in server.output()
