"""Passages as the model reads them: header fields, and sentences with the text above and around them."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from assay.core import markers
from assay.core.lazy import regex
from assay.core.plain_text import sections, spaced_rows
from assay.core.relevance.signs import is_question
from assay.core.relevance.topic_question import QuotableStatement, StatementKind
from assay.core.sources import ordinal_of
from assay.core.tables.cells import without_place
from assay.core.tables.heads import is_head
from assay.core.text import ends_sentence, is_unspaced, sentences, separate_lines, without_stamp, words

_FIELD = regex(
    r"\s*(?:[-*+]\s+)?[*_]{0,2}(?P<key>[^\W\d_][\w /()'.#-]{0,38}?)[*_]{0,2}\s*"
    r"(?::|：)[*_]{0,2}(?:\s+|(?<=：))(?P<value>\S.*)",
    re.DOTALL,
)
_OPTION = regex(r"(?<![\w`])--[a-z]")
"""An option of a command, as prose writes it between backticks; two of them make the text a command."""
_RULE = regex(r"^[=\-~^*#+.`_]{3,}$", re.MULTILINE)
BULLET = regex(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ITEM = regex(r"^[ \t]*(?:[-*+•]|(?P<number>\d{1,3})[.)])[ \t]+(?=\S)", re.MULTILINE)
_STRUCTURE = ("#", "|", ">", "```", "~~~", "---", "<", "..", "![", ":", "$")
_URL = regex(r"\]\([^)\s]*\)|https?://\S+")
_BRACE = regex(r"(?<!\S)[{}](?!\S)")
"""A brace alone, as code has it."""
_NAVIGATION = regex(r"(?:next|prev(?:ious)?|up|top):\s.*[,|]?\s(?:next|prev(?:ious)?|up):\s", re.IGNORECASE)
"""Links to the pages around, as Texinfo writes them on one line."""
_LINK_TARGET = regex(r"\[[^\]]+\]:\s")
_ONLY_LINK = regex(r"\s*\[[^\[\]]*\]\([^()\s]*\)\s*")
"""A link and nothing else: what stands in it is a title."""
_CODE = regex(
    r"[{};]\s*$|^\s*[\w.\[\]\"']+\s*(?:[:+*/-]?=|->)\s*\S.*$"
    r"|^\s*(?:(?:async )?def|class|import|from|let|fn|pub|func|var|const|return)\b.*[:({;]?$"
    r"|^\s*@[\w.]+(?:\(.*\))?\s*$|^\s*[\w.]+\([^()]*\)\s*$|^\s+(?:#|//)\s.*$",
    re.MULTILINE,
)
_PROMPT = regex(r"^\s*(?:>>>|In \[\d+\]:|\$|[\w.~/@:-]*[$#]) \S", re.MULTILINE)
"""A line typed at the prompt of an interpreter or a shell: what follows is its output."""

_CUT_FROM = ",;) "
"""The text that may stand before a sentence whose passage begins inside a longer one."""
TERM_WORDS = 8
"""The most words of a name in a list of definitions."""
OPENING_WORDS = 2
"""The most words of a first sentence that says nothing by itself: "No.", "A: Nothing."."""
ITEM_WORDS, LINE_WORDS = 4, 8
"""The fewest words that say something without a full stop: of an item of a list or a line of notes; of other lines, for
fewer may be a heading or a label.
"""
UNSPACED_LINE = 16
"""As `LINE_WORDS`, the characters of a line in a script without spaces."""
Style = Literal["", "notes", "prose"]
"""How a document writes, if known. A paragraph of one line that does not end like a sentence is a title or a caption in
`prose`; in `notes` it says as much as one that does.
"""
MAX_SETTING_CHARS = 100
"""Characters of a sentence that is a name with its value; the rules for prose apply to a longer one."""
_SET_OFF = ":：.,;!?-–—=|"
"""Signs at the end of a name that set it off from its description."""
MAX_SENTENCE_CHARS = 700
"""Characters of a sentence that may be quoted."""


class PassageField(msgspec.Struct, frozen=True):
    """A header field: its key as written, its words joined by spaces, its value on one line, its passage."""

    key: str
    name: str
    value: str
    passage: str


class PassageSentence(msgspec.Struct, frozen=True):
    """A sentence of a passage on one line.

    `kind` is "prose" or "row" (a table row, a line with a key). `heading` is shown above it; `label` is the
    name it describes, as in a list of definitions, or its table's column headers. `entry` is what it gives a value
    of, and `key` names that value. `name` is the entry of a reference that it is about, "" if it stands in none; it
    begins with `term`, the first line of its passage, if it describes that. In a conversation `speaker` says it, in a
    turn that may begin in earlier passages (`said_from`), and `name` is the speaker's, behind the time.
    """

    text: str
    passage: str
    ordinal: int
    kind: StatementKind = "prose"
    heading: str = ""
    label: str = ""
    entry: str = ""
    key: str = ""
    name: str = ""
    term: str = ""
    speaker: str = ""
    said_from: tuple[str, ...] = ()

    def with_name(self, name: str, text: str) -> str:
        """Its `text` behind a name, if it does not say it; a name that it describes is set off from the description."""
        if name and name not in text and not _begins_with(text, name):
            return f"{name}: {text}"
        described = text.removeprefix(f"{self.term} ") if self.term and self.term[-1] not in _SET_OFF else text
        if described != text and _begins_with(described, self.term):
            return described
        # in lower case it goes on with the sentence that the term begins
        return text if described == text or described[:1].islower() else f"{self.term}: {described}"

    def without_name(self, text: str) -> str:
        """The inverse of `with_name`."""
        names = (name for name in (self.term, self.entry, self.name) if name and text.startswith(f"{name}: "))
        return next((text[len(name) + 2 :] for name in names), text)

    def statement(self, source: int, title: str, address: str = "") -> QuotableStatement:
        """The sentence as a statement for `core.relevance`, in the document at place `source` among those shown."""
        return QuotableStatement(
            text=self.text,
            source=source,
            position=self.ordinal,
            label=self.label,
            heading=self.heading,
            title=title,
            address=address,
            kind=self.kind,
            entry=self.entry,
            key=self.key,
            speaker=self.speaker,
        )


def one_line(text: str) -> str:
    """`text` with single spaces for white space."""
    return " ".join(text.split())


def _begins_with(text: str, name: str) -> bool:
    """True if a text begins with a name, however both are set: "`Timeout`", "timeout: …"."""
    name_words = words(name)
    return bool(name_words) and words(text)[: len(name_words)] == name_words


@lru_cache(maxsize=4096)
def read_field(passage: str, text: str) -> PassageField | None:
    """The header field in a passage; None if it has none."""
    match = _FIELD.fullmatch(text)
    if (
        match is None
        or len(match["key"]) == 1  # "Q: …", "A: …" of a FAQ
        or is_record(text)
        or _key_lines(text)
        or len(match["key"].split()) > 4
        or "\n\n" in text
        or re.search(r"\d", match["key"])
    ):
        return None
    value = one_line(match["value"])
    if ends_sentence(value) and (BULLET.match(text) or len(sentences(value)) > 1):
        return None  # prose behind a word for what it is about, as in minutes: "- **Regatta**: 23 crews started."
    if match["value"].startswith("**") or value.endswith("**"):
        value = value.removeprefix("**").removesuffix("**") if value.count("**") <= 2 else value
    name = " ".join(words(match["key"]))
    if not name or not value or _is_unsafe(value):
        return None
    return PassageField(key=match["key"].strip(), name=name, value=value, passage=passage)


@lru_cache(maxsize=4096)
def quotable_sentences(passage: str, text: str, style: Style = "") -> tuple[PassageSentence, ...]:
    """The sentences of a passage that a report may quote, in a document of this style."""
    ordinal = ordinal_of(passage)
    if is_heading_or_code(text) or _ONLY_LINK.fullmatch(text):
        return ()
    if _is_row(text):
        return _row_sentences(passage, ordinal, text)
    if is_record(text):
        return _line_sentences(passage, ordinal, without_place(text))
    if lines := _key_lines(text):
        return tuple(sentence for line in lines for sentence in _line_sentences(passage, ordinal, line))
    if cells := spaced_rows(text):
        return _spaced_rows(passage, ordinal, text, cells)
    if (field := read_field(passage, text)) and not ends_sentence(field.value):
        return _line_sentences(passage, ordinal, one_line(BULLET.sub("", text, count=1)))
    section_sentences = (
        _prose_sentences(passage, ordinal, text[start:end], title, style) for title, start, end in sections(text)
    )
    return tuple(sentence for part in section_sentences for sentence in part) or _name_with_value(
        passage, ordinal, text
    )


def _name_with_value(passage: str, ordinal: int, text: str) -> tuple[PassageSentence, ...]:
    """A name with a value below it that is no sentence, as in a list of definitions: "Default value", "25"."""
    line = one_line(text)
    return _line_sentences(passage, ordinal, line) if described_name(text) and len(line) <= MAX_SETTING_CHARS else ()


def _prose_sentences(passage: str, ordinal: int, text: str, title: str, style: Style) -> Iterator[PassageSentence]:
    """The sentences of a text below a numbered title ("" if none is above it)."""
    items = items_of(text)
    name = one_line(items[0]) if len(items) > 1 and len(items[0].split()) < ITEM_WORDS else ""
    for item in items:
        body = BULLET.sub("", item, count=1)
        is_item = len(items) > 1 or body != item or bool(described_name(item))
        alone = style == "prose" and "\n" not in text.strip()
        words = ITEM_WORDS if is_item or (style != "" and not title and not alone) else 0 if alone else LINE_WORDS
        for start, end in _sentence_spans(body):
            line = one_line(body[start:end]).lstrip(_CUT_FROM)
            heading = f"{title} {name}".strip()
            for part in _parts(line):
                if _is_quotable(part, words):
                    yield PassageSentence(part, passage, ordinal, heading=heading)
                elif _sets_value(part):
                    yield from (
                        msgspec.structs.replace(row, heading=heading) for row in _line_sentences(passage, ordinal, part)
                    )


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of a text; a first one of a word or two ("No.") together with the next."""
    spans = sentences(text)
    if (
        len(spans) > 1
        and len(words(text[slice(*spans[0])])) <= OPENING_WORDS
        and not is_question(text[slice(*spans[0])])
    ):
        return [(spans[0][0], spans[1][1]), *spans[2:]]
    return spans


