"""The form of a report, which code enforces: its date, what could not be found, a template's headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from assay.core import phrases
from assay.core.blocks import (
    MAX_TITLE_CHARS,
    Block,
    OutlineSection,
    close_markup,
    heading_line,
    leaf_headings,
    outline,
    read_blocks,
)
from assay.core.brief import Section
from assay.core.lazy import regex
from assay.core.markers import cited_ids, parse_markers, strip_markers
from assay.core.plan import Coverage
from assay.core.text import words
from assay.core.translation import (
    ENGLISH,
    current_phrases,
    format_report_date,
    record_statement,
    statement_kind,
)
from assay.core.translation import gettext as _
from assay.phases.coverage import topic_words

_MISSING = regex(
    r"(?:what (?:could|can|was|were) not (?:be )?(?:found|answered|established)|not found|could not be found)",
    re.IGNORECASE,
)
"""English titles that models give that section, whatever heading they were told to use."""
_DATE = regex(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_LEAD = regex(
    r"^[ \t>*_#-]*(?:[^\W\d]+ )?(\d{1,3})\*{0,2}(?:[ \t]*[:.)]\*{0,2}[ \t]+|[ \t]*：[ \t]*)(\S.*)$", re.MULTILINE
)
"""A line for a part of the report: its number, perhaps with a word before it ("Part 2:"), and a sentence."""
_MAX_LEAD_CHARS = 400
"""Code points; a longer line is no transition, but the part once more."""
_NUMBERED = regex(r"(?:\d+(?:\.\d+)*[.)]|[ivxlc]+\.)\s+", re.IGNORECASE)


class ReportOpening(msgspec.Struct, frozen=True, kw_only=True):
    """What is written last of a report in parts: its answer, and the sentence that leads to a part, by its number."""

    answer: str = ""
    leads: Mapping[int, str] = {}


class FormedReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report in its form; `limits` are notices that its template has no place for."""

    text: str
    limits: tuple[str, ...] = ()


def date_sentence(published: Iterable[str], today: str) -> str:
    """A sentence with the date of an answer: the newest date its sources state, else the day of the run (both ISO).

    A date after today does not count as the date of a source.
    """
    dates = [date for date in published if _DATE.fullmatch(date) and date <= today]
    if dates:
        text = _("As of {date}, the date of the newest source cited.").format(date=format_report_date(max(dates)))
    else:
        text = _("As of {date}, the day of this research: no source cited states a date.").format(
            date=format_report_date(today)
        )
    return record_statement(text, "date")


def replace_date(text: str, date_text: str) -> str:
    """Replace an outdated sentence of `date_sentence` in `text` by `date_text`, after its citations changed."""
    leaves = (leaf for block in read_blocks(text) for leaf in block.leaves())
    date_block = next((leaf for leaf in leaves if leaf.origin == "engine:date"), None)
    return (
        text
        if date_block is None
        else text[: date_block.start] + date_block.replace_content(date_text) + text[date_block.end :]
    )


def missing_parts(coverage: Sequence[Coverage]) -> tuple[str, ...]:
    """The parts of the plan, and of a question with several, on which nothing was found; the question comes first."""
    return tuple(dict.fromkeys(" ".join(part.part.split()) for part in coverage[1:] if part.status == "not"))


def add_date_and_missing(text: str, date_text: str, absent: Sequence[str]) -> str:
    """Add `date_text` below a report's answer, and put what could not be found at its end, once.

    The writer's own words on that stay; `absent` is added if there are none. A writer in another language may have
    translated the heading it was given: then the last section counts as this one if it cites nothing, and from then on
    its heading identifies it.
    """
    sections = _missing_sections(text)
    if not sections and absent and current_phrases().locale != ENGLISH:
        sections = [part for part in outline(text)[-1:] if not parse_markers(text[part.start : part.end])]
        for part in sections:
            record_statement(part.title, "missing")
    bodies = [text[part.body : part.end].strip() for part in sections]
    remaining = close_markup(_remove_sections(text, sections))
    missing_text = "\n\n".join(dict.fromkeys(filter(None, bodies))) or "\n".join(f"- {part}" for part in absent)
    head = text[sections[0].start : sections[0].body].strip() if sections else f"## {phrases.missing_heading()}"
    return "\n\n".join(
        filter(None, (_add_date(remaining, date_text), f"{head}\n\n{missing_text}" if missing_text else ""))
    )


