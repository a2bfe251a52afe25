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

MAX_CITED_ROWS = 200
"""The most rows that a sentence cites; of more, the first ones and those it names."""
MIN_GROUPS = 2
MAX_NAMED_ROWS = 3
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

    `distinct` counts the different values of the column instead of rows. `group_operation` is computed over each
    group of rows, by `label`, before the extreme is taken.
    """

    operation: Operation
    column: int
    conditions: tuple[RowCondition, ...] = ()
    label: int = -1
    distinct: bool = False
    group_operation: OverGroups = ""


class TableAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence computed from a table, with the rows it rests on; `named_rows` are those of them it names."""

    text: str
    operation: Operation
    value: str
    rows: tuple[TableRow, ...]
    named_rows: tuple[TableRow, ...] = ()

    def cited_rows(self) -> tuple[TableRow, ...]:
        """At most `MAX_CITED_ROWS` of the rows, including those named, in the table's order."""
        if len(self.rows) <= MAX_CITED_ROWS:
            return self.rows
        row_ids = {id(row) for row in (*self.named_rows, *self.rows[: MAX_CITED_ROWS - len(self.named_rows)])}
        return tuple(row for row in self.rows if id(row) in row_ids)


def compute(table: ReadTable, computation: Computation) -> tuple[TableAnswer, ...]:
    """The results of a computation: one, or several for cells of several rows; empty if it is impossible.

    Rows that are totals of others, and rows without a figure, are left out.
    """
    figures_by_column = {
        condition.column: figures_of(table, condition.column)
        for condition in computation.conditions
        if condition.limits
    }
    rows = [row for row in table.rows if _meets_conditions(row, computation.conditions, figures_by_column)]
    if computation.operation != "cell":
        rows = [row for row in rows if not is_total(row)]
    if not rows:
        return ()
    if computation.operation == "cell":
        return tuple(_cells(table, computation, rows))
    if computation.operation == "count":
        return (_count_rows(table, computation, rows),)
    return tuple(_compute_figures(table, computation, rows))


def _meets_conditions(
    row: TableRow, conditions: Iterable[RowCondition], figures_by_column: Mapping[int, Figures | None]
) -> bool:
    return all(
        (not condition.values or row.text(condition.column) in condition.values)
        and (
            not condition.limits
            or _is_within_limits(row.text(condition.column), condition.limits, figures_by_column[condition.column])
        )
        for condition in conditions
    )


def _is_within_limits(text: str, limits: Sequence[Limit], figures: Figures | None) -> bool:
    date = parse_date(text)
    figure = None if figures is None or date is not None else read_figure(text, figures.point)
    value = Decimal(date[0]) if date is not None else figure.value if figure is not None else None
    return value is not None and all((value - limit.number) * limit.direction > 0 for limit in limits)


def is_total(row: TableRow) -> bool:
    """True if a row is the sum of others: its first text is only a word for that."""
    first = next((cell.text for _, cell in sorted(row.cells.items()) if read_figure(cell.text) is None), "")
    return first.strip(" :*.").casefold() in _total_words()


@lru_cache(maxsize=1)
def _total_words() -> frozenset[str]:
    words = (word.strip() for language_words in languages().values() for word in language_words.sum.split(","))
    return frozenset(word.rstrip("*") for word in words) | {"grand total", "all", "subtotal", "sum total", "gesamt"}


# computing


def _cells(table: ReadTable, computation: Computation, rows: Sequence[TableRow]) -> Iterator[TableAnswer]:
    """A sentence for each row; rows with equal content are one."""
    results: dict[str, tuple[str, tuple[TableRow, ...]]] = {}
    for row in rows:
        value = row.text(computation.column)
        if not is_missing(value):
            subject = table.subject(row, [condition.column for condition in computation.conditions])
            text = _format_sentence("cell", head=table.heads[computation.column], subject=subject, value=value)
            results[text] = (value, (*results.get(text, ("", ()))[1], row))
    for text, (value, same) in results.items():
        yield TableAnswer(text=text, operation="cell", value=value, rows=same, named_rows=same)


