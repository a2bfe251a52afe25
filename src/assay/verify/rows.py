"""Table rows that compare fields: a cell is `KEY of SUBJECT: VALUE`, with key and subject from its row and column."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence, Set
from itertools import pairwise

from assay.core.claims import Check
from assay.core.lazy import regex
from assay.core.log_headings import log_entry
from assay.core.plain_text import spaced_rows, without_number
from assay.core.sources import Passage
from assay.core.tables.answers import is_computed, recompute
from assay.core.tables.cells import ReadTable, TablePiece, read_tables, row_cells
from assay.core.tables.records import is_field
from assay.core.tables.rows import compare_whole_row, compare_with_row, format_row, row_forms
from assay.core.text import sentences, words
from assay.core.translation import format_number
from assay.core.translation import gettext as _
from assay.core.turns import is_said
from assay.verify.amounts import Day, tokens
from assay.verify.analyzed_text import fold_text
from assay.verify.evidence import ClaimEvidence, FieldPassage, read_field, source_names

# Claims that frame a field: `KEY of SUBJECT: VALUE`, if a cited passage is `KEY: VALUE` of that subject.

_NAMING = frozenset(("title", "name", "number", "id", "feature"))
_TURNS = regex(r"(?:except|but|not|no|unless|if|when|only|with|without|as|and|or)\b", re.IGNORECASE)


def check_framed_claim(claim: str, evidence: ClaimEvidence) -> Check | None:
    """The verdict of the cited fields on a framed claim; None if it frames none of them.

    Supported: the value is the field's whole value, or whole elements of a list. Contradicted: key and subject are the
    field's, the value is another. The subject must be a name of the field's own source.
    """
    fields = [field for field in map(read_field, evidence.passages) if field is not None]
    checks = [
        check
        for field in fields
        for subject, value in _frames(claim, field)
        if _is_subject(subject, field, fields, evidence) and (check := _compare(value, field)) is not None
    ]
    return min(checks, key=lambda check: check.verdict != "supported", default=None)


def check_entry_claim(claim: str, evidence: ClaimEvidence) -> Check | None:
    """The verdict on a claim that is a cited field or sentence behind the name of its entry, `ENTRY: KEY: VALUE`; None
    for others.

    The entry is the term above it in a list of definitions, or its heading, or the line it begins with. The field is
    all of the passage, a sentence of it, or a row with its headers. In a conversation the entry is the speaker.
    """
    if is_said(claim, ((passage.id, passage.text) for passage in evidence.passages)):
        return Check(rule="field", verdict="supported", reason=_("the cited field says so"))
    for passage in evidence.passages:
        line = " ".join(passage.text.split())
        term, _line_break, described = passage.text.partition("\n")
        stated = _stated_texts(line, passage.label)
        names = {
            passage.label: stated,
            **dict.fromkeys((*map(without_number, passage.heading[-1:]), log_entry(passage.heading)), stated),
        }
        for name, texts in ((term, _stated_texts(" ".join(described.split()), "")), *names.items()):
            field_text = claim.removeprefix(f"{name}: ")
            if name and field_text != claim and field_text in texts:
                return Check(rule="field", verdict="supported", reason=_("the cited field says so"))
    return None


def _stated_texts(line: str, label: str) -> frozenset[str]:
    """What a passage states as a whole, as a claim may copy it."""
    parts = (line[start:end].strip() for start, end in sentences(line))
    return frozenset((line.strip("| "), *row_forms(format_row(line, label)), *parts)) - {""}


def _frames(claim: str, field: FieldPassage) -> Iterator[tuple[str, str]]:
    """Every reading of `claim` as a frame of `field`: a subject and a value."""
    for match in re.finditer(r" of ", claim):
        if tuple(words(claim[: match.start()])) == field.name:
            for colon in re.finditer(r": ", claim[match.end() :]):
                end = match.end() + colon.start()
                yield claim[match.end() : end], claim[end + 2 :]


def _is_subject(subject: str, field: FieldPassage, fields: Sequence[FieldPassage], evidence: ClaimEvidence) -> bool:
    """True if `subject` is a name of the field's source.

    Every word of it is in the source's names, every number beside the same word as there, and it has such a number or a
    complete name.
    """
    subject_words = _strip_zeros(words(subject))
    names = [_strip_zeros(words(name)) for name in _source_names(field.passage, fields, evidence)]
    if not set(subject_words) <= {word for name in names for word in name}:
        return False
    name_pairs = {pair for name in names for pair in pairwise(["", *name])}
    numbers = [pair for pair in pairwise(["", *subject_words]) if pair[1][0].isdecimal()]
    ends = {name[-1] for name in names if name}
    if any(pair[0] and pair not in name_pairs and not _next_name(pair, name_pairs, ends) for pair in numbers):
        return False
    return bool(numbers) or any(name and set(name) <= set(subject_words) for name in names)


def _next_name(pair: tuple[str, str], name_pairs: Set[tuple[str, str]], ends: Set[str]) -> bool:
    """True if one name ends and another begins between two words: `PEP 8102 (2021 Term election)`."""
    return pair[0] in ends and ("", pair[1]) in name_pairs


def _source_names(passage: Passage, fields: Sequence[FieldPassage], evidence: ClaimEvidence) -> Iterator[str]:
    """Names of a passage's source: its title and the like, and cited fields that name or number it."""
    source = evidence.sources.get(passage.source)
    if source is not None:
        yield from source_names(source)
    for field in fields:
        series = len(field.name) == 1 and field.value.isdecimal()
        if field.passage.source == passage.source and (series or set(field.name) & _NAMING):
            yield f"{' '.join(field.name)} {field.value}" if series else field.value


