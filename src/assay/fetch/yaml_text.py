"""YAML as a tree of keys and values, from the events of its parser: what an alias refers to is named, never copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from assay.core.lazy import lazy_module, regex
from assay.fetch.data_trees import MAX_DEPTH, CommentLines, DataBranch, DataEntry

if TYPE_CHECKING:
    import yaml
else:
    yaml = lazy_module("yaml")

MAX_ALIAS_CHARS = 60
"""A longer value is not repeated where an alias refers to it; its place is named, as far as it is as short."""
_COMMENT = regex(r"(?:(?<=\s)|^)#+[ \t]?([^\r\n]*)")
_BREAK = regex(r"\r\n?|\n")


def read_yaml(text: str) -> DataBranch | None:
    """The tree of YAML; of several documents a list. None if it is none, holds a single value, or is too deep."""
    try:
        documents = _Reader(text).read()
    except (yaml.YAMLError, ValueError):
        return None
    filled = [document for document in documents if document.value]
    trees = [document.value for document in filled if isinstance(document.value, DataBranch)]
    if not trees or len(trees) < len(filled):
        return None
    return trees[0] if len(trees) == 1 else DataBranch(filled, is_list=True)


class _Open(msgspec.Struct):
    """A list or an object that is being read, with the key whose value comes next, and what was said above that."""

    branch: DataBranch
    path: str
    key: str | None = None
    comments: list[str] = []


class _Reader:
    """Reads the events; `comments` wait for the entry below them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._documents = DataBranch(is_list=True)
        self._stack = [_Open(self._documents, "")]
        self._anchors: dict[str, str] = {}
        self._comments = CommentLines()
        self._position = 0
        self._last: DataEntry | None = None

    def read(self) -> list[DataEntry]:
        """The documents.

        Raises:
            yaml.YAMLError: it is no YAML.
            ValueError: it has keys that are objects, or is too deep.
        """
        for event in self._events():
            self._read_gap(event.start_mark.index)
            kind = type(event).__name__
            if kind == "ScalarEvent":
                is_short = len(event.value) <= MAX_ALIAS_CHARS
                self._add(event.value, event.anchor, event.value if is_short else self._place(event.anchor))
            elif kind == "AliasEvent":
                self._add(self._anchors.get(event.anchor, f"*{event.anchor}"), None, "")
            elif kind in ("MappingStartEvent", "SequenceStartEvent"):
                self._open(event.anchor, is_list=kind == "SequenceStartEvent")
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                self._stack.pop()
            elif kind == "DocumentEndEvent" and self._documents.entries:
                self._close_document()
            self._position = max(self._position, event.end_mark.index)
        self._read_gap(len(self._text))
        if self._documents.entries:
            self._close_document()
        return self._documents.entries

    def _events(self) -> Iterator[Any]:
        yield from yaml.parse(self._text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def _close_document(self) -> None:
        tree = self._documents.entries[-1].value
        if isinstance(tree, DataBranch):
            tree.comments = (*tree.comments, *self._comments.take())

    def _read_gap(self, end: int) -> None:
        """Note the comments between two events: one on the line of a value is a remark on it."""
        gap = self._text[self._position : end]
        if "#" not in gap:
            if len(_BREAK.findall(gap)) > 1:
                self._comments.end_paragraph()
            return
        start = 0
        for match in _COMMENT.finditer(gap):
            between = gap[start : match.start()]
            is_behind = self._position > 0 and start == 0 and not _BREAK.search(between)
            if is_behind and self._stack[-1].key is not None:
                self._stack[-1].comments.append(match[1].strip())
            elif is_behind and self._last is not None and isinstance(self._last.value, str):
                self._last.remark = match[1].strip()
            else:
                if len(_BREAK.findall(between)) > 1:
                    self._comments.end_paragraph()
                self._comments.add(match[1])
            start = match.end()

    def _add(self, value: str | DataBranch, anchor: str | None, anchored: str) -> None:
        """Take a value, which may be a key."""
        above = self._stack[-1]
        if not above.branch.is_list and above.key is None:
            if isinstance(value, DataBranch):
                raise ValueError("a key is an object")
            above.key, above.comments = value, self._comments.take()
        else:
            is_item = above.branch.is_list and above.branch is not self._documents
            comments = self._comments.take() if is_item else above.comments
            self._last = DataEntry(above.key or "", value, comments)
            above.branch.entries.append(self._last)
            above.key, above.comments = None, []
        if anchor is not None:
            self._anchors[anchor] = anchored

    def _open(self, anchor: str | None, *, is_list: bool) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise ValueError("too deep")
        branch, path = DataBranch(is_list=is_list), self._path()
        self._add(branch, anchor, self._place(anchor))
        self._stack.append(_Open(branch, path))

    def _path(self) -> str:
        """The keys of the value that comes next."""
        above = self._stack[-1]
        return ".".join(filter(None, (above.path, above.key)))[:MAX_ALIAS_CHARS]

    def _place(self, anchor: str | None) -> str:
        """What an alias is shown as whose value stands elsewhere."""
        path = self._path() if anchor is not None else ""
        return f"as {path}" if path else f"*{anchor}"[:MAX_ALIAS_CHARS]