def add_section(text: str, section: str) -> str:
    """`text` with one more section: before what could not be found, else at its end."""
    sections = _missing_sections(text)
    position = sections[0].start if sections else len(text)
    return "\n\n".join(filter(None, (close_markup(text[:position].rstrip()), section, text[position:].strip())))


def add_missing(text: str, parts: Sequence[str]) -> str:
    """`text` with more that could not be found added at its end; nothing before that moves."""
    items = "\n".join(f"- {part}" for part in parts)
    if not items:
        return text
    last = outline(text)[-1:]
    if last and is_missing_heading(last[0].title):
        return f"{text.rstrip()}\n{items}"
    closed_text = close_markup(text.rstrip())
    return (
        f"{closed_text}\n\n## {phrases.missing_heading()}\n\n{items}" if closed_text.startswith(text.rstrip()) else text
    )


def is_listed(text: str, part: str) -> bool:
    """True if the section on what could not be found has a line on a part, with the reason (`gap_lines`)."""
    ranges = [(section.body, section.end) for section in _missing_sections(text)]
    below = (block for block in read_blocks(text) if any(start <= block.start < end for start, end in ranges))
    leaves = (leaf for block in below for leaf in block.leaves() if leaf.kind != "code")
    return any(leaf.content.startswith(f"{part}:") for leaf in leaves)


def _missing_sections(text: str) -> list[OutlineSection]:
    """The sections that say what could not be found."""
    return [part for part in outline(text) if is_missing_heading(part.title)]


def _remove_sections(text: str, parts: Sequence[OutlineSection]) -> str:
    for part in reversed(parts):
        text = f"{text[: part.start].rstrip()}\n\n{text[part.end :].lstrip()}"
    return text.strip()


def _add_date(text: str, date_text: str) -> str:
    """`text` with the date at the end of its answer: before the first heading, or below a title."""
    end = _answer_end(text)
    return "\n\n".join(filter(None, (text[:end].strip(), f"*{date_text}*", text[end:].strip())))


def replace_answer(text: str, answer: str) -> str:
    """`text` with another answer at its beginning: before the first heading, or below a title."""
    end, parts = _answer_end(text), outline(text)
    start = parts[0].body if parts and not text[: parts[0].start].strip() and end else 0
    return "\n\n".join(filter(None, (text[:start].strip(), answer.strip(), text[end:].strip())))


def read_opening(text: str, parts: int, cites: Callable[[str], bool]) -> ReportOpening:
    """Read the answer and the leads to the parts 2 to `parts`; what cites nothing, or stands below a heading, is left
    out.
    """
    sections = outline(text)
    text = text[: sections[0].start] if sections else text
    lines = [line for line in _LEAD.finditer(text) if 1 <= int(line[1]) <= parts]
    leads = {int(line[1]): line[2].strip() for line in reversed(lines) if len(line[2]) <= _MAX_LEAD_CHARS}
    first = leads.pop(1, "")  # the answer, if a model numbers it too
    answer = text[: lines[0].start() if lines else None].strip() or first
    cited_leads = {number: lead for number, lead in leads.items() if cites(lead)}
    return ReportOpening(answer=answer if cites(answer) else "", leads=cited_leads)


def add_opening(texts: Sequence[str], opening: ReportOpening) -> tuple[str, ...]:
    """The parts of a report with its answer at the beginning of the first, and the leads at that of the others."""
    leads = (add_lead(text, opening.leads.get(number, "")) for number, text in enumerate(texts[1:], 2))
    return (replace_answer(texts[0], opening.answer) if opening.answer else texts[0], *leads)


