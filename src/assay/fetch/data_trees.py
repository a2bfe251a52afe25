"""Trees of keys and values, as which YAML, TOML, settings, JSON and plain XML are read, and the text of one.

A value is a line `key: value` under the headings of its path; a list of objects of one kind is a table, whose rows have
their names. What is said of a key on its line stands behind the value in brackets, other comments above as paragraphs.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from itertools import chain, count

import msgspec

from assay.core.lazy import regex
from assay.core.sources import MAX_PASSAGE_CHARS, Extracted
from assay.fetch.fields import clean_title, title_from_name
from assay.fetch.text_form import BARS_LENGTH, MAX_HEADING_LEVEL, TextBuilder, clean, one_cell, row_lines
from assay.fetch.text_form import unique_column_names as unique_names

MAX_CHARS = 500_000
"""Code points of a file; longer ones were not written by people, and stay lines as in source code."""
MAX_DEPTH = 50
MAX_TREE_GROWTH = 20
"""How many times longer a file may become by headings and names: more means that most of the text is them."""
MAX_LINE_CHARS = 300
"""A longer list of single values has a line for each."""
MAX_REMARK_CHARS = 120
MAX_PARAGRAPH_CHARS = 2_000
"""A longer paragraph of comments ends with its line."""
MAX_COLUMNS = 60
MIN_FILLED_SHARE = 0.4
"""The share of cells that a table fills at least: objects of different kinds are none."""
MAX_CELL_DEPTH = 3
EMPTY = "(empty)"
NAMES = ("name", "title", "id", "key", "label", "text", "kind")
"""Keys whose value names an object in a list, the best first."""
_PATH_SIGN = " › "
_MARKUP = regex(r"<!--|[`~]{3}|\.\. |[-*+] ")
"""The beginning of a line that would be something else in Markdown."""
_PROSE = regex(r"[.!?](?:\Z|\s)|[^\n]{60}")
"""A sign that a value of several lines is no code: the end of a sentence, a long line."""
_TICKS = regex(r"`+")
_CODE = regex(r"[{}();=|<>$\\`]|^\s|->")


class DataEntry(msgspec.Struct):
    """A key with its value; an entry of a list has no key. `comments` stand above it, `remark` behind it."""

    key: str
    value: str | DataBranch
    comments: Sequence[str] = ()
    remark: str = ""


class DataBranch(msgspec.Struct):
    """An object, or a list; `comments` stand below its entries."""

    entries: list[DataEntry] = msgspec.field(default_factory=list)
    is_list: bool = False
    comments: Sequence[str] = ()


_COMMENTED_OUT = regex(r"(?:- )?[\w.-]+\s*=(?!=).*|(?:- )?[a-z][\w.-]*:(?:\s+\S+){0,3}")
"""A comment that is an entry switched off."""


class CommentLines:
    """Comments that wait for the entry below them: lines that follow one another are a paragraph."""

    def __init__(self) -> None:
        self._paragraphs: list[str] = []
        self._continues = False

    def add(self, line: str) -> None:
        """Add the text of a comment's line; one that is an entry stays apart, and is marked as commented out."""
        text = line.strip()
        if _COMMENTED_OUT.fullmatch(text):
            self._paragraphs.append(f"Commented out: {text}")
            self._continues = False
        elif not any(map(str.isalnum, text)):
            self._continues = False
        elif self._continues and len(self._paragraphs[-1]) < MAX_PARAGRAPH_CHARS:
            self._paragraphs[-1] += f" {text}"
        else:
            self._paragraphs.append(text)
            self._continues = True

    def end_paragraph(self) -> None:
        """Note that an empty line follows."""
        self._continues = False

    def take(self) -> list[str]:
        """The paragraphs so far, which are no longer kept."""
        taken, self._paragraphs, self._continues = self._paragraphs, [], False
        return taken


