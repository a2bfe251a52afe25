"""Decides which computation over which table answers a question.

Every word of the question must be accounted for: by the operation, by values in cells (which select rows), by the
header of the column asked for, or by the names of the table and what it says about its columns. Words are compared as
everywhere else (`core.relevance`: stems, near forms). Names and numbers weigh double and all must be accounted for;
half of the other words may be left over, for a single cell a third, for a count none. If two columns answer equally
well, nothing is answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

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
MAX_STATED_CELLS = 5
"""The most rows whose cells are stated one by one; if more match, the question is too vague."""
MAX_ROWS = 100_000


class FoundAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A computation over a table, how much of the question it accounts for (0 to 1), and how well its column fits."""

    table: ReadTable
    computation: Computation
    answers: tuple[TableAnswer, ...]
    coverage: float
    fit: tuple[float, float, int]


def answer_question(question: str, tables: Iterable[ReadTable]) -> FoundAnswer | None:
    """The best answer to a question over `tables`, of equal ones that from the first table; None if there is none."""
    asked_operation = read_asking(question)
    best_answers = (_TableQuestion(question, asked_operation, table).best_answer() for table in tables)
    answers = [answer for answer in best_answers if answer is not None]
    return max(answers, key=lambda answer: (answer.coverage, answer.fit), default=None)


def find_cell(question: str, head: str, tables: Iterable[ReadTable]) -> tuple[str, TableAnswer] | None:
    """The header nearest to `head`, with its cell in the one row whose values a question names; None without one."""
    asked_operation = read_asking(question)
    cells = (cell for table in tables for cell in _TableQuestion(question, asked_operation, table).cells(head))
    return next(cells, None)