def _strip_zeros(word_list: Sequence[str]) -> list[str]:
    return [word.lstrip("0") or word for word in word_list]


def _compare(value: str, field: FieldPassage) -> Check | None:
    mine, theirs = _value(value), _value(field.value)
    if mine == theirs or set(_elements(value)) <= set(_elements(field.value)) or _is_one_day(mine, theirs):
        return Check(rule="field", verdict="supported", reason=_("the cited field says so"))
    ours, field_words = set(words(mine)), set(words(theirs))
    if ours <= field_words or field_words <= ours:
        return None  # a part of the value, or more than it: this rule cannot decide
    key = " ".join(field.name)
    return Check(
        rule="field",
        verdict="contradicted",
        reason=_("the cited field {key} says {said}").format(key=repr(key), said=repr(theirs[:200])),
    )


def _value(text: str) -> str:
    return fold_text(" ".join(text.split())).text.strip().rstrip(".;,").strip("\"'")


def _elements(value: str) -> list[str]:
    """The elements of a value that is a list, else the value alone.

    Prose with commas is not a list: leaving out a part may change its meaning.
    """
    parts = [_value(re.sub(r"^\s*-\s+", "", part)) for part in re.split(r",\s+|;\s+|\n\s*", value.strip())]
    parts = [part for part in parts if part]
    if any(len(part.split()) > 6 or _TURNS.match(part) for part in parts) or _days(value):
        return [_value(value)]
    return parts


def _days(text: str) -> list[Day]:
    return [token for token in tokens(fold_text(text).text) if isinstance(token, Day)]


def _is_one_day(mine: str, theirs: str) -> bool:
    """True if both values are the same full date, however written."""
    days = [(day.year, day.month, day.day) for text in (mine, theirs) for day in _days(text)]
    is_whole = all(len(_days(text)) == 1 and _days(text)[0].text.strip(".") == text for text in (mine, theirs))
    return is_whole and len(days) == 2 and days[0] == days[1] and all(days[0])


_EMPTY = frozenset(("", "-", "–", "—", "not found", "n/a", "none found"))


def is_empty(cell: str) -> bool:
    """True if a cell says that it is empty."""
    return cell.casefold() in _EMPTY