def items_of(text: str) -> list[str]:
    """The items of a list, or the lines of notes or a log; the text itself if it is none of these."""
    starts = [0, *_item_starts(text), len(text)]
    if len(items := [item for start, end in pairwise(starts) if (item := text[start:end]).strip()]) > 1:
        return items
    return [text[start:end] for start, end in separate_lines(text)] or [text]


def _item_starts(text: str) -> Iterator[int]:
    """Where items begin. A number that does not count on ends the sentence above: "are divisible by", "400. So"."""
    last = 0
    for item in _ITEM.finditer(text):
        number = int(item["number"] or 0)
        if number <= 1 or number == last + 1 or not text[: item.start()].strip():
            last = number or last
            yield item.start()


def _parts(line: str) -> list[str]:
    """A sentence; or, if it is too long to be quoted, what is between its spaces in a script that ends no sentence."""
    if len(line) <= MAX_SENTENCE_CHARS or not is_unspaced(line):
        return [line]
    return textwrap.wrap(line, MAX_SENTENCE_CHARS // 2, break_long_words=False, break_on_hyphens=False)


def _is_row(text: str) -> bool:
    return text.lstrip().startswith("|")


_RECORD = regex(r"[^:|\n]{1,80}: [^|\n]*\S(?: \| [^:|\n]{1,80}: [^|\n]*\S)+")


def is_record(text: str) -> bool:
    """True if a passage is a table row with its headers: `country: France | year: 2020`."""
    return _RECORD.fullmatch(text) is not None


def is_row(text: str) -> bool:
    """True if a passage is a table row in any form."""
    return _is_row(text) or is_record(text)


def is_in_table(text: str) -> bool:
    """True if a passage is a table row in any form, or has rows whose columns only spaces set apart."""
    return is_row(text) or bool(spaced_rows(text))


def _row_sentences(passage: str, ordinal: int, text: str) -> tuple[PassageSentence, ...]:
    line = one_line(text).strip("| ")
    return () if set(line) <= set("-|: +=") else _line_sentences(passage, ordinal, line)


def _line_sentences(passage: str, ordinal: int, line: str) -> tuple[PassageSentence, ...]:
    """A table row, or a line with a key and a value, quoted as a whole."""
    is_address = len(_URL.sub("", line)) * 2 < len(line)
    return (
        () if is_address or _is_unsafe(line) or len(line) > 500 else (PassageSentence(line, passage, ordinal, "row"),)
    )


def _spaced_rows(
    passage: str, ordinal: int, text: str, rows: Sequence[Sequence[tuple[int, int]]]
) -> tuple[PassageSentence, ...]:
    """The rows whose columns only spaces set apart, each labelled with the headers if the first line has them."""
    cells = [[text[start:end] for start, end in row] for row in rows]
    has_header = is_head(cells[0], cells[1:])
    label = one_line(" ".join(cells[0])) if has_header else ""
    lines = (one_line(" ".join(row)) for row in cells[has_header:])
    return tuple(
        msgspec.structs.replace(sentence, label=label)
        for line in lines
        for sentence in _line_sentences(passage, ordinal, line)
    )


_KEYED = regex(r"[*_]{0,2}[^\W_][^:|\n]{0,80}:\s+\S.*")


def _key_lines(text: str) -> list[str]:
    """The lines of a passage in which every line has a key and a value, as in a country's profile."""
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    return lines if len(lines) > 1 and all(map(_KEYED.fullmatch, lines)) else []


def is_heading_or_code(text: str) -> bool:
    """True if a passage is a heading or mostly code."""
    stripped = text.strip()
    if stripped.startswith(("#", "```", "~~~", "    ", "<!--", ".. ")) or "```" in stripped:
        return True
    if _RULE.search(stripped) and len(stripped) < 200 and stripped.count("\n") <= 2:
        return True
    lines = stripped.count("\n") + 1
    return len(_CODE.findall(stripped)) * 2 > lines or bool(_PROMPT.match(stripped))


def _is_quotable(line: str, fewest: int) -> bool:
    """True if a line says something: a sentence, or without its end at least so many words (0: no number is enough)."""
    letters = sum(map(_is_letter, line))
    if line[:1] in ("*", "_") and line[-1:] == line[:1] and fewest == ITEM_WORDS:
        fewest = LINE_WORDS  # emphasized, as a title is
    long = fewest > 0 and (len(line.split()) >= fewest or (is_unspaced(line) and len(line) >= UNSPACED_LINE))
    ended = ends_sentence(line) or (fewest == ITEM_WORDS and len(line.split()) >= fewest)
    return (
        letters
        >= (4 if is_unspaced(line) else 6 if ended and len(line.split()) > 2 else 8 if not line.isascii() else 16)
        and len(line) <= MAX_SENTENCE_CHARS
        and letters * 2 > len(without_stamp(line))
        and (" " in line or not line.isascii())
        and not line.startswith(_STRUCTURE)
        and not (_LINK_TARGET.match(line) or _NAVIGATION.match(line))
        and not line.endswith((":", "：", "…", "..."))
        and line.count(" = ") < 2
        and not _BRACE.search(line)
        and len(_OPTION.findall(line)) < 2
        and (ended or long)
        and len(_URL.sub("", line)) * 2 > len(line)
        and not _is_unsafe(line)
    )


def _sets_value(line: str) -> bool:
    """True if a sentence gives the value of something named in words ("Default: `5000` (5 seconds)."): it has few
    letters itself, and the head of its entry names what has the value.
    """
    field = read_field("", line) if len(line) <= MAX_SETTING_CHARS and ends_sentence(line) else None
    return field is not None and sum(map(_is_letter, field.key)) * 2 > len(field.key)


def _is_letter(sign: str) -> bool:
    """True if a character is a letter, or a mark that belongs to one, as half of the characters in Hindi do."""
    return sign.isalpha() or (not sign.isascii() and unicodedata.category(sign)[0] == "M")


def _is_unsafe(line: str) -> bool:
    """True if a line contains something that reads as one of our citations, or opens a code span without closing it."""
    return bool(markers.parse_markers(line)) or line.count("`") % 2 == 1


def described_name(text: str) -> str:
    """The name on the first line of a passage, if its description follows; else ""."""
    first, _, rest = text.partition("\n")
    fits = (
        rest[:1].isspace()
        and len(first.split()) <= TERM_WORDS
        and not ends_sentence(first)
        and first[-1:] not in ",;-|{[("
    )
    return first if fits and any(map(str.isalpha, first)) else ""
