"""Lists of references as trees: BibTeX and RIS, as programs for citations write them."""

from __future__ import annotations

import re
import unicodedata

from assay.core.lazy import regex
from assay.fetch.data_trees import DataBranch, DataEntry

# BibTeX

MAX_NAMED_CHARS = 200
"""A longer text is not put in the place of its name: a few bytes could stand for gigabytes."""
MAX_JOINED = 20
"""Of so many pieces of a value names are replaced."""
_ENTRY = regex(r"@\s*(?P<kind>\w+)\s*[{(]\s*(?P<key>[^\s,{}()=\"]*)\s*(?P<after>[,})=]|\Z)")
_FIELD = regex(r"[\s,]*+(?P<name>[\w:.-]+)\s*+=\s*+")
_BARE = regex(r"[^\s,{}()#\"]++")
_JOIN = regex(r"\s*+#\s*+")
_SIGN = regex(r"\\.|[{}\"]", re.DOTALL)
_LATEX = regex(
    r"\\(?P<accent>[\"'`^~=.]|[cvuHkr](?![A-Za-z]))\s*\{?(?P<letter>\\?[A-Za-z])\}?"
    r"|\\(?P<name>[A-Za-z]+)[ \t]*|\\(?P<sign>.)|[{}]|~"
)
_VERBATIM = frozenset(("url", "doi", "eprint", "file"))
"""Fields in which the signs of LaTeX are none."""
_ACCENTS = dict(
    zip("\"'`^~=.cvuHkr", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a", strict=True)
)
_LETTERS = {
    "o": "ø",
    "O": "Ø",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "ss": "ß",
    "aa": "å",
    "AA": "Å",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
    "textendash": "–",
    "textemdash": "—",
    "ldots": "…",
}


def read_bibtex(text: str) -> DataBranch | None:
    """The entries of a list in BibTeX; None if it has none."""
    names: dict[str, str] = {}
    entries: list[DataEntry] = []
    position = 0
    while found := _ENTRY.search(text, position):
        position = found.end()
        kind = found["kind"].lower()
        if kind in ("comment", "preamble"):
            continue
        if kind == "string":
            fields, position = _fields(text, found.start("key"), names)
            names |= {name: value for name, value in fields if len(value) <= MAX_NAMED_CHARS}
        elif found["after"] == ",":
            fields, position = _fields(text, position, names)
            entries.append(_reference([("type", kind), ("key", found["key"]), *fields]))
    return DataBranch(entries, is_list=True) if entries else None


def _fields(text: str, position: int, names: dict[str, str]) -> tuple[list[tuple[str, str]], int]:
    """The fields of an entry, as plain text, and where it ends."""
    fields: list[tuple[str, str]] = []
    while found := _FIELD.match(text, position):
        parts: list[str] = []
        position = found.end()
        while True:
            part, position = _value(text, position, names if len(parts) < MAX_JOINED else {})
            parts.append(part)
            if (joined := _JOIN.match(text, position)) is None:
                break
            position = joined.end()
        name, value = found["name"].lower(), "".join(parts)
        fields.append((name, value.strip("{} \n") if name in _VERBATIM else _plain(value)))
    return fields, position


def _value(text: str, position: int, names: dict[str, str]) -> tuple[str, int]:
    """A value in braces or quotation marks, a number or a name, and where it ends."""
    if text[position : position + 1] in ("{", '"'):
        depth, is_quoted = 0, text[position] == '"'
        for sign in _SIGN.finditer(text, position + 1):
            if depth == 0 and sign[0] == ('"' if is_quoted else "}"):
                return text[position + 1 : sign.start()], sign.end()
            depth += (sign[0] == "{") - (sign[0] == "}")
        return text[position + 1 :], len(text)
    bare = _BARE.match(text, position)
    return (names.get(bare[0].lower(), bare[0]), bare.end()) if bare else ("", position)


def _plain(latex: str) -> str:
    """A value without the marks of LaTeX, with the letters that they stand for."""

    def letter(match: re.Match[str]) -> str:
        if match["accent"]:
            return unicodedata.normalize("NFC", match["letter"].lstrip("\\") + _ACCENTS[match["accent"]])
        if match["name"]:
            return _LETTERS.get(match["name"], "")
        return match["sign"] or (" " if match[0] == "~" else "")

    return " ".join(_LATEX.sub(letter, latex).replace("---", "—").replace("--", "–").split())


def _reference(fields: list[tuple[str, str]]) -> DataEntry:
    """An entry with its title first, by which it is known."""
    filled = [(name, value) for name, value in fields if value]
    ordered = sorted(filled, key=lambda field: field[0] != "title")
    return DataEntry("", DataBranch([DataEntry(name, value) for name, value in ordered]))


# RIS

_TAG = regex(r"(?P<tag>[A-Z][A-Z0-9])  - ?(?P<value>.*)")
_TAGS = {
    **dict.fromkeys(("AU", "A1"), "author"),
    **dict.fromkeys(("A2", "ED"), "editor"),
    **dict.fromkeys(("TI", "T1"), "title"),
    **dict.fromkeys(("JO", "JF", "JA", "T2"), "journal"),
    **dict.fromkeys(("PY", "Y1"), "year"),
    **dict.fromkeys(("AB", "N2"), "abstract"),
    "TY": "type",
    "ID": "key",
    "VL": "volume",
    "IS": "number",
    "SP": "first page",
    "EP": "last page",
    "DO": "doi",
    "UR": "url",
    "KW": "keywords",
    "PB": "publisher",
    "CY": "address",
    "SN": "isbn or issn",
    "LA": "language",
    "DA": "date",
    "ET": "edition",
    "N1": "note",
}


def read_ris(text: str) -> DataBranch | None:
    """The entries of a list in RIS, also of one that breaks off; None if it has none."""
    entries: list[DataEntry] = []
    fields: dict[str, list[list[str]]] = {}
    lines: list[str] = []
    for line in (*text.splitlines(), "ER  - "):
        found = _TAG.match(line)
        if found is None:
            lines.append(line)
            continue
        if fields and found["tag"] in ("TY", "ER"):
            entries.append(_reference([(name, _join_values(values)) for name, values in fields.items()]))
            fields = {}
        if found["tag"] != "ER":
            lines = [found["value"]]
            fields.setdefault(_TAGS.get(found["tag"], found["tag"]), []).append(lines)
    return DataBranch(entries, is_list=True) if entries else None


def _join_values(values: list[list[str]]) -> str:
    """The values of a field, each of several lines: names hold commas, so a semicolon stands between them."""
    return "; ".join(dict.fromkeys(" ".join(" ".join(lines).split()) for lines in values))
