"""Answers from a table: computed from its cells, stated in a sentence, and computed again from a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import starmap
from types import MappingProxyType

import msgspec

from assay.core.lazy import regex
from assay.core.tables import columns
from assay.core.tables.cells import UNNAMED_COLUMN, ReadTable, TableRow
from assay.core.tables.figures import (
    Figure,
    Figures,
    amounts_of,
    figures_of,
    format_amount,
    is_missing,
    mean,
    parse_date,
    read_figure,
    sum_figures,
)
from assay.core.tables.words import Limit, Operation, OverGroups, languages
from assay.core.translation import N_, format_number, gettext

MOST_CITED = 200
"""The most rows that a sentence cites; of more, the first ones and those it names."""
FEWEST_GROUPS = 2
MOST_NAMED = 3
"""The most rows with the same extreme value that are named."""

SENTENCE_FORMS: dict[str, tuple[Operation, OverGroups, str]] = {
    "cell": ("cell", "", N_("{head} of {subject}: {value}")),
    "max": ("max", "", N_("{label}: {head} {value}, the highest of {count} rows")),
    "min": ("min", "", N_("{label}: {head} {value}, the lowest of {count} rows")),
    "bare max": ("max", "", N_("{head}: {value}, the highest of {count} rows")),
    "bare min": ("min", "", N_("{head}: {value}, the lowest of {count} rows")),
    "sum": ("sum", "", N_("Sum of {head} over {count} rows: {value}")),
    "mean": ("mean", "", N_("Average of {head} over {count} rows: {value}")),
    "count": ("count", "", N_("Number of rows: {count}")),
    "distinct": ("count", "", N_("Number of different values of {head} in {count} rows: {value}")),
    "max sum": ("max", "sum", N_("{label}: sum of {head} {value}, the highest of {count} groups by {by}")),
    "min sum": ("min", "sum", N_("{label}: sum of {head} {value}, the lowest of {count} groups by {by}")),
    "max mean": ("max", "mean", N_("{label}: average of {head} {value}, the highest of {count} groups by {by}")),
    "min mean": ("min", "mean", N_("{label}: average of {head} {value}, the lowest of {count} groups by {by}")),
    "max count": ("max", "count", N_("{label}: {value} rows, the most of {count} groups by {by}")),
    "min count": ("min", "count", N_("{label}: {value} rows, the fewest of {count} groups by {by}")),
}
"""The operation, what is computed over groups first, and the sentence, for each form of an answer."""
CONDITIONAL_FORM = N_("{said} ({conditions})")
"""A sentence about only those rows that meet conditions."""


class RowCondition(msgspec.Struct, frozen=True):
    """A condition on rows: the cells of a column are one of `values`, or the figures in it are within `limits`."""

    column: int
    values: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()


class Computation(msgspec.Struct, frozen=True, kw_only=True):
    """A computation over a table: `column` has what is asked, `label` names rows (-1: nothing does).

    `distinct` counts the different values of the column instead of rows. `over` is computed over each group of rows, by
    `label`, before the extreme is taken.
    """

    operation: Operation
    column: int
    given: tuple[RowCondition, ...] = ()
    label: int = -1
    distinct: bool = False
    over: OverGroups = ""


class TableAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence computed from a table, with the rows it rests on; `named` are those of them it names."""

    text: str
    operation: Operation
    value: str
    rows: tuple[TableRow, ...]
    named: tuple[TableRow, ...] = ()

    def cited_rows(self) -> tuple[TableRow, ...]:
        """At most `MOST_CITED` of the rows, including those named, in the table's order."""
        if len(self.rows) <= MOST_CITED:
            return self.rows
        kept = {id(row) for row in (*self.named, *self.rows[: MOST_CITED - len(self.named)])}
        return tuple(row for row in self.rows if id(row) in kept)


def compute(table: ReadTable, wanted: Computation) -> tuple[TableAnswer, ...]:
    """The results of a computation: one, or several for cells of several rows; empty if it is impossible.

    Rows that are totals of others, and rows without a figure, are left out.
    """
    bounded = {each.column: figures_of(table, each.column) for each in wanted.given if each.limits}
    rows = [row for row in table.rows if _meets_conditions(row, wanted.given, bounded)]
    if wanted.operation != "cell":
        rows = [row for row in rows if not is_total(row)]
    if not rows:
        return ()
    if wanted.operation == "cell":
        return tuple(_cells(table, wanted, rows))
    if wanted.operation == "count":
        return (_count_rows(table, wanted, rows),)
    return tuple(_compute_figures(table, wanted, rows))


def _meets_conditions(row: TableRow, given: Iterable[RowCondition], bounded: Mapping[int, Figures | None]) -> bool:
    return all(
        (not each.values or row.text(each.column) in each.values)
        and (not each.limits or _is_within_limits(row.text(each.column), each.limits, bounded[each.column]))
        for each in given
    )


