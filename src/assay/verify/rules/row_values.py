"""Checks whether one row of a table has what a sentence says together: a payee, a day and an amount.

Each may stand in the table, but in different rows: then the sentence joins what the table does not. Sentences that
speak of several rows (two values of one column, a comparison, a sum) are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core.lazy import regex
from assay.core.periods import read_period
from assay.core.tables.cells import ReadTable
from assay.verify.amounts import Amount, Day, Literal, Token
from assay.verify.analyzed_text import AnalyzedText, Texts, analyze_text
from assay.verify.evidence import SlotFinding, word_slot
from assay.verify.figures import is_same_amount, is_same_day
from assay.verify.number_matches import states

_MIN_BARE_NUMBER = 100
"""A smaller bare number may stand in a row by chance. By hand."""
_SEVERAL = frozenset(
    """
    than compared whereas while unlike both each total totals altogether together sum sums average mean difference
    between since until before after later earlier more less most least respectively combined
    """.split()
)
"""Words of sentences that speak of several rows."""


_YEAR = regex(r"(?:19|20)\d{2}")
MAX_COMPARISONS = 500_000
"""The product of a claim's values and a table's cells; above it, which would take seconds, nothing is compared."""


class _Mention(NamedTuple):
    """What the claim says that some cells of a table state: by row, the column; `word_index` is the word, -1 for a
    name.
    """

    word_index: int
    columns: dict[int, int]


def find(claim: AnalyzedText, tables: Sequence[ReadTable], texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for a day or an amount that stands in another row than all else of the claim."""
    spoken = {word.text.lower() for word in claim.words}
    if len({word.sentence for word in claim.words}) != 1 or not spoken.isdisjoint(_SEVERAL):
        return
    tokens = [(index, word.token) for index, word in enumerate(claim.words) if word.token]
    with_years = any(_is_year(token) for _, token in tokens) and _has_years(tables)
    values = [(index, token) for index, token in tokens if _is_telling(token) or (with_years and _is_year(token))]
    if any(isinstance(token, Literal) for _, token in values):  # its year stands beside it
        values = [(index, token) for index, token in values if not _YEAR.fullmatch(token.text)]
    for table in tables if values else ():
        if len(values) * len(table.rows) * len(table.heads) > MAX_COMPARISONS:
            continue
        mentions = [*_values(values, table), *_names(claim, table)]
        if sum(mention.word_index >= 0 for mention in mentions) < len(values) or not any(
            mention.word_index < 0 or isinstance(claim.words[mention.word_index].token, Literal) for mention in mentions
        ):
            continue  # a value stands elsewhere, or nothing says which row is meant
        columns = [set(mention.columns.values()) for mention in mentions]
        if sum(map(len, columns)) != len(set().union(*columns)):
            continue  # two values of one column
        yield from _mismatches(claim, table, mentions, texts)


def _mismatches(claim: AnalyzedText, table: ReadTable, mentions: list[_Mention], texts: Texts) -> Iterator[SlotFinding]:
    def is_telling(mention: _Mention) -> bool:
        return mention.word_index < 0 or isinstance(claim.words[mention.word_index].token, Day | Literal)

    rows = {row for mention in mentions for row in mention.columns}
    mentions_by_row = {row: [mention for mention in mentions if row in mention.columns] for row in rows}
    row = max(
        sorted(rows), key=lambda number: (len(mentions_by_row[number]), sum(map(is_telling, mentions_by_row[number])))
    )  # a name or a day tells most
    missing = [mention for mention in mentions if row not in mention.columns]
    if len(missing) != 1 or missing[0].word_index < 0:
        return
    column = min(missing[0].columns.values())
    cell = table.rows[row].cells.get(column)
    token = claim.words[missing[0].word_index].token
    told = mentions_by_row[row][0]
    is_time = told.word_index >= 0 and isinstance(claim.words[told.word_index].token, Literal)
    if len(mentions_by_row[row]) < 2 and not ((isinstance(token, Day) or is_time) and told.columns[row] == 0):
        return  # an amount beside a name may be about something else
    inside = {name for table_row in table.rows for name in table_row.names}
    other_readings = (reading for reading, id in zip(texts.readings, texts.passages, strict=True) if id not in inside)
    if cell is None or token is None or any(_states(token, other_reading) for other_reading in other_readings):
        return
    rule = "date" if isinstance(token, Day) else "number"
    slot = word_slot(claim, missing[0].word_index)
    yield SlotFinding(rule=rule, slot=slot, outcome="conflict", said=cell.text, passage=cell.name, veto=True)


def _is_telling(token: Token) -> bool:
    """True for a whole day, a week, quarter or half, and for an amount that a row has hardly by chance."""
    if isinstance(token, Day):
        return bool(token.day and token.month)
    if isinstance(token, Literal):
        return read_period(token.text) is not None
    if token.year or token.ordinal or token.terms or token.bound or token.word:
        return False
    return bool(token.values) and (token.values[0] >= _MIN_BARE_NUMBER or token.quantum < 1 or bool(token.currency))


def _is_year(token: Token) -> bool:
    return isinstance(token, Amount) and _YEAR.fullmatch(token.text) is not None


def _has_years(tables: Sequence[ReadTable]) -> bool:
    """True if a table has a column of years."""
    return any(column and all(map(_YEAR.fullmatch, column)) for table in tables for column in table.columns)


def _values(values: Sequence[tuple[int, Token]], table: ReadTable) -> Iterator[_Mention]:
    cells = [
        (number, column, analyze_text(f"{table.heads[column]}: {cell.text}"))
        for number, row in enumerate(table.rows)
        for column, cell in row.cells.items()
    ]
    for index, token in values:
        columns = {number: column for number, column, reading in cells if _states(token, reading)}
        if columns:
            yield _Mention(index, columns)


def _states(token: Token, reading: AnalyzedText) -> bool:
    for other_token in (word.token for word in reading.words):
        if isinstance(token, Day) and isinstance(other_token, Day) and is_same_day(token, other_token):
            return True
        if isinstance(token, Amount) and isinstance(other_token, Amount) and is_same_amount(token, other_token):
            return True
        if isinstance(token, Literal) and isinstance(other_token, Literal) and states(other_token, token, ()):
            return True
    return False


def _names(claim: AnalyzedText, table: ReadTable) -> Iterator[_Mention]:
    """The cells of text that the claim names: their first word, and at least half of all; by text, each once."""
    claim_keys = {word.key for word in claim.words if word.kind in ("name", "word") and not word.common}
    columns_by_cell: dict[tuple[int, str], dict[int, int]] = {}
    for number, row in enumerate(table.rows):
        for column, cell in row.cells.items():
            words = [word for word in analyze_text(cell.text).words if word.kind != "sign"]
            keys = [word.key for word in words]
            is_named = bool(words) and words[0].token is None and words[0].text[0].isupper() and keys[0] in claim_keys
            if is_named and 2 * sum(key in claim_keys for key in keys) >= len(keys):
                columns_by_cell.setdefault((column, cell.text), {})[number] = column
    return (_Mention(-1, columns) for columns in columns_by_cell.values())