def _count_rows(table: ReadTable, computation: Computation, rows: Sequence[TableRow]) -> TableAnswer:
    if computation.distinct:
        values = {row.text(computation.column).casefold() for row in rows} - {""}
        value = format_number(len(values))
        sentence = _format_sentence(
            "distinct", head=table.heads[computation.column], count=format_number(len(rows)), value=value
        )
    else:
        value = format_number(len(rows))
        sentence = _format_sentence("count", count=value)
    return _answer(table, computation, sentence, value, rows)


def _compute_figures(table: ReadTable, computation: Computation, rows: Sequence[TableRow]) -> Iterator[TableAnswer]:
    """The sum or mean of a column, or the rows or groups of rows with the most or least of it."""
    is_count, extreme = computation.group_operation == "count", computation.operation in ("max", "min")
    figures = (
        amounts_of(table, computation.column, days=extreme and not computation.group_operation)
        if not is_count
        else None
    )
    money = columns.currencies(table, computation.column, rows) if figures is not None else ()
    if not is_count and (figures is None or len(figures.units()) > 1 or len(money) > 1):
        return
    values = figures.values if figures is not None else (Figure(Decimal(1)),) * len(table.rows)
    by_row = {id(row): figure for row, figure in zip(table.rows, values, strict=True) if figure is not None}
    used = tuple(
        row
        for row in rows
        if id(row) in by_row and not (computation.group_operation and is_missing(row.text(computation.label)))
    )
    parts: dict[str, list[TableRow]] = {}
    for index, row in enumerate(used):
        parts.setdefault(
            row.text(computation.label) if computation.group_operation else str(index) if extreme else "", []
        ).append(row)
    if not used or (computation.group_operation and len(parts) < MIN_GROUPS):
        return
    operation = computation.group_operation or computation.operation
    amounts = {name: _amount(operation, [by_row[id(row)] for row in group_rows]) for name, group_rows in parts.items()}
    best = (min if computation.operation == "min" else max)(amounts.values())
    named_rows = (
        tuple(row for name, group_rows in parts.items() if amounts[name] == best for row in group_rows)
        if extreme
        else ()
    )
    labels = (
        tuple(dict.fromkeys(filter(None, (row.text(computation.label) for row in named_rows))))
        if computation.label >= 0
        else ()
    )
    if extreme and not computation.group_operation:
        named_rows, value = named_rows[: MAX_NAMED_ROWS + 1], named_rows[0].text(computation.column)
    else:
        unit = by_row[id(used[0])].unit or "".join(money)
        value = f"{best:f}" if figures is None else format_amount(best, figures, unit)
    is_named = 0 < len(labels) <= MAX_NAMED_ROWS
    if computation.group_operation and not is_named:
        return
    form = f"{computation.operation} {computation.group_operation}".strip()
    slots = {"head": table.heads[computation.column], "by": table.heads[computation.label], "label": ", ".join(labels)}
    slots |= {"value": value, "count": format_number(len(parts if computation.group_operation else used))}
    sentence = _format_sentence(form if is_named or not extreme else f"bare {form}", **slots)
    yield _answer(table, computation, sentence, value, used, named_rows)


def _amount(operation: str, figures: Sequence[Figure]) -> Decimal:
    return (
        Decimal(len(figures))
        if operation == "count"
        else mean(figures)
        if operation == "mean"
        else sum_figures(figures)
    )


def _answer(
    table: ReadTable,
    computation: Computation,
    sentence: str,
    value: str,
    rows: Iterable[TableRow],
    named_rows: tuple[TableRow, ...] = (),
) -> TableAnswer:
    text = _add_conditions(sentence, table, computation.conditions)
    return TableAnswer(text=text, operation=computation.operation, value=value, rows=tuple(rows), named_rows=named_rows)


# saying


def _format_sentence(form: str, **slots: str) -> str:
    return gettext(SENTENCE_FORMS[form][2]).format(**slots)


def _add_conditions(sentence: str, table: ReadTable, row_conditions: Sequence[RowCondition]) -> str:
    conditions = [_format_condition(table, condition) for condition in row_conditions]
    return gettext(CONDITIONAL_FORM).format(said=sentence, conditions="; ".join(conditions)) if conditions else sentence


