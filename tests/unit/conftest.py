from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of the test, in an environment which holds nothing of ours and no keys."""
    for name in list(os.environ):
        if name.startswith(("ASSAY_", "AWS_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "config.toml"
