"""Passages as the model reads them: header fields, and sentences with what stands above and around each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest

import msgspec

from assay.core import markers, shown
from assay.core.relevance.statements import Kind
from assay.core.sources import ordinal_of
from assay.core.text import sentences, words
from assay.models.extractive.terms import is_cjk, stems

_FIELD = re.compile(
    r"\s*(?:[-*+]\s+)?[*_]{0,2}(?P<key>[^\W\d_][\w /()'.#-]{0,38}?)[*_]{0,2}\s*"
    r"(?::|：)[*_]{0,2}(?:\s+|(?<=：))(?P<value>\S.*)",
    re.DOTALL,
)
_OPTION = re.compile(r"(?<![\w`])--[a-z]")
"""An option of a command which stands as code does not, and in prose does, between backticks: two make a command."""
_RULE = re.compile(r"^[=\-~^*#+.`_]{3,}$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_STRUCTURE = ("#", "|", ">", "```", "~~~", "---", "<", "..", "![", ":", "$")
_URL = re.compile(r"\]\([^)\s]*\)|https?://\S+")
_LINK_TARGET = re.compile(r"\[[^\]]+\]:\s")
_END = (".", "!", "?", "。", "！", "？", "؟", "…", "।", "｡")
_CODE = re.compile(
    r"[{};]\s*$|^\s*[\w.\[\]\"']+\s*(?:[:+*/-]?=|->)\s*\S.*$"
    r"|^\s*(?:def|class|import|from|let|fn|pub|func|var|const|return)\b.*[:({;]?$",
    re.MULTILINE,
)

_ASSIGNED = re.compile(
    r"(?:(?:const|let|var|static|final|pub|export|set)\s+)*[A-Za-z_][\w.\[\]\"'-]{2,}\s*(?::[\w\s&<>\[\]]+)?(?:=|:=?)\s*\S"
)
_VERB = re.compile(r"is|are|was|were|has|have|had|be|been|ist|sind|war|hat|does|did|can|will|must|\w{2,}(?:ed|s|te|en)")


GAP = 12
"""Passages left out between two shown from which a heading or name above the first no longer counts for the second."""
TERM_WORDS = 8
"""Words the name in a list of definitions has at most."""


class Field(msgspec.Struct, frozen=True):
    """A header field: its key as written, its words joined by spaces, its value on one line, its passage."""

    key: str
    name: str
    value: str
    passage: str
    ordinal: int


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a passage on one line.

    `kind` is "prose", "row" (a table row, a line with a key) or "code". `heading` is shown above it; `label` is
    the name it describes, as in a list of definitions, or the heads of its table's columns.
    """

    text: str
    passage: str
    ordinal: int
    kind: Kind = "prose"
    heading: str = ""
    label: str = ""


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())


@lru_cache(maxsize=4096)
def read_field(passage: str, text: str) -> Field | None:
    """The field a passage is, if it is one."""
    match = _FIELD.fullmatch(text)
    if (
        match is None
        or is_record(text)
        or _keyed(text)
        or len(match["key"].split()) > 4
        or "\n\n" in text
        or re.search(r"\d", match["key"])
    ):
        return None
    value = one_line(match["value"])
    if match["value"].startswith("**") or value.endswith("**"):
        value = value.removeprefix("**").removesuffix("**") if value.count("**") <= 2 else value
    name = " ".join(words(match["key"]))
    if not name or not value or _unsafe(value):
        return None
    return Field(key=match["key"].strip(), name=name, value=value, passage=passage, ordinal=ordinal_of(passage))


@lru_cache(maxsize=4096)
def split(passage: str, text: str) -> tuple[Sentence, ...]:
    """The sentences of a passage which may stand in a report."""
    place = ordinal_of(passage)
    if _is_heading_or_code(text):
        return _code(passage, place, text)
    if _is_row(text):
        return _row(passage, place, text)
    if is_record(text):
        return _line(passage, place, text)
    if lines := _keyed(text):
        return tuple(each for line in lines for each in _line(passage, place, line))
    body = _BULLET.sub("", text, count=1)
    if (field := read_field(passage, text)) and not ends(field.value):
        return _line(passage, place, one_line(body))
    found = []
    for start, end in sentences(body):
        line = one_line(_BULLET.sub("", body[start:end], count=1))
        if _quotable(line):
            found.append(Sentence(line, passage, place))
    return tuple(found)


def _code(passage: str, place: int, text: str) -> tuple[Sentence, ...]:
    """The lines of code which give a name a value; prose does not quote others."""
    if "```" not in text and "~~~" not in text and not _CODE.search(text):
        return ()
    lines = (line.strip() for line in text.splitlines())
    return tuple(
        Sentence(line, passage, place, "code")
        for line in lines
        if len(line) <= 200 and _ASSIGNED.match(line) and not _unsafe(line)
    )


def _is_row(text: str) -> bool:
    return text.lstrip().startswith("|")


_RECORD = re.compile(r"[^:|\n]{1,80}: [^|\n]*\S(?: \| [^:|\n]{1,80}: [^|\n]*\S)+")


def is_record(text: str) -> bool:
    """Whether a passage is a table row which carries its headers: `country: France | year: 2020`."""
    return _RECORD.fullmatch(text) is not None


def _row(passage: str, place: int, text: str) -> tuple[Sentence, ...]:
    line = one_line(text).strip("| ")
    return () if set(line) <= set("-|: +=") else _line(passage, place, line)


