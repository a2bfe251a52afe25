"""Files made to harm whoever reads them: each is small, or unpacks to much, or nests deep, or leads elsewhere."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

TIDES = "The tide rises twice a day at the harbour of Vlissingen.\n"
OUTSIDE = "A secret which nobody named.\n"
ALIASES = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + at)}: &{chr(98 + at)} [*{chr(97 + at)}, *{chr(97 + at)}]\n" for at in range(22)
)
"""YAML which, followed, would be eight million words."""
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY z SYSTEM "file:///etc/passwd">'
    + "".join(f'<!ENTITY {chr(98 + at)} "{f"&{chr(97 + at)};" * 10}">' for at in range(10))
    + "]><l>&k;&z;</l>"
)


def packed(members: Mapping[str, bytes | str]) -> bytes:
    """A ZIP archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def nested(depth: int) -> bytes:
    """Archives within archives."""
    data = packed({"tides.md": TIDES})
    for at in range(depth):
        data = packed({f"n{at}.zip": data})
    return data


def leading_out(outside: Path) -> bytes:
    """An archive with a link, an absolute name and a path upwards."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(outside))
        archive.writestr(str(outside.with_name("absolute.md")), TIDES)
        archive.writestr("../../up.md", TIDES)
    return stream.getvalue()


def taped(outside: Path) -> bytes:
    """A tar archive with links and an absolute name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, kind in (("link.md", tarfile.SYMTYPE), ("hard.md", tarfile.LNKTYPE)):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, str(outside)
            archive.addfile(link)
    return stream.getvalue()


def write(folder: Path, outside: Path) -> None:
    """All of them into a folder, between two good files."""
    folder.mkdir()
    outside.write_text(OUTSIDE)
    (folder / "link.md").symlink_to(outside.with_name("nowhere.md"))
    made: dict[str, bytes | str] = {
        "a-good.md": TIDES,
        "z-good.md": TIDES + "It ebbs as often.\n",
        "deep.html": "<div>" * 300_000 + "x",
        "deep.jsonl": '{"text": "fine words"}\n' + "[" * 1_000_000 + '\n{"text": "a", "text": "said twice"}\n',
        "deep.json": "[" * 1_000_000,
        "number.jsonl": '{"text": "fine words", "x": ' + "9" * 1_000_000 + "}\n",
        "wide.csv": "a," * 200_000 + "\n" + "1," * 200_000 + "\n",
        "digits.csv": "a,b\n" + "1" * 2_000_000 + ",2\n",
        "aliases.md": f"---\n{ALIASES}---\n\nWords below.\n",
        "aliases.yaml": ALIASES,
        "laughs.xml": LAUGHS,
        "laughs.html": LAUGHS,
        "laughs.docx": packed({"[Content_Types].xml": LAUGHS, "word/document.xml": LAUGHS}),
        "nested.zip": nested(60),
        "leading.zip": leading_out(outside),
        "leading.tar.gz": taped(outside),
        "many.zip": packed(dict.fromkeys((f"{at}.txt" for at in range(10_500)), "")),
        "lines.jsonl.gz": gzip.compress(b"\n" * 30_000_000),
    }
    for name, data in made.items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