def _is_within_limits(text: str, limits: Sequence[Limit], known: Figures | None) -> bool:
    date = parse_date(text)
    figure = None if known is None or date is not None else read_figure(text, known.point)
    value = Decimal(date[0]) if date is not None else figure.value if figure is not None else None
    return value is not None and all((value - limit.number) * limit.way > 0 for limit in limits)


def is_total(row: TableRow) -> bool:
    """True if a row is the sum of others: its first text is only a word for that."""
    first = next((cell.text for _, cell in sorted(row.cells.items()) if read_figure(cell.text) is None), "")
    return first.strip(" :*.").casefold() in _total_words()


@lru_cache(maxsize=1)
def _total_words() -> frozenset[str]:
    words = (word.strip() for each in languages().values() for word in each.sum.split(","))
    return frozenset(word.rstrip("*") for word in words) | {"grand total", "all", "subtotal", "sum total", "gesamt"}


# computing


def _cells(table: ReadTable, wanted: Computation, rows: Sequence[TableRow]) -> Iterator[TableAnswer]:
    """A sentence for each row; rows with equal content are one."""
    found: dict[str, tuple[str, tuple[TableRow, ...]]] = {}
    for row in rows:
        value = row.text(wanted.column)
        if not is_missing(value):
            subject = table.subject(row, [each.column for each in wanted.given])
            text = _format_sentence("cell", head=table.heads[wanted.column], subject=subject, value=value)
            found[text] = (value, (*found.get(text, ("", ()))[1], row))
    for text, (value, same) in found.items():
        yield TableAnswer(text=text, operation="cell", value=value, rows=same, named=same)


def _count_rows(table: ReadTable, wanted: Computation, rows: Sequence[TableRow]) -> TableAnswer:
    if wanted.distinct:
        values = {row.text(wanted.column).casefold() for row in rows} - {""}
        value = format_number(len(values))
        said = _format_sentence(
            "distinct", head=table.heads[wanted.column], count=format_number(len(rows)), value=value
        )
    else:
        value = format_number(len(rows))
        said = _format_sentence("count", count=value)
    return _answer(table, wanted, said, value, rows)


def _compute_figures(table: ReadTable, wanted: Computation, rows: Sequence[TableRow]) -> Iterator[TableAnswer]:
    """The sum or mean of a column, or the rows or groups of rows with the most or least of it."""
    counted, extreme = wanted.over == "count", wanted.operation in ("max", "min")
    figures = amounts_of(table, wanted.column, days=extreme and not wanted.over) if not counted else None
    money = columns.currencies(table, wanted.column, rows) if figures is not None else ()
    if not counted and (figures is None or len(figures.units()) > 1 or len(money) > 1):
        return
    values = figures.values if figures is not None else (Figure(Decimal(1)),) * len(table.rows)
    by_row = {id(row): figure for row, figure in zip(table.rows, values, strict=True) if figure is not None}
    used = tuple(row for row in rows if id(row) in by_row and not (wanted.over and is_missing(row.text(wanted.label))))
    parts: dict[str, list[TableRow]] = {}
    for at, row in enumerate(used):
        parts.setdefault(row.text(wanted.label) if wanted.over else str(at) if extreme else "", []).append(row)
    if not used or (wanted.over and len(parts) < FEWEST_GROUPS):
        return
    over = wanted.over or wanted.operation
    amounts = {name: _amount(over, [by_row[id(row)] for row in own]) for name, own in parts.items()}
    best = (min if wanted.operation == "min" else max)(amounts.values())
    named = tuple(row for name, own in parts.items() if amounts[name] == best for row in own) if extreme else ()
    labels = tuple(dict.fromkeys(filter(None, (row.text(wanted.label) for row in named)))) if wanted.label >= 0 else ()
    if extreme and not wanted.over:
        named, value = named[: MOST_NAMED + 1], named[0].text(wanted.column)
    else:
        unit = by_row[id(used[0])].unit or "".join(money)
        value = f"{best:f}" if figures is None else format_amount(best, figures, unit)
    is_named = 0 < len(labels) <= MOST_NAMED
    if wanted.over and not is_named:
        return
    form = f"{wanted.operation} {wanted.over}".strip()
    slots = {"head": table.heads[wanted.column], "by": table.heads[wanted.label], "label": ", ".join(labels)}
    slots |= {"value": value, "count": format_number(len(parts if wanted.over else used))}
    said = _format_sentence(form if is_named or not extreme else f"bare {form}", **slots)
    yield _answer(table, wanted, said, value, used, named)


def _amount(over: str, figures: Sequence[Figure]) -> Decimal:
    return Decimal(len(figures)) if over == "count" else mean(figures) if over == "mean" else sum_figures(figures)


def _answer(
    table: ReadTable,
    wanted: Computation,
    said: str,
    value: str,
    rows: Iterable[TableRow],
    named: tuple[TableRow, ...] = (),
) -> TableAnswer:
    text = _add_conditions(said, table, wanted.given)
    return TableAnswer(text=text, operation=wanted.operation, value=value, rows=tuple(rows), named=named)