def add_lead(text: str, lead: str) -> str:
    """`text` with a sentence below its first heading, or at its beginning if it has none."""
    sections = outline(text)
    position = sections[0].body if sections else 0
    return "\n\n".join(filter(None, (text[:position].strip(), lead, text[position:].strip()))) if lead else text


def _answer_end(text: str) -> int:
    parts = outline(text)
    if not parts:
        note = _closing_note(text)
        return note.start if note else len(text)
    if text[: parts[0].start].strip():
        return parts[0].start
    title_text = parts[0].level == 1 and text[parts[0].body : parts[0].end].strip()
    return parts[0].end if title_text else 0


def _closing_note(text: str) -> Block | None:
    """A writer's remark at the end of a text, such as that it is quoted verbatim: a paragraph in italics."""
    blocks = [block for block in read_blocks(text) if block.kind != "space"]
    apart = blocks and not text[: blocks[-1].start].removesuffix("\n").rpartition("\n")[2].strip()
    return blocks[-1] if apart and blocks[-1].start and blocks[-1].is_aside else None


def join_parts(texts: Sequence[str]) -> str:
    """The pieces of a report as one; of the others' beginnings only what cites more than the rest is kept."""
    return "\n\n".join(filter(None, map(close_markup, [*texts[:1], *map(_drop_answer, texts[1:])])))


def _drop_answer(text: str) -> str:
    """The text of a part without an answer before its first heading, which says again what stands below."""
    parts = outline(text)
    start = parts[0].start if parts else 0
    return text[start:] if cited_ids(text[:start]) <= cited_ids(text[start:]) else text


# templates


def fill_template(
    texts: Sequence[str], template: Sequence[Section], date_text: str, absent: Sequence[str]
) -> FormedReport:
    """Arrange what was written under exactly the headings of the template, in their order.

    Text above the first heading goes below the template's first. A heading that is not in the template becomes a bold
    line. A heading without text says that nothing was written under it.
    """
    below: list[list[str]] = [[] for _ in template]
    notes = [_closing_note(text) for text in texts]
    for text, note in zip(texts, notes, strict=True):
        _sort_into_template(text[: note.start] if note else text, template, below)
    filled_keys = {_heading_key(section.title) for index, section in enumerate(template) if any(below[index])}
    absent = [
        part for part in absent if _heading_key(part) not in filled_keys
    ]  # searched in vain, and found under another
    missing_indexes = [index for index, section in enumerate(template) if is_missing_heading(section.title)]
    if missing_indexes and absent and not any(below[missing_indexes[0]]):
        below[missing_indexes[0]].append("\n".join(f"- {part}" for part in absent))
    empty = {index: [phrases.nothing_found_text()] for index in leaf_headings(template)}
    blocks = [
        (heading_line(heading), *(below[index] or empty.get(index, []))) for index, heading in enumerate(template)
    ]
    limits = (date_text, *(() if missing_indexes else map(not_found_sentence, absent)))
    contents = [part for block in blocks for part in block] + [note.text.strip() for note in notes if note]
    return FormedReport(text="\n\n".join(contents), limits=limits)


def not_found_sentence(part: str) -> str:
    """The sentence that nothing was found on a part, for a report without a place for it."""
    return _("Not found: {part}.").format(part=part)


def _sort_into_template(text: str, template: Sequence[Section], below: list[list[str]]) -> None:
    """Put each part of a text below its heading."""
    parts = outline(text)
    index, used = 0, set[int]()
    _append_text(below[0], text[: parts[0].start] if parts else text)
    for part in parts:
        heading_index = _find_heading(part.title, template, used)
        if heading_index is None:
            _append_text(below[index], f"**{part.title.strip('*_ ')}**")
        else:
            index = heading_index
            used.add(index)
        _append_text(below[index], text[part.body : part.end])


