"""The documents questions are derived from: rows of JSON lines, with the header read independently of the engine."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

SERIES = {"peps": "PEP", "eips": "EIP"}


@dataclass(frozen=True)
class Row:
    """A document and its header fields (keys in lower case, values on one line)."""

    url: str
    title: str
    text: str
    corpus: str
    header: dict[str, str] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Its number in the series, "" for a document without."""
        return self.header.get(self.corpus.rstrip("s"), "")

    @property
    def training(self) -> bool:
        """Whether thresholds may be tuned on it: half of all documents, by a hash of the address."""
        return sha256(self.url.encode()).digest()[0] % 2 == 0


def data_folder() -> Path | None:
    """The folder of the shared documents, None when this machine has none."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("ASSAY_DATA", beside)) / "documents"
    return folder if folder.is_dir() else None


def read(folder: Path, names: tuple[str, ...]) -> Iterator[Row]:
    """All rows of the named sets."""
    for name in names:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                header = _header(row["text"]) if name in SERIES else {}
                title = header.get("title", row["title"]).strip("\"'")
                yield Row(row["url"], title, row["text"], name, header)


def _header(text: str) -> dict[str, str]:
    text = text.lstrip()
    block = text.split("\n---", 1)[0].lstrip("-\n") if text.startswith("---") else text.split("\n\n", 1)[0]
    fields: dict[str, str] = {}
    key = ""
    for line in block.splitlines():
        match = re.match(r"([A-Za-z][\w-]*):(.*)", line)
        if match:
            key = match[1].lower()
            fields[key] = match[2].strip()
        elif key and line[:1].isspace():
            fields[key] = f"{fields[key]} {line.strip()}"
    return {key: value for key, value in fields.items() if value}