def _format_condition(table: ReadTable, condition: RowCondition) -> str:
    head = table.heads[condition.column]
    signs = [f"{'>' if limit.direction > 0 else '<'} {limit.number:f}" for limit in condition.limits]
    parts = [*([" / ".join(condition.values)] if condition.values else []), *signs]
    return f"{head}: {', '.join(parts)}" if not (UNNAMED_COLUMN.fullmatch(head) and condition.values) else parts[0]


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
    sentence, computed = sentence.strip(), ""
    for table in tables:
        for computation in _possible_computations(sentence, table):
            answers = compute(table, computation)
            if any(answer.text == sentence for answer in answers):
                return True, sentence
            computed = computed or (answers[0].text if answers else "")
    return (False, computed) if computed else None


def _messages() -> Iterator[tuple[str, str]]:
    """The forms of computations with their messages, in the current language and in English."""
    return (
        (form, message)
        for form in SENTENCE_FORMS
        if form != "cell"
        for message in either_language(SENTENCE_FORMS[form][2])
    )


def either_language(message: str) -> Iterable[str]:
    """A message in the current language and in English."""
    return dict.fromkeys((gettext(message), message))


def _bodies_of_sentence(sentence: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A sentence unchanged, and without the conditions at its end, with these."""
    yield sentence, ()
    for message in either_language(CONDITIONAL_FORM):
        for opening in re.finditer(r"\s?[(（]", sentence):
            body, conditions = sentence[: opening.start()], sentence[opening.end() : -1]
            if body and conditions and message.format(said=body, conditions=conditions) == sentence:
                yield body, tuple(conditions.split("; "))


def match_form(
    message: str, text: str, known_values: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str] | None:
    """The texts in the placeholders of a message; `known_values` must match exactly."""
    parts = re.split(r"\{(\w+)\}", message)
    pattern = "".join(
        re.escape(part)
        if index % 2 == 0
        else f"(?P<{part}>{re.escape(known_values[part]) if part in known_values else '.+'})"
        for index, part in enumerate(parts)
    )
    match = re.fullmatch(pattern, text)
    return match.groupdict() if match is not None else None


def _possible_computations(sentence: str, table: ReadTable) -> Iterator[Computation]:
    """The computations of a table that a sentence may state."""
    for text, conditions in _bodies_of_sentence(sentence):
        row_conditions = tuple(filter(None, (_read_condition(condition, table) for condition in conditions)))
        for form, message in _messages() if len(row_conditions) == len(conditions) else ():
            operation, group_operation, _ = SENTENCE_FORMS[form]
            for column, head in enumerate(table.heads if "{head}" in message else ("",)):
                slots = match_form(message, text, {"head": head}) if head in text else None
                for label in _label_columns(slots.get("label", ""), table, column) if slots is not None else ():
                    yield Computation(
                        operation=operation,
                        column=column,
                        conditions=row_conditions,
                        label=label,
                        distinct=form == "distinct",
                        group_operation=group_operation,
                    )


def _label_columns(label: str, table: ReadTable, column: int) -> Iterator[int]:
    """The columns that may name the rows a sentence names; -1 if it names none."""
    if not label:
        yield -1
        return
    parts = (label, *label.split(", "))
    other_columns = [index for index in range(len(table.heads)) if index != column]
    matching_columns = [index for index in other_columns if not set(parts).isdisjoint(table.column(index))]
    yield from matching_columns or other_columns[:1]


def _read_condition(condition: str, table: ReadTable) -> RowCondition | None:
    for column, head in enumerate(table.heads):
        text = condition if UNNAMED_COLUMN.fullmatch(head) else condition.removeprefix(f"{head}: ")
        if text == condition and not UNNAMED_COLUMN.fullmatch(head):
            continue
        if text and not _LIMIT.sub("", text):
            limits = ((1 if m["sign"] == ">" else -1, Decimal(m["number"])) for m in _LIMIT.finditer(text))
            return RowCondition(column, (), tuple(starmap(Limit, limits)))
        values = tuple(text.split(" / "))
        if set(values) <= set(table.column(column)):
            return RowCondition(column, values)
    return None