def _append_text(block: list[str], text: str) -> None:
    if text.strip():
        block.append(close_markup(text.strip()))


def _find_heading(title: str, template: Sequence[Section], used: Collection[int]) -> int | None:
    """The heading of a template that is meant; of several similar ones, the next unused one."""
    matches = [index for index, section in enumerate(template) if _heading_key(section.title) == _heading_key(title)]
    return next((index for index in matches if index not in used), matches[-1] if matches else None)


def _heading_key(title: str) -> str:
    """A heading in the form for comparison: without numbering, emphasis and punctuation at its end.

    Only the beginning of a long heading counts: those it is compared with are shorter.
    """
    plain = re.sub(r"[*_`#]+", "", strip_markers(title))[: 2 * MAX_TITLE_CHARS].strip(" :.").casefold()
    return " ".join(_NUMBERED.sub("", plain).split())


def is_missing_heading(title: str) -> bool:
    """True if a heading announces what could not be found."""
    return (
        statement_kind(title) == "missing"
        or _heading_key(title) == _heading_key(_(phrases.MISSING))
        or bool(_MISSING.fullmatch(_heading_key(title)))
    )


# What could not be found, as a report says it. It follows from coverage, whatever the writer wrote.

LINE_MATCH_SHARE = 0.5
"""The share of a part's significant words from which a line is about that part."""


def gap_lines(coverage: Sequence[Coverage]) -> tuple[str, ...]:
    """The lines of the section: parts on which nothing was found, and partly answered parts with a known reason."""
    open_parts = (part for part in coverage[1:] if part.status == "not" or (part.status == "partly" and part.reason))
    return tuple(dict.fromkeys(map(_gap_line, open_parts)))


def reconcile_missing(text: str, coverage: Sequence[Coverage]) -> str:
    """Remove lines that say an answered part was not found, and add missing ones.

    Only an existing section on what could not be found is changed; none is added here.
    """
    for part in reversed(_missing_sections(text) if coverage else ()):
        section = _reconcile_section(text, part, coverage)
        text = f"{text[: part.start].rstrip()}\n\n{section}{text[part.end :].lstrip()}".strip()
    return text


def _reconcile_section(text: str, part: OutlineSection, coverage: Sequence[Coverage]) -> str:
    """The corrected section; "" if nothing of it is left."""
    if all(entry.status == "answered" for entry in coverage):
        return ""
    lines = [line for line in text[part.body : part.end].strip().splitlines() if not _contradicts(line, coverage)]
    remaining = "\n".join(lines).strip()
    if not remaining:
        return ""
    missing_lines = [
        _gap_line(entry)
        for entry in coverage[1:]
        if entry.status == "not" and _topic_share(entry, remaining) < LINE_MATCH_SHARE
    ]
    added_lines = "\n".join(f"- {line}" for line in dict.fromkeys(missing_lines))
    separator = "\n" if remaining.splitlines()[-1].lstrip().startswith(("-", "*")) else "\n\n"
    body = f"{remaining}{separator}{added_lines}" if added_lines else remaining
    return f"{text[part.start : part.body].strip()}\n\n{body}\n\n"


def _contradicts(line: str, coverage: Sequence[Coverage]) -> bool:
    """True if a line is about an answered part more than about any open one."""
    parts = coverage[1:] or coverage
    shares = [(_topic_share(part, line), part.status != "answered") for part in parts]
    share, is_open = max(shares, default=(0.0, True))
    return share >= LINE_MATCH_SHARE and not is_open


def _topic_share(part: Coverage, text: str) -> float:
    part_words = set(topic_words(part.part))
    return len(part_words & set(words(text))) / len(part_words) if part_words else 0.0


def _gap_line(part: Coverage) -> str:
    title = " ".join(part.part.split())
    return f"{title.rstrip('?？؟')}: {part.reason}" if part.reason else title