def check_row(row: str, head: Sequence[str], evidence: ClaimEvidence, checks_off: Collection[str] = ()) -> Check | None:
    """The verdict of the cited fields on a row under its header cells; None if they decide nothing.

    Supported: each filled cell is the value of its document's field. The first column may have keys and the header
    subjects, or the other way round. Needs a header, and the rule "field" not in `checks_off`.
    """
    if not head or "field" in checks_off:
        return None
    first, *values = row_cells(row)
    if len(head) != len(values) + 1:
        return None
    filled_cells = [(name, value) for name, value in zip(head[1:], values, strict=True) if not is_empty(value)]
    by_key = [check_framed_claim(f"{first} of {name}: {value}", evidence) for name, value in filled_cells]
    by_subject = [check_framed_claim(f"{name} of {first}: {value}", evidence) for name, value in filled_cells]
    return _combine_checks(by_key) or _combine_checks(by_subject)


def _combine_checks(checks: Sequence[Check | None]) -> Check | None:
    """Contradicted if one cell is, supported if all cells are."""
    decided = [check for check in checks if check is not None]
    wrong = next((check for check in decided if check.verdict != "supported"), None)
    if wrong is not None or not decided or len(decided) < len(checks):
        return wrong
    return Check(rule="field", verdict="supported", reason=_("the cited fields say so, cell by cell"))


# Sentences that state a row or a cell under its headers, or a sum, mean, count or extreme of a table.


def check_computed_claim(claim: str, evidence: ClaimEvidence) -> Check | None:
    """The verdict of the cited tables on a claim in the form of a row, cell or computation; None for others."""
    tables = cited_tables(evidence)
    if not tables:
        return _check_over_records(claim, evidence)
    outcome = compare_with_row(claim, tables) or compare_whole_row(claim, tables)
    if outcome is not None:
        return _check(*outcome)
    if not is_computed(claim):
        return None
    whole_tables = evidence.tables()
    outcome = recompute(claim, whole_tables or tables)
    if outcome is None or (not whole_tables and not outcome[0]):
        return None
    return _check(*outcome, rows=sum(len(table.rows) for table in tables))


def _check_over_records(claim: str, evidence: ClaimEvidence) -> Check | None:
    """The verdict on a computation over a list of records, of which fields are cited."""
    fields = [passage for passage in evidence.passages if is_field(passage.text)]
    if not fields or not is_computed(claim):
        return None
    tables = [table for table in evidence.tables() if table.of_records]
    outcome = recompute(claim, tables)
    return (
        _check(*outcome, rows=len({(passage.source, passage.heading) for passage in fields}))
        if outcome is not None
        else None
    )


def _check(same: bool, message: str, rows: int = 0) -> Check:
    if not same:
        reason = _("the table gives {said}").format(said=repr(message[:200]))
        return Check(rule="field", verdict="contradicted", reason=reason)
    if not rows:
        return Check(rule="field", verdict="supported", reason=_("the cited cell says so"))
    reason = _("computed again from the whole table; rows cited: {count}")
    return Check(rule="field", verdict="supported", reason=reason.format(count=format_number(rows)))


def whole_tables(evidence: ClaimEvidence) -> list[ReadTable]:
    """The whole tables of which a row or the headers are cited."""
    ordinals = {passage.id.rpartition(".")[2] for passage in evidence.passages if "|" in passage.text}
    return [
        table
        for table in (evidence.tables() if ordinals else ())
        if not ordinals.isdisjoint((*table.names, *(name for row in table.rows for name in row.names)))
    ]


def cited_tables(evidence: ClaimEvidence) -> Sequence[ReadTable]:
    """The tables of the cited rows, those of each document apart."""
    sources = dict.fromkeys(passage.source for passage in evidence.passages)
    tables: list[ReadTable] = []
    for id in sources:
        pieces = [
            TablePiece(passage.id, line, passage.start, passage.heading, passage.label)
            for passage in sorted(evidence.passages, key=lambda each: each.start)
            if passage.source == id and ("|" in passage.text or spaced_rows(passage.text))
            for line in (passage.text.splitlines() if "|" in passage.text else [passage.text])
        ]
        tables += read_tables(pieces)
    return tables
