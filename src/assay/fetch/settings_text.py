"""Files of settings as trees: TOML, INI and its relatives (systemd, desktop entries, `.env`), Java's properties.

All are lines with a key and a value below sections. They are read line by line, because the parsers of the standard
library leave out the comments; `tomllib` reads the values of TOML.
"""

from __future__ import annotations

import re
import tomllib

import msgspec

from assay.core.lazy import regex
from assay.fetch.data_trees import CommentLines, DataBranch, DataEntry, tree_of

# TOML

MAX_KEY_PARTS = 20
MAX_VALUE_CHARS = 20_000
"""A longer value of TOML is kept as it is written."""
_PART = r"(?:[A-Za-z0-9_-]++|\"(?:\\.|[^\"\\\n])*+\"|'[^'\n]*+')"
_PARTS = rf"(?P<key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+"
_STRING = (  # one that is not closed ends with the text or the line: nothing is read twice
    r"\"\"\"(?:\\.|(?!\"\"\").)*+(?:\"\"\"+|\Z)|'''(?:(?!''').)*+(?:'''+|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'[^'\n]*+'?"
)
_TOML_HEAD = regex(rf"[ \t]*+\[(?P<list>\[)?[ \t]*+{_PARTS}\](?(list)\])")
_TOML_KEY = regex(rf"[ \t]*+{_PARTS}=[ \t]*+")
_TOML_PART = regex(_PART)
_TOML_TOKEN = regex(
    rf"{_STRING}|#(?P<comment>[^\n]*+)|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<end>\n)|[^\"'#\[\]{{}}\n]++|.", re.DOTALL
)
_LINE_END = regex(r"[ \t]*+(?:#(?P<comment>[^\n]*+))?(?:\n|\Z)")


class _Table(msgspec.Struct):
    """A table of TOML with those in it; `items` is the list of which it is the last."""

    entry: DataEntry
    branch: DataBranch
    inner: dict[str, _Table] = {}
    items: DataBranch | None = None


def read_toml(text: str) -> DataBranch | None:
    """The tree of TOML; None if it is none, or too deep."""
    try:
        return _TomlReader(text.replace("\r\n", "\n")).read()
    except ValueError:
        return None


class _TomlReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._comments = CommentLines()

    def read(self) -> DataBranch:
        """The tree.

        Raises:
            ValueError: it is no TOML.
        """
        branch = DataBranch()
        table = root = _Table(DataEntry("", branch), branch)
        while self._position < len(self._text):
            if rest := _LINE_END.match(self._text, self._position):
                if rest["comment"] is None:
                    self._comments.end_paragraph()
                else:
                    self._comments.add(rest["comment"])
                self._position = rest.end()
            elif head := _TOML_HEAD.match(self._text, self._position):
                self._position = head.end()
                table = _open_table(root, _key_parts(head["key"]), is_list=head["list"] is not None)
                table.entry.comments = (*table.entry.comments, *self._comments.take())
                table.entry.remark = self._end_line()
            elif key := _TOML_KEY.match(self._text, self._position):
                self._position = key.end()
                *outer, last = _key_parts(key["key"])
                entry = DataEntry(last, "", self._comments.take())
                entry.value = self._value(entry)
                entry.remark = self._end_line()
                _inner_table(table, outer).branch.entries.append(entry)
            else:
                raise ValueError("no TOML")
        branch.comments = self._comments.take()
        return branch

    def _end_line(self) -> str:
        """The comment at the end of a line."""
        rest = _LINE_END.match(self._text, self._position)
        if rest is None:
            raise ValueError("no TOML")
        self._position = rest.end()
        return (rest["comment"] or "").strip()

    def _value(self, entry: DataEntry) -> str | DataBranch:
        """The value of an entry, above which the comments in a list are put."""
        depth, end = 0, len(self._text)
        comments = CommentLines()
        for token in _TOML_TOKEN.finditer(self._text, self._position):
            depth += (token["open"] is not None) - (token["close"] is not None)
            if depth == 0 and (token["end"] or token["comment"] is not None):
                end = token.start()
                break
            if token["comment"] is not None:
                comments.add(token["comment"])
        raw = self._text[self._position : end].strip()
        self._position, entry.comments = end, (*entry.comments, *comments.take())
        if raw[:1] not in ('"', "'", "[", "{") or len(raw) > MAX_VALUE_CHARS:
            return raw
        try:
            return tree_of(tomllib.loads(f"value = {raw}", parse_float=str)["value"])
        except (RecursionError, KeyError) as error:
            raise ValueError("too deep") from error


def _key_parts(key: str) -> list[str]:
    """The parts of a key such as `tool."my name".x`."""
    parts = [match[0] for match in _TOML_PART.finditer(key)]
    if len(parts) > MAX_KEY_PARTS:
        raise ValueError("too deep")
    return [part[1:-1] if part[0] in "\"'" else part for part in parts]


def _inner_table(table: _Table, parts: list[str]) -> _Table:
    for part in parts:
        if part not in table.inner:
            branch = DataBranch()
            entry = DataEntry(part, branch)
            table.branch.entries.append(entry)
            table.inner[part] = _Table(entry, branch)
        table = table.inner[part]
    return table


def _open_table(root: _Table, parts: list[str], *, is_list: bool) -> _Table:
    """The table of a head, a new one if it is another of a list."""
    if not is_list:
        return _inner_table(root, parts)
    outer, last = _inner_table(root, parts[:-1]), parts[-1]
    known = outer.inner.get(last)
    items = known.items if known is not None else None
    if items is None:
        items = DataBranch(is_list=True)
        outer.branch.entries.append(DataEntry(last, items))
    branch = DataBranch()
    entry = DataEntry("", branch)
    items.entries.append(entry)
    outer.inner[last] = _Table(entry, branch, items=items)
    return outer.inner[last]