class _TableQuestion(TableWords):
    def best_answer(self) -> FoundAnswer | None:
        """The best computation, None if none accounts for enough of the question."""
        if not self.table.rows or len(self.table.rows) > MAX_ROWS or self.topic_question.answer_kind == "reason":
            return None
        if not self.topic_keys and not self.asked_operation.noun:
            return None
        if (values := self.values()) is None:
            return None
        operations = self.asked_operation.operations
        answers = (answer for operation in operations for answer in self._column_answers(operation, values))
        return max(answers, key=lambda candidate: (candidate.coverage, candidate.fit), default=None)

    def cells(self, head: str) -> Iterator[tuple[str, TableAnswer]]:
        """The header, and its cell in the one row that the question's values select."""
        values = self.values() or []
        head_keys = self.name_keys(head)
        fits = [
            (self._header_fit(index, sorted(head_keys), MeasuredOperation("cell")), index)
            for index in self._unchosen_columns(values)
        ]
        ranked = sorted((fit for fit in fits if fit[0][0] >= len(head_keys) / 2 and fit[0][0] > 0), reverse=True)
        if values and ranked and (len(ranked) == 1 or ranked[0][0] > ranked[1][0]):
            column, conditions = ranked[0][1], self._row_conditions(values, -1)
            answers = compute(self.table, Computation(operation="cell", column=column, conditions=conditions))
            if len(answers) == 1 and (not self.names or self._used_keys(values) & self.names):
                yield self.table.heads[column], answers[0]

    # columns

    def _column_answers(self, measured_operation: MeasuredOperation, values: list[NamedValue]) -> Iterator[FoundAnswer]:
        """Computations over the column that fits best; of a count also over rows."""
        if measured_operation.operation == "count":
            yield from self._count_answers(values)
        unused_keys = self._unused_keys(values)
        able = [index for index in self._unchosen_columns(values) if self._is_able(index, measured_operation)]
        asked_keys = frozenset(self.question_keys)
        asked = {self.table.heads[index] for index in able if self.heads[index] and self.heads[index] <= asked_keys}
        if measured_operation.operation == "cell" and len(asked) > 1:
            return  # "in 2024 and 2025": one cell is half an answer
        fits = ((self._header_fit(index, unused_keys, measured_operation), index) for index in able)
        ranked = sorted(((fit, index) for fit, index in fits if fit[0] > 0), reverse=True)
        if ranked and (len(ranked) == 1 or ranked[0][0] != ranked[1][0]):
            yield from self._over_column(measured_operation, values, *ranked[0])
        elif not ranked and (paid_column := self._paid_column(values)) is not None:
            yield from self._over_column(measured_operation, values, (0.5, 0.0, 0), paid_column, implied=True)

    def _over_column(
        self,
        measured_operation: MeasuredOperation,
        values: list[NamedValue],
        fit: tuple[float, float, int],
        column: int,
        *,
        implied: bool = False,
    ) -> Iterator[FoundAnswer]:
        """A computation over a column, which may be only `implied`. What is counted or spent is added up over the rows
        that a question chooses: "how many hours did A work in March?".
        """
        conditions = self._row_conditions([value for value in values if value.column != column], column)
        head = self.matching_keys(self._unused_keys(values), self.asked_heads[column])
        cell_computation = Computation(operation="cell", column=column, conditions=conditions)
        cells = compute(self.table, cell_computation) if values else ()
        if not implied and (measured_operation.operation == "cell" or len(cells) == 1):
            if 0 < len(cells) <= MAX_STATED_CELLS and not self.asked_operation.limits:
                yield from self._accept_if_covered(cell_computation, values, head, fit, needs_all=not head)
            return
        is_added, extreme = (
            implied or measured_operation.operation == "count",
            measured_operation.operation in ("max", "min"),
        )
        label = self._label_column(column, values) if extreme or not is_added else -1
        group_operation = self._group_operation(measured_operation, label)
        if is_added and not (
            self._is_added(measured_operation, values, column)
            or group_operation
            or (extreme and not measured_operation.measures and label >= 0)
        ):
            return
        operation = "sum" if measured_operation.operation in ("cell", "count") else measured_operation.operation
        computation = Computation(
            operation=operation, column=column, conditions=conditions, label=label, group_operation=group_operation
        )
        if implied and measured_operation.operation == "cell" and len(cells) == 1 and len(cells[0].rows) == 1:
            computation = cell_computation
        accounted_keys = head | (
            self.keys_of(self.asked_operation.grouping_phrases) if group_operation or implied else set()
        )
        accounted_keys |= (
            self.keys_of((*self.asked_operation.payment_words, *self.function_words())) if is_added else set()
        )
        yield from self._accept_if_covered(
            computation,
            values,
            accounted_keys,
            fit,
            needs_all=is_added or (bool(measured_operation.measures) and not head),
        )

    def _is_added(self, measured_operation: MeasuredOperation, values: list[NamedValue], column: int) -> bool:
        """True if a question for how much or how many may ask for a sum over the rows that its values choose."""
        if not values or measured_operation.operation not in ("cell", "count", "sum"):
            return False
        if measured_operation.operation == "count":
            is_repeated = any(columns.measures_at_times(self.table, value.column) for value in values)
            noun = self.matching_keys(
                keys(self.asked_operation.noun, self.topic_question.analysis), self.asked_heads[column]
            )
            return bool(noun) and not is_repeated and (self.has_figures(column) or self.has_durations(column))
        return measured_operation.operation == "sum" or self.topic_question.answer_kind == "number"

    # groups and amounts

    def _group_operation(self, measured_operation: MeasuredOperation, label: int) -> OverGroups:
        """What an extreme is taken of: the groups of rows that a question names ("which supplier gets the most?")."""
        is_named = label >= 0 and (self._is_person(label) or self.matching_keys(self.topic_keys, self.heads[label]))
        if (
            measured_operation.operation not in ("max", "min")
            or not is_named
            or not columns.is_grouping(self.table, label)
        ):
            return ""
        at_times = self.asked_operation.implied and columns.measures_at_times(self.table, label)
        return "" if at_times else self.asked_operation.group_operation

    def _paid_column(self, values: Sequence[NamedValue]) -> int | None:
        """The column of the amount of which a question has only the verb ("how much did we spend on soap?").

        Money is in no column of other figures, though it may be the only one.
        """
        if not self.asked_operation.payment_words or phrase_pattern(self.language, "times").search(
            self.asked_operation.remaining_text
        ):
            return None
        figure_columns = [index for index in self._unchosen_columns(values) if self.has_figures(index)]
        paid_columns = [
            index
            for index in figure_columns
            if self.matching_keys(self.keys_of(languages()[self.language].paid.split()), self.heads[index])
        ]
        amounts = (index for index in figure_columns if columns.is_amount(self.table, index))
        money = phrase_pattern(self.language, "money").search(self.asked_operation.remaining_text)
        able = paid_columns or [index for index in amounts if not money or columns.is_money(self.table, index)]
        return able[0] if len(able) == 1 else None

    def _unchosen_columns(self, values: Sequence[NamedValue]) -> list[int]:
        """The columns without a value from the question."""
        chosen = {value.column for value in values}
        return [column for column in range(len(self.table.heads)) if column not in chosen]

    def _is_able(self, column: int, measured_operation: MeasuredOperation) -> bool:
        """True if an operation is possible over a column, and its result may answer: no number says who."""
        if measured_operation.operation == "cell" and self.topic_question.answer_kind == "name":
            return not self.has_figures(column) and not self.has_dates(column)
        if measured_operation.operation == "cell" and self.topic_question.answer_kind == "date":
            return any(map(str.isdigit, "".join(self.table.column(column))))
        if measured_operation.operation in ("cell", "count"):
            return True
        if self.has_figures(column):  # the largest invoice has no number
            return not self.asked_operation.payment_words or columns.is_amount(self.table, column)
        is_ordered = measured_operation.operation in ("max", "min") and not self.asked_operation.implied
        return self.has_durations(column) or (is_ordered and self.has_dates(column))

    def _header_fit(
        self, column: int, unused_keys: Sequence[str], measured_operation: MeasuredOperation
    ) -> tuple[float, float, int]:
        """How well a header fits the question: matching words, the share of the header they cover, equal words."""
        head = self.heads[column]
        matched_keys = self.matching_keys(unused_keys, self.asked_heads[column])
        extra_keys = self.matching_keys(self.extra, head)
        measured_fit = self._measured_fit(column, measured_operation)
        has_alternatives = (
            len({alternative.operation for alternative in self.asked_operation.operations}) > 1
        )  # "fastest": most speed, or least time
        if not measured_fit and (
            has_alternatives or not (matched_keys or (extra_keys and measured_operation.operation == "cell"))
        ):
            return (0.0, 0.0, 0)
        all_keys = frozenset((*matched_keys, *extra_keys))
        share = (
            len(self.matching_keys(head, all_keys | self.extra | frozenset(unused_keys))) / len(head) if head else 0.0
        )
        words = set(self.asked_operation.remaining_text.casefold().split())
        plain = {part.casefold() for part in WORD_PARTS.split(self.table.heads[column]) if part}
        return (len(matched_keys) + 0.5 * len(extra_keys) + measured_fit, share, len(words & plain))

    def _measured_fit(self, column: int, measured_operation: MeasuredOperation) -> float:
        """How well a column fits what words of degree measure, by its header, its cells or its unit; else 0."""
        nouns = [noun for noun in measured_operation.measures if not noun.startswith(QUANTITY_SIGN)]
        measures = frozenset(key for noun in nouns for key in keys(noun, self.topic_question.analysis))
        head = self.heads[column]
        if measures and (self.matching_keys(head, measures) or self.matching_keys(measures, head)):
            return MEASURED_BY_HEADER
        matches_cells = len(nouns) < len(measured_operation.measures) and not columns.quantities(
            self.table, column
        ).isdisjoint(measured_operation.measures)
        return MEASURED_BY_CELLS if matches_cells else 0.0

    def _is_person(self, column: int) -> bool:
        """True if a column has those whom "who" asks for, by its header."""
        head = self.table.heads[column].strip()
        return (
            self.topic_question.answer_kind == "name"
            and phrase_pattern(self.language, "persons").fullmatch(head) is not None
        )

    def _label_column(self, column: int, values: Sequence[NamedValue]) -> int:
        """The column that names rows: persons for "who", else asked for, else with most different texts.

        -1 without one, or if the same names are in another column that fits as well.
        """
        ranked: list[tuple[bool, int, float, int]] = []
        other_keys = (
            frozenset(self.question_keys) - self.stop - self.matching_keys(self.question_keys, self.heads[column])
        )
        for index in self._unchosen_columns(values):
            texts = [text for text in self.table.column(index) if text]
            header_matches, person = len(self.matching_keys(other_keys, self.heads[index])), self._is_person(index)
            numbers = self.has_figures(index) or self.has_dates(index)
            if (
                index == column
                or not texts
                or (numbers and not (self.heads[index] and self.heads[index] <= other_keys))
            ):
                continue
            different = len(set(texts)) / len(texts)
            if person or header_matches or different >= MIN_DIFFERENT_TEXTS:
                ranked.append((person, header_matches, different, -index))
        ranked.sort(reverse=True)
        best = {text for *_, index in ranked[:1] for text in self.table.column(-index) if text}
        alike = [
            candidate
            for candidate in ranked
            if candidate[:2] == ranked[0][:2] and not best.isdisjoint(self.table.column(-candidate[3]))
        ]
        return -alike[0][3] if len(alike) == 1 else -1

    # conditions

    def _unused_keys(self, values: Sequence[NamedValue]) -> list[str]:
        """The significant words of the question that name no value."""
        used = frozenset[int]().union(*(value.positions for value in values))
        return [key for index, key in enumerate(self.question_keys) if index not in used and key in self.topic_keys]

    def _used_keys(self, values: Sequence[NamedValue]) -> set[str]:
        return {self.question_keys[position] for value in values for position in value.positions}

    def _row_conditions(self, values: Sequence[NamedValue], column: int) -> tuple[RowCondition, ...]:
        """The conditions on rows: one of the values in each column."""
        by_column: dict[int, list[str]] = {}
        for value in sorted(values, key=lambda value: min(value.positions)):
            by_column.setdefault(value.column, []).extend(value.texts)
        conditions = [RowCondition(index, tuple(texts)) for index, texts in by_column.items()]
        if self.asked_operation.limits and column >= 0:
            conditions.append(RowCondition(column, (), self.asked_operation.limits))
        return tuple(conditions)

    # counting

    def _count_answers(self, values: list[NamedValue]) -> Iterator[FoundAnswer]:
        """How many rows meet the conditions, or how many different values a column has; the noun decides which."""
        noun_keys = keys(self.asked_operation.noun, self.topic_question.analysis)
        noun = frozenset(noun_keys)
        unused_keys = self._unused_keys(values)
        named_columns = [index for index, head in enumerate(self.asked_heads) if self.matching_keys(noun, head)]
        shared = [value for value in values if columns.is_grouping(self.table, value.column)]  # others name one row
        context_matches = self.matching_keys(noun, self.row_names()) or self._used_keys(shared) & noun
        column = (
            named_columns[0]
            if named_columns and not self.has_figures(named_columns[0]) and not self.has_durations(named_columns[0])
            else -1
        )
        bounded_column = self._bounded_column(unused_keys) if self.asked_operation.limits else -1
        if any(self.has_durations(index) for index in named_columns):
            return  # hours are added up
        if not noun or (not context_matches and column < 0) or (self.asked_operation.limits and bounded_column < 0):
            return
        conditions = self._row_conditions(values, bounded_column)
        texts = [text for text in self.table.column(column) if text] if column >= 0 else []
        distinct = len(set(texts)) < len(texts)
        computation = Computation(operation="count", column=max(column, 0), conditions=conditions, distinct=distinct)
        heads = frozenset[str]().union(*(self.heads[index] for index in (*named_columns, bounded_column) if index >= 0))
        matched_keys = self.matching_keys(unused_keys, heads) | context_matches
        if not context_matches.isdisjoint(noun_keys[:1]):
            matched_keys |= noun  # "order entries"; of "gift orders" the first word chooses
        yield from self._accept_if_covered(
            computation, values, matched_keys, (1.0, 1.0, 0), needs_all=True, counts_rows=column < 0
        )

    def _bounded_column(self, unused_keys: Sequence[str]) -> int:
        """The column of figures or dates that is bounded: the one whose header is named, else the only one."""
        able = [index for index in range(len(self.heads)) if self.has_figures(index) or self.has_dates(index)]
        named_columns = [index for index in able if self.matching_keys(unused_keys, self.heads[index])]
        return named_columns[0] if len(named_columns) == 1 else able[0] if not named_columns and len(able) == 1 else -1

    # weighing

    def _accept_if_covered(
        self,
        computation: Computation,
        values: Sequence[NamedValue],
        head: frozenset[str] | set[str],
        fit: tuple[float, float, int],
        *,
        needs_all: bool = False,
        counts_rows: bool = False,
    ) -> Iterator[FoundAnswer]:
        """The computation (of rows, if `counts_rows`), if it accounts for enough of the question: for all, if
        `needs_all`.
        """
        labels = [*(value.column for value in values), *([computation.label] if computation.label >= 0 else [])]
        context = self.context_keys.union(*(self.heads[label] for label in labels))
        covered_keys = {*head, *self._used_keys(values), *self.matching_keys(self.topic_keys, context)}
        needs_all = needs_all or (
            self.table.of_records and not computation.conditions
        )  # nothing but its words ties a question to a list
        if needs_all:
            verbs = phrase_pattern(self.language, "doing").finditer(self.asked_operation.remaining_text)
            covered_keys |= self.keys_of(verb[0] for verb in verbs)
        if computation.operation != "cell" and not self.are_listed(values):
            return
        beyond = self.keys_of(self.asked_operation.beyond)
        if self.names - covered_keys or not beyond <= (frozenset() if counts_rows else self.heads[computation.column]):
            return  # a word for what is not computed here, unless it belongs to the header
        weight = {key: NAME_WEIGHT if key in self.names else 1.0 for key in self.topic_keys}
        total = sum(weight.values()) or 1.0
        coverage = sum(weight[key] for key in covered_keys & weight.keys()) / total
        least = COVERED_BY_CELL if computation.operation == "cell" else MIN_COVERED
        if coverage < (1.0 if needs_all else least) or (computation.operation == "cell" and self.table.of_records):
            return  # a field of a record is found as any other
        if answers := compute(self.table, computation):
            yield FoundAnswer(table=self.table, computation=computation, answers=answers, coverage=coverage, fit=fit)
