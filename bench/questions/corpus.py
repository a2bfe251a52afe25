"""The documents from which questions are derived: rows of JSON lines, with headers read independently of the engine.

Four kinds of header: `Key: value` lines before the first empty one (PEPs), the same between `---` lines (EIPs), and
lists `- Key: value` above the first section, with a heading before them (Swift proposals) or without (Rust RFCs).
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

SERIES = {"peps": "PEP", "eips": "EIP", "rust-rfcs": "RFC", "swift-evolution": "SE"}
LISTED = frozenset(("rust-rfcs", "swift-evolution"))
TITLED = {"peps": "title", "eips": "title", "rust-rfcs": "feature-name"}
"""The header field which calls a document by name; Swift proposals have a heading instead, which the rows have."""

_SAME = {"authors": "author", "tracking-issue": "rust-issue", "bugs": "bug"}
_NOTHING = re.compile(r"\W*(?:n/?a|none|tbd|todo|tba)?\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """A document and its header fields (keys in lower case with hyphens, values on one line)."""

    url: str
    title: str
    text: str
    corpus: str
    header: dict[str, str] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Its number in the series, "" for a document without."""
        if self.corpus == "swift-evolution":
            found = re.match(r"\W*SE-(\d+)", self.header.get("proposal", ""))
        elif self.corpus == "rust-rfcs":
            found = re.search(r"/(\d{4})-[^/]*$", self.url) if self.header else None
        else:
            found = re.match(r"(\d+)$", self.header.get(self.corpus.rstrip("s"), ""))
        return found[1] if found else ""

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
                header = read_header(row["text"], name)
                title = header.get(TITLED.get(name, ""), row["title"]).strip("\"'`")
                yield Row(row["url"], title, row["text"], name, header)


def read_header(text: str, corpus: str) -> dict[str, str]:
    """The header fields of a document of `corpus`; none for a corpus without headers."""
    if corpus not in SERIES:
        return {}
    fields = _listed(text) if corpus in LISTED else _block(text)
    return {_SAME.get(key, key): value for key, value in fields.items() if not _NOTHING.fullmatch(value)}


def _block(text: str) -> dict[str, str]:
    text = text.lstrip()
    block = text.split("\n---", 1)[0].lstrip("-\n") if text.startswith("---") else text.split("\n\n", 1)[0]
    return _gather(block.splitlines(), re.compile(r"(?P<key>[A-Za-z][\w-]*):(?P<value>.*)"))


def _listed(text: str) -> dict[str, str]:
    """Fields of the list above the first section."""
    above = re.split(r"^##", text, maxsplit=1, flags=re.MULTILINE)[0]
    return _gather(above.splitlines(), re.compile(r"[-*] +\**(?P<key>[A-Za-z][\w -]*?)\**:(?P<value>.*)"))


def _gather(lines: Iterable[str], field: re.Pattern[str]) -> dict[str, str]:
    """Key and value of each line which is a field, with the indented lines after it; of equal keys the first."""
    fields: dict[str, str] = {}
    key = ""
    for line in lines:
        match = field.match(line)
        if match:
            key = "-".join(match["key"].lower().split())
            key = key if key not in fields else ""
            fields.setdefault(key, match["value"].strip())
        elif key and line[:1].isspace():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
        else:
            key = ""
    fields.pop("", None)
    return fields