# INI, .env and properties

MIN_SETTINGS_SHARE = 0.9
"""The share of lines that are sections or settings in such a file, without comments. By hand."""
MAX_CONTINUED_CHARS = 2_000
"""The lines below a longer value become items of a list, and no remark is looked for in it."""
PROPERTIES = ".properties"
JOINED = (PROPERTIES, ".service", ".socket", ".timer", ".mount")
"""Suffixes of files in which a backslash joins a line with the next; elsewhere it may be the end of a path."""
_SECTION = regex(r"\[(?P<section>[^\n]{1,300}?)\]\s*(?:[#;](?P<comment>.*))?")
_SETTING = regex(
    r"(?:export\s+)?(?P<key>[^\s=:\[{}()<>\"'][^=:\n]{0,200}?(?:\[[^\]\n]{0,40}\])?)\s*(?:=|:(?=\s|$))\s*(?P<value>.*)"
)
_PROPERTY = regex(r"(?P<key>(?:\\.|[^\\\s=:])++)\s*+[=:]?\s*+(?P<value>.*)")
_ESCAPE = regex(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"n": "\n", "t": " ", "r": "", "f": " "}
_REMARK = regex(r"\s[#;]\s+")
_QUOTED = regex(r"([\"'])(?P<text>(?:(?!\1).)*+)\1(?:\s++[#;](?P<remark>.*))?")


def read_settings(text: str, suffix: str) -> DataBranch | None:
    """The tree of a file whose name ends with `suffix`; None if most lines are no sections, settings or comments."""
    reader = _SettingsReader(is_properties=suffix == PROPERTIES)
    for line in _whole_lines(text) if suffix in JOINED else text.splitlines():
        reader.add(line)
    is_settings = reader.settings >= MIN_SETTINGS_SHARE * (reader.settings + reader.others)
    return reader.close() if is_settings else None


def _whole_lines(text: str) -> list[str]:
    """The lines, those that end with a backslash with the next."""
    lines: list[str] = []
    parts: list[str] = []
    for line in text.splitlines():
        is_comment = not parts and line.lstrip()[:1] in ("#", ";", "!")
        goes_on = not is_comment and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        parts.append((line.lstrip() if parts else line)[: -1 if goes_on else None])
        if not goes_on:
            lines.append("".join(parts))
            parts = []
    return [*lines, "".join(parts)] if parts else lines


class _SettingsReader:
    """Takes lines; `settings` and `others` count those that are sections or settings, and those that are neither."""

    def __init__(self, *, is_properties: bool) -> None:
        self.settings = self.others = 0
        self._is_properties = is_properties
        self._setting, self._signs = (_PROPERTY, "#!") if is_properties else (_SETTING, "#;")
        self._tree = self._section = DataBranch()
        self._comments = CommentLines()
        self._last: DataEntry | None = None
        self._indent = 0

    def add(self, line: str) -> None:
        body = line.strip()
        indent = len(line) - len(line.lstrip())
        if not body:
            self._comments.end_paragraph()
            self._last = None
        elif body[0] in self._signs:
            self._comments.add(body.lstrip(self._signs))
        elif self._last is not None and indent > self._indent and not self._is_properties:
            self._continue(self._last, body)
        elif not self._is_properties and (section := _SECTION.fullmatch(body)):
            self.settings += 1
            self._section, self._last = DataBranch(), None
            entry = DataEntry(
                section["section"].strip(), self._section, self._comments.take(), section["comment"] or ""
            )
            self._tree.entries.append(entry)
        elif setting := self._setting.fullmatch(body):
            self.settings += 1
            self._indent = indent
            self._last = self._entry(setting)
            self._section.entries.append(self._last)
        else:
            self.others += 1
            self._last = DataEntry("", body, self._comments.take())
            self._section.entries.append(self._last)

    def close(self) -> DataBranch:
        """The tree, at the end of the file."""
        self._section.comments = (*self._section.comments, *self._comments.take())
        return self._tree

    def _entry(self, setting: re.Match[str]) -> DataEntry:
        key, value, remark = setting["key"], setting["value"].strip(), ""
        if self._is_properties:
            key, value = (_ESCAPE.sub(_unescape, text) for text in (key, value))
            return DataEntry(key, value, self._comments.take())
        if quoted := _QUOTED.fullmatch(value):
            return DataEntry(key, quoted["text"], self._comments.take(), (quoted["remark"] or "").strip())
        signs = _REMARK.finditer(f" {value}") if len(value) < MAX_CONTINUED_CHARS else ()
        behind = next((match for match in signs if _is_outside(value[: match.start()])), None)
        if behind is not None:
            value, remark = value[: max(behind.start() - 1, 0)].strip(), value[behind.end() - 1 :].strip()
        return DataEntry(key, value, self._comments.take(), remark)

    def _continue(self, entry: DataEntry, line: str) -> None:
        """Add an indented line to the value above: one more of a list, if nothing stands behind its key."""
        if isinstance(entry.value, str):
            if 0 < len(entry.value) < MAX_CONTINUED_CHARS:
                entry.value += f" {line}"
                return
            entry.value = DataBranch([DataEntry("", entry.value)] if entry.value else [], is_list=True)
        entry.value.entries.append(DataEntry("", line, self._comments.take()))


def _is_outside(text: str) -> bool:
    """True if no quotation is open at the end of a text."""
    return text.count('"') % 2 == 0 and text.count("'") % 2 == 0


def _unescape(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])