def tree_of(value: object, depth: int = 0) -> str | DataBranch:
    """The tree of a value as Python has it.

    Raises:
        ValueError: it is deeper than `MAX_DEPTH`.
    """
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    match value:
        case dict():
            return DataBranch([DataEntry(str(key), tree_of(item, depth + 1)) for key, item in value.items()])
        case list():
            return DataBranch([DataEntry("", tree_of(item, depth + 1)) for item in value], is_list=True)
        case bool():
            return "true" if value else "false"
        case None:
            return ""
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return f"({len(value)} bytes)"
    return str(value)


def tree_document(tree: DataBranch, name: str, kind: str, length: int) -> Extracted | None:
    """The document of the tree in file `name`, whose format is `kind`; None if nothing is in it, or its text would be
    `MAX_TREE_GROWTH` times longer than the file, which has `length` code points.
    """
    builder = TextBuilder()
    _Writer(builder).write(tree, "", ())
    if not 0 < len(builder.text) <= MAX_TREE_GROWTH * length:
        return None
    singles = _singles(tree)
    title = next(filter(None, (clean_title(clean(singles.get(key, ""))) for key in ("title", "name"))), "")
    return Extracted(
        text=builder.text,
        extractor=f"{kind.lower()}/1",
        syntax="markdown",
        title=title or title_from_name(name),
        metadata={"format": kind},
    )


def _singles(branch: DataBranch) -> dict[str, str]:
    """The single values of an object by their keys."""
    return {entry.key: entry.value for entry in branch.entries if isinstance(entry.value, str)}