# saying


def _format_sentence(form: str, **slots: str) -> str:
    return gettext(SENTENCE_FORMS[form][2]).format(**slots)


def _add_conditions(said: str, table: ReadTable, given: Sequence[RowCondition]) -> str:
    conditions = [_format_condition(table, each) for each in given]
    return gettext(CONDITIONAL_FORM).format(said=said, conditions="; ".join(conditions)) if conditions else said


def _format_condition(table: ReadTable, given: RowCondition) -> str:
    head = table.heads[given.column]
    signs = [f"{'>' if limit.way > 0 else '<'} {limit.number:f}" for limit in given.limits]
    told = [*([" / ".join(given.values)] if given.values else []), *signs]
    return f"{head}: {', '.join(told)}" if not (UNNAMED_COLUMN.fullmatch(head) and given.values) else told[0]


# Sentences computed from tables are computed again and compared with the table they name.

_LIMIT = regex(r"(?P<sign>[<>]) (?P<number>-?\d+(?:\.\d+)?)(?:, |$)")


def is_computed(sentence: str) -> bool:
    """True if a sentence has the form of a computation, in the current language or in English."""
    return any(
        match_form(message, text) for _, message in _messages() for text, _ in _bodies_of_sentence(sentence.strip())
    )


def recompute(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """The result of a sentence's computation over one of these tables, and if the sentence states it.

    None if the sentence states no computation, or one over a column or conditions that no table has.
    """
    sentence, said = sentence.strip(), ""
    for table in tables:
        for wanted in _possible_computations(sentence, table):
            answers = compute(table, wanted)
            if any(answer.text == sentence for answer in answers):
                return True, sentence
            said = said or (answers[0].text if answers else "")
    return (False, said) if said else None


def _messages() -> Iterator[tuple[str, str]]:
    """The forms of computations with their messages, in the current language and in English."""
    return (
        (form, said) for form in SENTENCE_FORMS if form != "cell" for said in either_language(SENTENCE_FORMS[form][2])
    )


def either_language(message: str) -> Iterable[str]:
    """A message in the current language and in English."""
    return dict.fromkeys((gettext(message), message))


def _bodies_of_sentence(sentence: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A sentence unchanged, and without the conditions at its end, with these."""
    yield sentence, ()
    for message in either_language(CONDITIONAL_FORM):
        for opening in re.finditer(r"\s?[(（]", sentence):
            said, conditions = sentence[: opening.start()], sentence[opening.end() : -1]
            if said and conditions and message.format(said=said, conditions=conditions) == sentence:
                yield said, tuple(conditions.split("; "))


def match_form(message: str, text: str, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str] | None:
    """The texts in the placeholders of a message; those `known` must match exactly."""
    parts = re.split(r"\{(\w+)\}", message)
    pattern = "".join(
        re.escape(part) if at % 2 == 0 else f"(?P<{part}>{re.escape(known[part]) if part in known else '.+'})"
        for at, part in enumerate(parts)
    )
    match = re.fullmatch(pattern, text)
    return match.groupdict() if match is not None else None


def _possible_computations(sentence: str, table: ReadTable) -> Iterator[Computation]:
    """The computations of a table that a sentence may state."""
    for text, conditions in _bodies_of_sentence(sentence):
        given = tuple(filter(None, (_read_condition(each, table) for each in conditions)))
        for form, message in _messages() if len(given) == len(conditions) else ():
            operation, over, _ = SENTENCE_FORMS[form]
            for column, head in enumerate(table.heads if "{head}" in message else ("",)):
                slots = match_form(message, text, {"head": head}) if head in text else None
                for label in _label_columns(slots.get("label", ""), table, column) if slots is not None else ():
                    yield Computation(
                        operation=operation,
                        column=column,
                        given=given,
                        label=label,
                        distinct=form == "distinct",
                        over=over,
                    )


def _label_columns(label: str, table: ReadTable, column: int) -> Iterator[int]:
    """The columns that may name the rows a sentence names; -1 if it names none."""
    if not label:
        yield -1
        return
    parts = (label, *label.split(", "))
    others = [at for at in range(len(table.heads)) if at != column]
    holding = [at for at in others if not set(parts).isdisjoint(table.column(at))]
    yield from holding or others[:1]


def _read_condition(condition: str, table: ReadTable) -> RowCondition | None:
    for column, head in enumerate(table.heads):
        told = condition if UNNAMED_COLUMN.fullmatch(head) else condition.removeprefix(f"{head}: ")
        if told == condition and not UNNAMED_COLUMN.fullmatch(head):
            continue
        if told and not _LIMIT.sub("", told):
            limits = ((1 if m["sign"] == ">" else -1, Decimal(m["number"])) for m in _LIMIT.finditer(told))
            return RowCondition(column, (), tuple(starmap(Limit, limits)))
        values = tuple(told.split(" / "))
        if set(values) <= set(table.column(column)):
            return RowCondition(column, values)
    return None
