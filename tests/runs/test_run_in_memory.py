"""A run in memory, in a process of its own: what it leaves unloaded."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import asyncio, sys
from assay import Assay

async def ask(file):
    async with Assay() as assay:
        return (await assay.start("How high is the tide at Brest?", sources=[file]).report()).markdown

print("6.1 metres" in asyncio.run(ask(sys.argv[1])))
print([name for name in sys.argv[2:] if name in sys.modules])
"""
UNNEEDED = ("sqlalchemy", "httpx2", "assay.store.sql", "assay.services.jobs", "assay.search.vectors.hybrid")


def test_a_run_in_memory_loads_no_database_no_jobs_and_no_web(tmp_path: Path) -> None:
    (tmp_path / "brest.md").write_text("# Tides\n\nThe tide at Brest is 6.1 metres.\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "ASSAY_"))}
    line = [sys.executable, "-c", CODE, str(tmp_path / "brest.md"), *UNNEEDED]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, env=kept)
    assert (done.stdout.split("\n")[:2], done.stderr) == (["True", "[]"], "")