class _Writer:
    """Writes branches to a builder; `path` are the keys above."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder

    def write(self, branch: DataBranch, key: str, path: Sequence[str]) -> None:
        """Write a branch: as rows, or entries that are a line first, because what follows a heading is below it."""
        if (rows := _table(branch)) is not None:
            for entry in branch.entries:
                self._write_comments([*entry.comments, entry.remark])
            self._builder.block("\n".join(f"| {line} |" for line in rows))
            self._write_comments(branch.comments)
            return
        entries = [_join_single(entry) for entry in branch.entries]
        later: list[DataEntry] = []
        for entry in entries:
            is_object = isinstance(entry.value, DataBranch) and not entry.value.is_list
            if (value := _line_value(entry.value)) is None or (branch.is_list and is_object):
                later.append(entry)
            else:
                self._write_comments(entry.comments)
                self._write_line(entry, value, is_item=branch.is_list)
        for number, entry in enumerate(later, 1):
            self._write_below_heading(entry, key if branch.is_list else "", number, path)
        self._write_comments(branch.comments)

    def _write_comments(self, comments: Sequence[str]) -> None:
        for comment in comments:
            if any(map(str.isalnum, comment)):
                self._paragraph(comment)

    def _write_line(self, entry: DataEntry, value: str, *, is_item: bool) -> None:
        remark = entry.remark if any(map(str.isalnum, entry.remark)) else ""
        is_short = len(remark) <= MAX_REMARK_CHARS
        bare = remark[1:-1] if remark.startswith("(") and remark.find(")") == len(remark) - 1 else remark
        text = f"{value} ({bare})" if bare and is_short else value
        if is_item:
            self._builder.item(text)
        else:
            self._paragraph(f"{entry.key}: {text}" if entry.key else text)
        if not is_short:
            self._paragraph(remark)

    def _write_below_heading(self, entry: DataEntry, list_key: str, number: int, path: Sequence[str]) -> None:
        value = entry.value
        key = entry.key or (isinstance(value, DataBranch) and _object_name(value)) or f"{list_key} {number}".strip()
        inner = (*path, " ".join(key.split())[:MAX_LINE_CHARS])
        level = min(len(inner), MAX_HEADING_LEVEL)
        self._builder.heading(_PATH_SIGN.join(inner[level - 1 :])[-MAX_LINE_CHARS:], level)
        self._write_comments([*entry.comments, entry.remark])
        if isinstance(value, str):
            self._write_text(value)
        else:
            self.write(value, key, inner)

    def _write_text(self, text: str) -> None:
        """Write a value of several lines: as paragraphs, or unchanged if it is code."""
        lines = text.strip("\n").split("\n")
        if any(map(_CODE.search, lines)) or not _PROSE.search(text):
            ticks = max(map(len, _TICKS.findall(text)), default=0)
            fence = "`" * max(3, ticks + 1)
            self._builder.block(f"{fence}\n{clean(text).strip(chr(10))}\n{fence}")
            return
        for part in "\n".join(line.strip() for line in lines).split("\n\n"):
            self._paragraph(part)

    def _paragraph(self, text: str) -> None:
        self._builder.paragraph(f"\\{text}" if _MARKUP.match(text) else text)


def _join_single(entry: DataEntry) -> DataEntry:
    """An entry with the only one in it: `deploy.resources.limits`."""
    while (
        isinstance(entry.value, DataBranch)
        and not (entry.value.is_list or entry.value.comments or entry.remark)
        and len(entry.value.entries) == 1
        and entry.key
    ):
        inner = entry.value.entries[0]
        comments = (*entry.comments, *inner.comments)
        entry = DataEntry(f"{entry.key}.{inner.key}", inner.value, comments, inner.remark)
    return entry


def _line_value(value: str | DataBranch) -> str | None:
    """A value on one line; None if it needs more."""
    if isinstance(value, str):
        text = value.strip("\n")
        return None if "\n" in text else " ".join(text.split()) or EMPTY
    if not value.entries:
        return None if value.comments else EMPTY
    items = [item.value for item in value.entries if isinstance(item.value, str)]
    is_plain = value.is_list and len(items) == len(value.entries) and not value.comments
    if not is_plain or any(item.comments or item.remark for item in value.entries):
        return None
    text = ", ".join(items)
    return text if len(text) <= MAX_LINE_CHARS and not any("\n" in item or ", " in item for item in items) else None


def _object_name(branch: DataBranch) -> str:
    """What an object in a list is called by its own values; "" if it has no name."""
    names = _singles(branch)
    about = next((entry.value for entry in branch.entries if entry.key == "metadata"), None)
    inner = _singles(about) if isinstance(about, DataBranch) else {}
    own = next((names[key] for key in NAMES if names.get(key, "").strip()), "")
    return " ".join(filter(None, (own, inner.get("name", ""))))[:MAX_REMARK_CHARS]


def _table(branch: DataBranch) -> list[str] | None:
    """The rows of a list of objects of one kind; None if it is another list, or its values fit into no cells."""
    rows: list[dict[str, str]] = []
    for entry in branch.entries if branch.is_list else ():
        row = _cells(entry.value, "", MAX_CELL_DEPTH) if isinstance(entry.value, DataBranch) else None
        if row is None:
            return None
        rows.append(row)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if len(rows) < 2 or not 1 < len(columns) <= MAX_COLUMNS:
        return None
    if sum(map(len, rows)) < MIN_FILLED_SHARE * len(rows) * len(columns):
        return None
    header = unique_names([one_cell(clean(column)) for column in columns])
    longest = MAX_PASSAGE_CHARS - BARS_LENGTH
    return [line for row in rows for line in row_lines([row.get(key, "") for key in columns], header, longest)]


def _cells(branch: DataBranch, above: str, depth: int) -> dict[str, str] | None:
    """The cells of an object, those of an object in it under both names; None if one needs more than a line."""
    if branch.is_list or len(above) > MAX_LINE_CHARS:
        return None
    cells: dict[str, str] = {}
    for entry in branch.entries:
        value, key = _line_value(entry.value), f"{above}{entry.key}"
        found = {key: value or ""}
        if value is None:
            if not isinstance(entry.value, DataBranch) or depth <= 1 or entry.comments:
                return None
            inner = _cells(entry.value, f"{key}.", depth - 1)
            if inner is None:
                return None
            found = inner
        elif value == EMPTY:
            continue
        elif any(map(str.isalnum, entry.remark)):
            found = {key: f"{value} ({entry.remark})"}
        for name, cell in found.items():
            cells[_free_name(name, cells)] = one_cell(clean(cell))
        if len(cells) > MAX_COLUMNS:
            return None
    return cells


def _free_name(name: str, cells: Mapping[str, str]) -> str:
    """The name of a cell; a second of this name has a number."""
    names = chain((name,), (f"{name} ({number})" for number in count(2)))
    return next(each for each in names if each not in cells)
