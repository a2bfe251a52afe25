"""A small library whose documents mean what they do not say, and the settings of its embedder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay import Assay
from assay.settings import Settings, load

LOCAL, ELSEWHERE = "ollama:all-minilm", "ollama:all-minilm:cloud"
ASKED = "How often should a car be serviced?"
TEXTS = {
    "vehicles.md": "# Vehicles\n\nEach automobile needs maintenance after twelve months.\n\nRust spreads.\n",
    "bread.md": "# Bread\n\nFlour, water and salt.\n",
}


def settings(model: str = LOCAL, **more: object) -> Settings:
    return load(embedder={"model": model, **more})


async def found(assay: Assay, text: str = ASKED, collection: str = "default") -> list[str]:
    return [hit.document.name for hit in await assay.search(text, collection=collection)]


def named(paths: Sequence[str]) -> list[str]:
    return [Path(path).name for path in paths]
