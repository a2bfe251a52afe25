"""An embedding service on loopback, a home which names it, and documents to embed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from concepts import vectors
from embedding_server import EmbeddingServer, serving
from meaning import TEXTS


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving(vectors) as state:
        yield state


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: EmbeddingServer) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(f'[services.ollama]\nurl = "{server.url}"\n')
    monkeypatch.setenv("ASSAY_CONFIG", str(file))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    for name, text in TEXTS.items():
        (made / name).write_text(text)
    return made
