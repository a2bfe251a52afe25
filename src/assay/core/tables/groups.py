"""Extremes of groups of rows: which supplier got the most, summed over its rows, which beach is worst on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from assay.core.lazy import regex
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.tables.figures import (
    Figure,
    Figures,
    durations_of,
    figures_of,
    format_amount,
    is_missing,
    mean,
    moment,
    total,
)
from assay.core.tables.words import Operation, OverGroups, languages

FEWEST_GROUPS = 2
SHARED = 0.5
"""The share of its times that several groups must have for rows to be measurements at the same times."""


_SIGNS = frozenset("€$£¥₹₽₺₩")
_CURRENCIES = frozenset(
    "eur usd gbp chf jpy cny inr rub try krw pln sek nok dkk czk huf uah brl cad aud euro euros dollar dollars"
    " pound pounds franken francs yen".split()
)
_WORD = regex(r"[^\W_]+")


class GroupExtreme(msgspec.Struct, frozen=True, kw_only=True):
    """The groups with the highest or lowest amount: their names, the amount as written, and their rows."""

    names: tuple[str, ...]
    value: str
    count: int
    used: tuple[TableRow, ...]
    named: tuple[TableRow, ...]


def extreme(
    table: ReadTable, rows: Sequence[TableRow], label: int, column: int, operation: Operation, over: OverGroups
) -> GroupExtreme | None:
    """The groups of `rows`, by the texts of column `label`, whose sum, mean or number of rows is the extreme; None if
    there is one group only, or the figures of `column` have several units.
    """
    figures = (durations_of(table, column) or figures_of(table, column)) if over != "count" else None
    groups = _groups(table, rows, label, figures)
    if len(groups) < FEWEST_GROUPS or (over != "count" and (figures is None or len(figures.units()) > 1)):
        return None
    if over != "count" and len(currencies(table, column, rows)) > 1:
        return None
    amounts = {name: _amount(over, [figure for _, figure in own]) for name, own in groups.items()}
    best = (max if operation == "max" else min)(amounts.values())
    names = tuple(name for name, amount in amounts.items() if amount == best)
    return GroupExtreme(
        names=names,
        value=_format_with_unit(best, figures, groups[names[0]]),
        count=len(groups),
        used=tuple(row for own in groups.values() for row, _ in own),
        named=tuple(row for name in names for row, _ in groups[name]),
    )


_Group = list[tuple[TableRow, Figure | None]]


def _groups(table: ReadTable, rows: Sequence[TableRow], label: int, figures: Figures | None) -> dict[str, _Group]:
    """The rows by their group; without those that name none, or have no figure if figures are wanted."""
    values = figures.values if figures is not None else (None,) * len(table.rows)
    by_row = {id(row): figure for row, figure in zip(table.rows, values, strict=True)}
    found: dict[str, _Group] = {}
    for row in rows:
        name, figure = row.text(label), by_row[id(row)]
        if not is_missing(name) and (figures is None or figure is not None):
            found.setdefault(name, []).append((row, figure))
    return found


def _amount(over: OverGroups, figures: Sequence[Figure | None]) -> Decimal:
    known = [figure for figure in figures if figure is not None]
    return Decimal(len(figures)) if over == "count" else total(known) if over == "sum" else mean(known)


def _format_with_unit(amount: Decimal, figures: Figures | None, group: _Group) -> str:
    unit = next((figure.unit for _, figure in group if figure is not None), "")
    return f"{amount:f}" if figures is None else format_amount(amount, figures, unit)


def is_grouping(table: ReadTable, label: int) -> bool:
    """True if the texts of a column put rows into groups."""
    filled = [text for text in table.column(label) if not is_missing(text)]
    return FEWEST_GROUPS <= len(set(filled)) < len(filled)


def measures_at_times(table: ReadTable, label: int) -> bool:
    """True if rows measure groups at the same times, as inhabitants in each year: their sum is nothing."""
    return any(_is_shared(_by_time(table, label, at)) for at in range(len(table.heads)) if at != label)


def _by_time(table: ReadTable, label: int, column: int) -> Mapping[str, list[str]]:
    """The groups that have a row at each time of a column; nothing for a column of others."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        if (time := row.text(column)) and moment(time) is None:
            return {}
        found.setdefault(time, []).append(row.text(label))
    return found


def _is_shared(by_time: Mapping[str, Sequence[str]]) -> bool:
    once = all(len(set(names)) == len(names) for names in by_time.values())
    shared = sum(len(names) > 1 for names in by_time.values())
    return bool(by_time) and once and shared > SHARED * len(by_time)


def is_amount(table: ReadTable, column: int) -> bool:
    """True if the figures of a column are amounts: no years, and no numbers of the rows."""
    filled = [text for text in table.column(column) if not is_missing(text)]
    years = all(moment(text) is not None for text in filled)
    numbers = column == 0 and len(set(filled)) == len(filled)
    return figures_of(table, column) is not None and not years and not numbers


def is_money(table: ReadTable, column: int) -> bool:
    """True if the header of a column, or its figures, name a currency."""
    figures = figures_of(table, column)
    named = [table.heads[column], *(figures.units() if figures is not None else ())]
    return any(_SIGNS & set(text) or _CURRENCIES & set(_WORD.findall(text.casefold())) for text in named)


def currencies(table: ReadTable, column: int, rows: Sequence[TableRow]) -> tuple[str, ...]:
    """The currencies of the amounts in `rows`, if they stand in a column of their own; none for other figures."""
    paid = {word for each in languages().values() for word in each.paid.split()}
    if paid.isdisjoint(_WORD.findall(table.heads[column].casefold())):
        return ()
    for at in range(len(table.heads)):
        filled = [text for text in table.column(at) if not is_missing(text)]
        if filled and all(text.casefold() in _CURRENCIES | _SIGNS for text in filled):
            return tuple(dict.fromkeys(filter(None, (row.text(at) for row in rows))))
    return ()
