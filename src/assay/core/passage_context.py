"""The lines in which tools show passages to models: one writer, one reader.

    ## S2003 Title <url> (scholarly, 2021-03-04)
    -- under Installing > On Debian
    [S2003.17] text of the passage
      its second line, indented by two spaces
    -- under Installing > On Debian
    -- about | Port | Depth |
    [S2003.18] another passage

Lines with `--` say what the passages below them, up to the next such line, stand under, are about (the term they
describe, the head row of their table), and come after (`-- after The options are:`); `--` alone ends that.

No title, address or passage can forge a line: what a passage holds beyond its first line is indented, and what breaks
a line in a title or an address is escaped. In brackets stand what kind of source it is, when it was published, and what
was published about it later (`retraction 2010-02-06`), as far as they are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.sources import SOURCE_KINDS, Notice, Passage, Source, SourceKind

_DAY = regex(r"\d{4}(?:-\d{2}){0,2}", re.ASCII)
_NOTICE = regex(rf"([a-z_]{{1,40}})(?: ({_DAY.pattern}))?", re.ASCII)
_HEADER = regex(r"## (S\d+) (.*) <([^<>]*)>(?: \(([a-z0-9_ ,-]{0,400})\))?", re.ASCII)
_MAX_NOTICES = 5
_CONTEXT = regex(r"--(?: (under|about|after) (.+))?")
_MAX_CONTEXT_CHARS = 300
_PASSAGE = regex(r"\[((S\d+)\.\d+)\] (.*)", re.DOTALL)
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_ESCAPED = {also: regex(f"[{_BREAKS}{also}]") for also in ("", "<>")}
_SOFT_BREAK = regex("\r(?!\n)|[\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_NEXT_LINE = "  "
_SAME_LINE = " ~"
"""Begins a line that continues after a character that some readers treat as a line break."""


class PassageContext(NamedTuple):
    """The context shown with a passage: the headings above it, its topic, the sentence before it."""

    under: str = ""
    about: str = ""
    after: str = ""


_NAMES = PassageContext._fields
_PassageParts = tuple[str, list[str], Mapping[str, str]]
"""A passage's id, the parts of its text, and its context."""


class ShownPassage(msgspec.Struct, frozen=True):
    """A passage as a model was shown it: its headings (`under`), topic (`about`) and preceding sentence (`after`)."""

    id: str
    source: str
    text: str
    under: str = ""
    about: str = ""
    after: str = ""


class ShownSource(msgspec.Struct, frozen=True):
    """A source as a model was shown it, with its passages."""

    id: str
    title: str
    url: str
    passages: tuple[ShownPassage, ...] = ()
    kind: SourceKind = "unknown"
    published: str = ""
    notices: tuple[str, ...] = ()


def format_source(source: Source, passages: Sequence[Passage]) -> str:
    """The lines for a source and its passages, without a final line break.

    Raises:
        ValueError: a passage belongs to another source.
    """
    lines = [f"## {source.id} {_escape(source.title, '')} <{_escape(source.url, '<>')}>{_source_facts(source)}"]
    above, title, before = PassageContext(), one_line(source.title).casefold(), None
    for passage in passages:
        if passage.source != source.id:
            raise ValueError(f"passage {passage.id} is not of source {source.id}")
        facts = (passage.heading, passage.label, passage.lead)
        if facts != before:  # most passages have the context of the one before
            context, before = _context(passage, title), facts
            if context != above:
                lines += [f"-- {name} {text}" for name, text in zip(_NAMES, context, strict=True) if text] or ["--"]
                above = context
        lines.append(f"[{passage.id}] {_indent(passage.text)}")
    return "\n".join(lines)


