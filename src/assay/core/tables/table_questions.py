"""Decides which computation over which table answers a question.

Every word of the question must be accounted for: by the operation, by values in cells (which select rows), by the
header of the column asked for, or by the names of the table and what it says about its columns. Words are compared as
everywhere else (`core.relevance`: stems, near forms). Names and numbers weigh double and all must be accounted for;
half of the other words may be left over, for a single cell a third. If two columns answer equally well, nothing is
answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.function_words import MORE_STOP_WORDS
from assay.core.relevance.topic_question import keys
from assay.core.tables import columns
from assay.core.tables.answers import Computation, RowCondition, TableAnswer, compute
from assay.core.tables.cells import ReadTable
from assay.core.tables.table_matches import WORD_PARTS, NamedValue, TableWords
from assay.core.tables.words import QUANTITY_SIGN, MeasuredOperation, OverGroups, languages, phrase_pattern, read_asking

MIN_COVERED = 0.5
"""The share of a question's weight that must be accounted for."""
COVERED_BY_CELL = 2 / 3
"""The same for a cell: one word of the question may name a row by chance, an operation is not named by chance."""
NAME_WEIGHT = 2.0
MEASURED_BY_HEADER, MEASURED_BY_CELLS = 0.75, 0.5
"""The weight of a column that a word of degree measures; a word of the question in its header weighs 1."""
MIN_DIFFERENT_TEXTS = 0.5
"""The share of different texts in a column that names rows."""
MOST_CELLS = 5
"""The most rows whose cells are stated one by one; if more match, the question is too vague."""
MOST_ROWS = 100_000


class FoundAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A computation over a table, how much of the question it accounts for (0 to 1), and how well its column fits."""

    table: ReadTable
    wanted: Computation
    answers: tuple[TableAnswer, ...]
    covered: float
    fit: tuple[float, float, int]


def answer_question(question: str, tables: Iterable[ReadTable]) -> FoundAnswer | None:
    """The best answer to a question over `tables`, of equal ones that from the first table; None if there is none."""
    asking = read_asking(question)
    found = [each for table in tables if (each := _TableQuestion(question, asking, table).best_answer()) is not None]
    return max(found, key=lambda each: (each.covered, each.fit), default=None)


def find_cell(question: str, head: str, tables: Iterable[ReadTable]) -> tuple[str, TableAnswer] | None:
    """The header nearest to `head`, with its cell in the one row whose values a question names; None without one."""
    asking = read_asking(question)
    found = (each for table in tables for each in _TableQuestion(question, asking, table).cells(head))
    return next(found, None)


class _TableQuestion(TableWords):
    """One question to one table."""

    def best_answer(self) -> FoundAnswer | None:
        """The best computation, None if none accounts for enough of the question."""
        if not self.table.rows or len(self.table.rows) > MOST_ROWS or self.read.wanted == "reason":
            return None
        if not self.telling and not self.asking.noun:
            return None
        if (values := self.values()) is None:
            return None
        tried = (found for way in self.asking.ways for found in self._column_answers(way, values))
        return max(tried, key=lambda each: (each.covered, each.fit), default=None)

    def cells(self, head: str) -> Iterator[tuple[str, TableAnswer]]:
        """The header, and its cell in the one row that the question's values select."""
        values = self.values() or []
        wanted = self.name_keys(head)
        fits = [
            (self._header_fit(at, sorted(wanted), MeasuredOperation("cell")), at)
            for at in self._unchosen_columns(values)
        ]
        rated = sorted((each for each in fits if each[0][0] >= len(wanted) / 2 and each[0][0] > 0), reverse=True)
        if values and rated and (len(rated) == 1 or rated[0][0] > rated[1][0]):
            column, given = rated[0][1], self._row_conditions(values, -1)
            found = compute(self.table, Computation(operation="cell", column=column, given=given))
            if len(found) == 1 and (not self.names or self._used_keys(values) & self.names):
                yield self.table.heads[column], found[0]

    # columns

    def _column_answers(self, way: MeasuredOperation, values: list[NamedValue]) -> Iterator[FoundAnswer]:
        """Computations over the column that fits best; of a count also over rows."""
        if way.operation == "count":
            yield from self._count_answers(values)
        left = self._unused_keys(values)
        able = [at for at in self._unchosen_columns(values) if self._is_able(at, way)]
        named = [at for at in able if self.heads[at] and self.heads[at] <= frozenset(self.said)]
        if way.operation == "cell" and len({self.table.heads[at] for at in named}) > 1:
            return  # "in 2024 and 2025": one cell is half an answer
        rated = sorted(((fit, at) for at in able if (fit := self._header_fit(at, left, way))[0] > 0), reverse=True)
        if rated and (len(rated) == 1 or rated[0][0] != rated[1][0]):
            yield from self._over_column(way, values, *rated[0])
        elif not rated and (paid := self._paid_column(values)) is not None:
            yield from self._over_column(way, values, (0.5, 0.0, 0), paid, implied=True)

    def _over_column(
        self,
        way: MeasuredOperation,
        values: list[NamedValue],
        fit: tuple[float, float, int],
        column: int,
        *,
        implied: bool = False,
    ) -> Iterator[FoundAnswer]:
        """A computation over a column, which may be only `implied`. What is counted or spent is added up over the rows
        that a question chooses: "how many hours did A work in March?".
        """
        given = self._row_conditions([value for value in values if value.column != column], column)
        head = self.matching_keys(self._unused_keys(values), self.asked_heads[column])
        one = Computation(operation="cell", column=column, given=given)
        cells = compute(self.table, one) if values else ()
        if not implied and (way.operation == "cell" or len(cells) == 1):
            if 0 < len(cells) <= MOST_CELLS and not self.asking.limits:
                yield from self._accept_if_covered(one, values, head, fit)
            return
        added, extreme = implied or way.operation == "count", way.operation in ("max", "min")
        label = self._label_column(column, values) if extreme or not added else -1
        over = self._group_operation(way, label)
        if added and not (self._is_added(way, values, column) or over or (extreme and not way.measures and label >= 0)):
            return
        operation = "sum" if way.operation in ("cell", "count") else way.operation
        wanted = Computation(operation=operation, column=column, given=given, label=label, over=over)
        if implied and way.operation == "cell" and len(cells) == 1 and len(cells[0].rows) == 1:
            wanted = one
        said = head | (self._keys_of(self.asking.grouping) if over or implied else set())
        said |= self._keys_of((*self.asking.paying, *self._function_words())) if added else set()
        yield from self._accept_if_covered(wanted, values, said, fit, whole=added or (bool(way.measures) and not head))

    def _is_added(self, way: MeasuredOperation, values: list[NamedValue], column: int) -> bool:
        """True if a question for how much or how many may ask for a sum over the rows that its values choose."""
        if not values or way.operation not in ("cell", "count", "sum"):
            return False
        if way.operation == "count":
            repeated = any(columns.measures_at_times(self.table, value.column) for value in values)
            noun = self.matching_keys(keys(self.asking.noun, self.read.analysis), self.asked_heads[column])
            return bool(noun) and not repeated and (self.has_figures(column) or self.has_durations(column))
        return way.operation == "sum" or self.read.wanted == "number"

    def _function_words(self) -> Iterator[str]:
        return (word for word in self.asking.rest.strip("?").split() if word.casefold() in MORE_STOP_WORDS)

    def _keys_of(self, said: Iterable[str]) -> frozenset[str]:
        return frozenset(key for word in said for key in keys(word, self.read.analysis))

    # groups and amounts

    def _group_operation(self, way: MeasuredOperation, label: int) -> OverGroups:
        """What an extreme is taken of: the groups of rows that a question names ("which supplier gets the most?")."""
        named = label >= 0 and (self._is_person(label) or self.matching_keys(self.telling, self.heads[label]))
        if way.operation not in ("max", "min") or not named or not columns.is_grouping(self.table, label):
            return ""
        at_times = self.asking.implied and columns.measures_at_times(self.table, label)
        return "" if at_times else self.asking.over

    def _paid_column(self, values: Sequence[NamedValue]) -> int | None:
        """The column of the amount of which a question has only the verb ("how much did we spend on soap?").

        Money is in no column of other figures, though it may be the only one.
        """
        if not self.asking.paying or phrase_pattern(self.language, "times").search(self.asking.rest):
            return None
        figured = [at for at in self._unchosen_columns(values) if self.has_figures(at)]
        named = [
            at
            for at in figured
            if self.matching_keys(self._keys_of(languages()[self.language].paid.split()), self.heads[at])
        ]
        amounts = (at for at in figured if columns.is_amount(self.table, at))
        money = phrase_pattern(self.language, "money").search(self.asking.rest)
        able = named or [at for at in amounts if not money or columns.is_money(self.table, at)]
        return able[0] if len(able) == 1 else None

    def _unchosen_columns(self, values: Sequence[NamedValue]) -> list[int]:
        """The columns without a value from the question."""
        chosen = {value.column for value in values}
        return [column for column in range(len(self.table.heads)) if column not in chosen]

    def _is_able(self, column: int, way: MeasuredOperation) -> bool:
        """True if an operation is possible over a column, and its result may answer: no number says who."""
        if way.operation == "cell" and self.read.wanted == "name":
            return not self.has_figures(column) and not self.has_dates(column)
        if way.operation == "cell" and self.read.wanted == "date":
            return any(map(str.isdigit, "".join(self.table.column(column))))
        if way.operation in ("cell", "count"):
            return True
        if self.has_figures(column):  # the largest invoice has no number
            return not self.asking.paying or columns.is_amount(self.table, column)
        ordered = way.operation in ("max", "min") and not self.asking.implied
        return self.has_durations(column) or (ordered and self.has_dates(column))

    def _header_fit(self, column: int, left: Sequence[str], way: MeasuredOperation) -> tuple[float, float, int]:
        """How well a header fits the question: matching words, the share of the header they cover, equal words."""
        head = self.heads[column]
        held = self.matching_keys(left, self.asked_heads[column])
        more = self.matching_keys(self.extra, head)
        measured = self._measured_fit(column, way)
        either = len({each.operation for each in self.asking.ways}) > 1  # "fastest": most speed, or least time
        if not measured and (either or not (held or (more and way.operation == "cell"))):
            return (0.0, 0.0, 0)
        said = frozenset((*held, *more))
        share = len(self.matching_keys(head, said | self.extra | frozenset(left))) / len(head) if head else 0.0
        words = set(self.asking.rest.casefold().split())
        plain = {part.casefold() for part in WORD_PARTS.split(self.table.heads[column]) if part}
        return (len(held) + 0.5 * len(more) + measured, share, len(words & plain))

    def _measured_fit(self, column: int, way: MeasuredOperation) -> float:
        """How well a column fits what words of degree measure, by its header, its cells or its unit; else 0."""
        nouns = [noun for noun in way.measures if not noun.startswith(QUANTITY_SIGN)]
        measures = frozenset(key for noun in nouns for key in keys(noun, self.read.analysis))
        head = self.heads[column]
        if measures and (self.matching_keys(head, measures) or self.matching_keys(measures, head)):
            return MEASURED_BY_HEADER
        told = len(nouns) < len(way.measures) and not columns.quantities(self.table, column).isdisjoint(way.measures)
        return MEASURED_BY_CELLS if told else 0.0

    def _is_person(self, column: int) -> bool:
        """True if a column has those whom "who" asks for, by its header."""
        head = self.table.heads[column].strip()
        return self.read.wanted == "name" and phrase_pattern(self.language, "persons").fullmatch(head) is not None

    def _label_column(self, column: int, values: Sequence[NamedValue]) -> int:
        """The column that names rows: persons for "who", else asked for, else with most different texts.

        -1 without one, or if the same names are in another column that fits as well.
        """
        rated: list[tuple[bool, int, float, int]] = []
        others = frozenset(self.said) - self.stop - self.matching_keys(self.said, self.heads[column])
        for at in self._unchosen_columns(values):
            texts = [text for text in self.table.column(at) if text]
            named, person = len(self.matching_keys(others, self.heads[at])), self._is_person(at)
            numbers = self.has_figures(at) or self.has_dates(at)
            if at == column or not texts or (numbers and not (self.heads[at] and self.heads[at] <= others)):
                continue
            different = len(set(texts)) / len(texts)
            if person or named or different >= MIN_DIFFERENT_TEXTS:
                rated.append((person, named, different, -at))
        rated.sort(reverse=True)
        best = {text for *_, at in rated[:1] for text in self.table.column(-at) if text}
        alike = [
            each for each in rated if each[:2] == rated[0][:2] and not best.isdisjoint(self.table.column(-each[3]))
        ]
        return -alike[0][3] if len(alike) == 1 else -1

    # conditions

    def _unused_keys(self, values: Sequence[NamedValue]) -> list[str]:
        """The significant words of the question that name no value."""
        used = frozenset[int]().union(*(value.places for value in values))
        return [key for at, key in enumerate(self.said) if at not in used and key in self.telling]

    def _used_keys(self, values: Sequence[NamedValue]) -> set[str]:
        return {self.said[place] for value in values for place in value.places}

    def _row_conditions(self, values: Sequence[NamedValue], column: int) -> tuple[RowCondition, ...]:
        """The conditions on rows: one of the values in each column."""
        by_column: dict[int, list[str]] = {}
        for value in sorted(values, key=lambda value: min(value.places)):
            by_column.setdefault(value.column, []).extend(value.texts)
        found = [RowCondition(at, tuple(texts)) for at, texts in by_column.items()]
        if self.asking.limits and column >= 0:
            found.append(RowCondition(column, (), self.asking.limits))
        return tuple(found)

    # counting

    def _count_answers(self, values: list[NamedValue]) -> Iterator[FoundAnswer]:
        """How many rows meet the conditions, or how many different values a column has; the noun decides which."""
        noun = frozenset(keys(self.asking.noun, self.read.analysis))
        left = self._unused_keys(values)
        named = [at for at, head in enumerate(self.asked_heads) if self.matching_keys(noun, head)]
        told = self.matching_keys(noun, self.around) or self._used_keys(values) & noun
        column = named[0] if named and not self.has_figures(named[0]) and not self.has_durations(named[0]) else -1
        bounded = self._bounded_column(left) if self.asking.limits else -1
        if any(self.has_durations(at) for at in named):
            return  # hours are added up
        if not noun or (not told and column < 0) or (self.asking.limits and bounded < 0):
            return
        given = self._row_conditions(values, bounded)
        texts = [text for text in self.table.column(column) if text] if column >= 0 else []
        distinct = len(set(texts)) < len(texts)
        wanted = Computation(operation="count", column=max(column, 0), given=given, distinct=distinct)
        heads = frozenset[str]().union(*(self.heads[at] for at in (*named, bounded) if at >= 0))
        held = self.matching_keys(left, heads) | told
        yield from self._accept_if_covered(wanted, values, held, (1.0, 1.0, 0), counted=column < 0)

    def _bounded_column(self, left: Sequence[str]) -> int:
        """The column of figures or dates that is bounded: the one whose header is named, else the only one."""
        able = [at for at in range(len(self.heads)) if self.has_figures(at) or self.has_dates(at)]
        named = [at for at in able if self.matching_keys(left, self.heads[at])]
        return named[0] if len(named) == 1 else able[0] if not named and len(able) == 1 else -1

    # weighing

    def _accept_if_covered(
        self,
        wanted: Computation,
        values: Sequence[NamedValue],
        head: frozenset[str] | set[str],
        fit: tuple[float, float, int],
        *,
        whole: bool = False,
        counted: bool = False,
    ) -> Iterator[FoundAnswer]:
        """The computation (of rows, if `counted`), if it accounts for enough of the question: for all, if `whole`."""
        labels = [*(value.column for value in values), *([wanted.label] if wanted.label >= 0 else [])]
        context = self.around.union(*(self.heads[at] for at in labels))
        held = {*head, *self._used_keys(values), *self.matching_keys(self.telling, context)}
        whole = whole or (self.table.of_records and not wanted.given)  # nothing but its words ties a question to a list
        if whole:
            held |= self._keys_of(verb[0] for verb in phrase_pattern(self.language, "doing").finditer(self.asking.rest))
        beyond = self._keys_of(self.asking.beyond)
        if self.names - held or not beyond <= (frozenset() if counted else self.heads[wanted.column]):
            return  # a word for what is not computed here, unless it belongs to the header
        weight = {key: NAME_WEIGHT if key in self.names else 1.0 for key in self.telling}
        total = sum(weight.values()) or 1.0
        covered = sum(weight[key] for key in held & weight.keys()) / total
        least = COVERED_BY_CELL if wanted.operation == "cell" else MIN_COVERED
        if covered < (1.0 if whole else least) or (wanted.operation == "cell" and self.table.of_records):
            return  # a field of a record is found as any other
        if answers := compute(self.table, wanted):
            yield FoundAnswer(table=self.table, wanted=wanted, answers=answers, covered=covered, fit=fit)