def _line(passage: str, place: int, line: str) -> tuple[Sentence, ...]:
    """A table row, or a line with a key and a value, quoted as a whole."""
    bare = len(_URL.sub("", line)) * 2 < len(line)
    return () if bare or _unsafe(line) or len(line) > 500 else (Sentence(line, passage, place, "row"),)


_KEYED = re.compile(r"[^\W_][^:|\n]{0,80}:\s+\S.*")


def _keyed(text: str) -> list[str]:
    """The lines of a passage all of which have a key and a value, as a country's profile has: each says one thing."""
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    return lines if len(lines) > 1 and all(map(_KEYED.fullmatch, lines)) else []


def _is_name_list(line: str) -> bool:
    """Whether a line is names and little else: nothing is said of them."""
    found = re.findall(r"[^\W\d_][\w.'’-]*", line)
    small = [word for word in found if word[0].islower()]
    capitals = sum(word[0].isupper() for word in found)
    return len(found) >= 6 and capitals >= 0.7 * len(found) and not any(_VERB.fullmatch(word) for word in small)


def _is_heading(text: str) -> bool:
    """Whether a passage nobody would quote looks like a heading: a short line."""
    return len(text) < 100 and "\n" not in text.strip() and not text.lstrip().startswith(("|", "```"))


def _is_heading_or_code(text: str) -> bool:
    stripped = text.strip()
    if stripped.startswith(("#", "```", "~~~", "    ", "<!--", ".. ")) or "```" in stripped:
        return True
    if _RULE.search(stripped) and len(stripped) < 200 and stripped.count("\n") <= 2:
        return True
    lines = stripped.count("\n") + 1
    return len(_CODE.findall(stripped)) * 2 > lines


def _quotable(line: str) -> bool:
    letters = sum(letter.isalpha() for letter in line)
    return (
        letters
        >= (4 if is_cjk(line) else 6 if ends(line) and len(line.split()) > 2 else 8 if not line.isascii() else 16)
        and len(line) <= 700
        and letters * 2 > len(line)
        and not line.startswith(_STRUCTURE)
        and not _LINK_TARGET.match(line)
        and not line.endswith((":", "：", "…", "..."))
        and line.count(" = ") < 2
        and len(_OPTION.findall(line)) < 2
        and (ends(line) or _long(line))
        and len(_URL.sub("", line)) * 2 > len(line)
        and not _unsafe(line)
        and (is_cjk(line) or not _is_name_list(line))
    )


def ends(line: str) -> bool:
    """Whether a line ends as sentences do."""
    return line.rstrip("\"'”’»›)]*_`」』】）").endswith(_END)


def _long(line: str) -> bool:
    """Whether a line without a sentence's end is more than a heading or a label."""
    return len(line.split()) >= 8 or (is_cjk(line) and len(line) >= 16)


def _unsafe(line: str) -> bool:
    """Whether a line holds what would be read as a citation of ours, or opens a code span without closing it."""
    return bool(markers.parse(line)) or line.count("`") % 2 == 1


# what stands above


class Above(msgspec.Struct, frozen=True):
    """What holds for a passage from those before it: heading, name described, table heads."""

    heading: str = ""
    term: str = ""
    columns: str | None = None
    last: int = -1


def place(passages: Sequence[shown.ShownPassage]) -> list[Sentence]:
    """Every sentence of `passages` (of one document, in order) which can be quoted, each once."""
    found: dict[str, Sentence] = {}
    above = Above()
    for passage, after in zip_longest(passages, passages[1:]):
        above = _above(passage, after, above)
        for sentence in [] if _is_head(passage, after, above) else split(passage.id, passage.text):
            label = (above.columns or above.term) if sentence.kind == "row" else above.term
            placed = msgspec.structs.replace(sentence, heading=above.heading, label=label)
            found.setdefault(sentence.text, placed)
    return list(found.values())


def _above(passage: shown.ShownPassage, after: shown.ShownPassage | None, above: Above) -> Above:
    """What holds for `passage` and those after it."""
    at = ordinal_of(passage.id)
    if above.last >= 0 and at - above.last > GAP:
        above = Above()
    if not _is_row(passage.text):
        above = msgspec.structs.replace(above, columns=None)
    elif above.columns is None and after is not None and _is_row(after.text):
        above = msgspec.structs.replace(above, columns=passage.text)
    if name := _described(passage.text):
        above = msgspec.structs.replace(above, term=name)
    elif not split(passage.id, passage.text) and _is_heading(passage.text):
        above = Above(heading=passage.text)
    return msgspec.structs.replace(above, last=at)


def _is_head(passage: shown.ShownPassage, after: shown.ShownPassage | None, above: Above) -> bool:
    """Whether a passage is the first row of a table, which names its columns."""
    first = above.columns is not None and above.columns == passage.text
    return first and _is_row(passage.text) and after is not None and _is_row(after.text)


def _described(text: str) -> str:
    """The name which a passage begins with on a line of its own, above its description further in; else ""."""
    first, _, rest = text.partition("\n")
    fits = rest[:1].isspace() and len(first.split()) <= TERM_WORDS and not ends(first) and first[-1:] not in ",;-|"
    return first if fits and any(map(str.isalpha, first)) else ""


@lru_cache(maxsize=8192)
def keys(text: str) -> frozenset[str]:
    """The keys of all words of `text`."""
    return frozenset(stems(text))
