"""How much an index on disk holds, without opening it: opening one makes files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.search.local.index import FORMAT


class _Deleted(msgspec.Struct, frozen=True):
    num_deleted_docs: int = 0


class _Segment(msgspec.Struct, frozen=True):
    max_doc: int
    deletes: _Deleted | None = None


class _Meta(msgspec.Struct, frozen=True):
    segments: tuple[_Segment, ...]


def extent(path: Path) -> int | None:
    """The number of documents in the index under `path` (as given to `LocalSearch`), None where there is none.

    Raises:
        ValueError: its `meta.json` cannot be read: the index is damaged.
        OSError: nor can the file.
    """
    try:
        data = (path / FORMAT / "documents" / "meta.json").read_bytes()
    except FileNotFoundError:
        return None
    meta = msgspec.json.decode(data, type=_Meta)  # what msgspec raises is a ValueError
    return sum(each.max_doc - (each.deletes.num_deleted_docs if each.deletes else 0) for each in meta.segments)
