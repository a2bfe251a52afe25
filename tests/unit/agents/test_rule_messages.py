"""Rules as sentences: for a model all that the values say, and nothing a program would write."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.history import RuleTexts, number_list, pluralize, rules_message
from assay.agents.loop import TurnRules
from assay.phases.background import QueryRules
from assay.phases.orchestrator import CycleRules
from assay.phases.planner import PlanRules
from assay.phases.reflective import ReplanRules
from assay.phases.reflector import ReflectRules
from assay.phases.survey.batches import BatchRules
from assay.phases.triage import TriageRules
from assay.phases.writer import WriteRules

DATE = "2026-01-31"
RULE_TEXTS: list[RuleTexts] = [
    TurnRules(7, 11),
    TurnRules(7, 11, 5),
    QueryRules(queries=4),
    CycleRules(cycle=7, cycles=11, agents_at_once=5, date=DATE),
    CycleRules(cycle=11, cycles=11, agents_at_once=1, date=DATE),
    PlanRules(min_steps=4, max_steps=7, date=DATE),
    ReflectRules(
        step=2, steps_done=4, steps_left=1, failed=(3, 8), min_steps=5, max_steps=9, plan=6, plans=7, date=DATE
    ),
    ReplanRules(min_steps=4, max_steps=7, steps_done=5, plan=6, plans=8, date=DATE),
    BatchRules(batch=4, batches=7, look_for="the sea.", date=DATE),
    TriageRules(date=DATE, questions=4),
    WriteRules(date=DATE, language="German", part=4, parts=7, words=850, asked=True, recalls=5),
]


@pytest.mark.parametrize("texts", RULE_TEXTS, ids=lambda texts: type(texts).__name__)
def test_rules_are_sentences_with_every_number(texts: RuleTexts) -> None:
    message = rules_message(texts)
    values = msgspec.json.decode(message.values)
    for name, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        for number in numbers if name not in ("asked", "fewer", "unconsidered", "opening") else []:
            assert number is None or str(number) in message.text, name
    assert message.text[0].isupper()
    assert message.text.endswith(".")
    assert not set(message.text) & set('{}[]":_') or "look_for" in values
    assert "  " not in message.text
    assert (message.role, message.name) == ("user", "rules")


@given(st.integers(0, 50))
def test_a_noun_agrees_with_its_number(number: int) -> None:
    text = pluralize(number, "step")
    assert text.endswith("s") is (number != 1)
    assert text.startswith(str(number) if number else "no ")


@given(st.lists(st.integers(1, 99), min_size=1, max_size=6))
def test_numbers_are_listed_in_order(numbers: list[int]) -> None:
    text = number_list(tuple(numbers))
    assert [int(part) for part in text.replace(" and ", ", ").split(", ")] == numbers
    assert text.count(" and ") == (len(numbers) > 1)