def read_sources(text: str) -> list[ShownSource]:
    """Every source shown in `text`, in order; lines that `format_source` did not write are skipped.

    A passage line counts only below the header of its own source. Reads exactly what `format_source` wrote.
    """
    headers: list[re.Match[str]] = []
    passage_lists: list[list[_PassageParts]] = []
    passage: list[str] | None = None
    context: dict[str, str] = {}
    in_context = False
    for line in text.split("\n"):
        header, start = _HEADER.fullmatch(line), _PASSAGE.fullmatch(line)
        if passage is not None and line.startswith(_NEXT_LINE):
            passage.append("\n" + line[2:])
        elif passage is not None and line.startswith(_SAME_LINE):
            passage.append(line[2:])
        elif header and _header_facts(header) is not None:
            headers.append(header)
            passage_lists.append([])
            passage, context, in_context = None, {}, False
        elif headers and (match := _CONTEXT.fullmatch(line)):
            context = ({**context} if in_context and match[1] else {}) | ({match[1]: match[2]} if match[1] else {})
            passage, in_context = None, True
        elif start and headers and headers[-1][1] == start[2]:
            passage = [start[3]]
            passage_lists[-1].append((start[1], passage, context))
            in_context = False
        else:
            passage = None
    return [_source(header, passages) for header, passages in zip(headers, passage_lists, strict=True)]


def _context(passage: Passage, title: str) -> PassageContext:
    """A passage's context besides its text, each on one line; `title` is its source's, on one line and casefolded."""
    path = [one_line(part) for part in passage.heading]
    if path and path[0].casefold() in title:
        path = path[1:]
    levels = (" > ".join(path), passage.label, passage.lead)
    return PassageContext(*(_escape(one_line(text)[:_MAX_CONTEXT_CHARS].rstrip(), "") for text in levels))


def _source(header: re.Match[str], passages: Sequence[_PassageParts]) -> ShownSource:
    id = header[1]
    kind, published, notices = _header_facts(header) or ("unknown", "", ())
    return ShownSource(
        id=id,
        title=_unescape(header[2]),
        url=_unescape(header[3]),
        passages=tuple(_passage(name, id, parts, context) for name, parts, context in passages),
        kind=kind,
        published=published,
        notices=notices,
    )


def _passage(name: str, source: str, parts: Sequence[str], context: Mapping[str, str]) -> ShownPassage:
    values = (_unescape(context.get(field, "")) for field in _NAMES)
    return ShownPassage(name, source, "".join(parts), *values)


def _source_facts(source: Source) -> str:
    """Kind, date and notices in brackets, without invalid dates and notices."""
    kind = [source.kind] if source.kind != "unknown" else []
    day = [source.published] if _DAY.fullmatch(source.published) else []
    notices = [notice_text for notice in source.notices[:_MAX_NOTICES] if (notice_text := _notice_text(notice))]
    facts = [*kind, *day, *notices]
    return f" ({', '.join(facts)})" if facts else ""


def _notice_text(notice: Notice) -> str:
    text = f"{notice.kind} {notice.date}" if _DAY.fullmatch(notice.date) else notice.kind
    return text if _NOTICE.fullmatch(text) and text not in SOURCE_KINDS else ""


def _header_facts(header: re.Match[str]) -> tuple[SourceKind, str, tuple[str, ...]] | None:
    """Kind, date and notices in the brackets of a header; None if `format_source` did not write them."""
    parts = header[4].split(", ") if header[4] is not None else []
    kind = next((candidate for candidate in SOURCE_KINDS if parts and candidate == parts[0]), None)
    facts = parts[1:] if kind else parts
    published = facts[0] if facts and _DAY.fullmatch(facts[0]) else ""
    notices = tuple(facts[1:] if published else facts)
    if header[4] == "" or not all(map(_NOTICE.fullmatch, notices)):
        return None
    return kind or "unknown", published, notices


def _indent(text: str) -> str:
    if text.isprintable():  # so it contains no line break: most passages, in a tenth of the time
        return text
    text = text.replace("\n", "\n" + _NEXT_LINE)
    return _SOFT_BREAK.sub(lambda match: f"{match[0]}\n{_SAME_LINE}", text)


def _escape(text: str, also: Literal["", "<>"]) -> str:
    """`text` on one line: line breaks, the characters of `also`, and apparent escapes as their codes."""
    text = text.replace("\\u", "\\u005cu")
    if not also and text.isprintable():
        return text
    return _ESCAPED[also].sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _unescape(text: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
