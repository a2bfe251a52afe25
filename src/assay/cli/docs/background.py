"""Vectors are made in the background after documents came in: by `assay docs embed`, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.app.layout import log_file
from assay.cli.detached_run import start
from assay.cli.terminal import say
from assay.settings import Settings

LOG = "vectors"
"""The name of its log, in the folder of those of runs."""


def embed_in_background(configured: Settings, home: Path | None, verbosity: int) -> None:
    """Have the vectors made which are missing now, if an embedder is named. Who begins twice waits for himself.

    Raises:
        StoreError: the process cannot be had, or its log cannot be written.
    """
    if not configured.embedder.model:
        return
    at = (home or configured.home).expanduser().absolute()
    log = log_file(at, LOG)
    line = [sys.executable, "-P", "-m", "assay", "docs", "embed", "--embedder", configured.embedder.model]
    start([*line, "--home", str(at)], log)
    if verbosity >= 0:
        say(f"vectors are made in the background; `assay docs embed` waits for them (log: {log})")
