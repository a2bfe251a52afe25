"""The titles of steps out of a plan which streams."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.plan import StepTitles


def titles(text: str, *cuts: int) -> list[str]:
    """What is read of `text` in pieces."""
    reader, ends = StepTitles(), [0, *sorted(cuts), len(text)]
    return [title for at, end in pairwise(ends) for title in reader.feed(text[at:end])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"title": "Plan", "steps": [{"title": "A"}, {"description": "x", "title": "B"}]}', ["A", "B"]),
        ('```json\n{"steps": [{"title": "A", "type": "research", "needs_search": true}]}\n```', ["A"]),
        ('Here is the plan:\n[{"title": "A"}, {"title": "B"}]', ["A", "B"]),
        ('{"steps": ["A", "B"]}', ["A", "B"]),
        ('{"plan": {"title": "Plan", "steps": [{"title": "A"}]}}', ["A"]),
        ('{"steps": [{"title": "The \\"tide\\" \\u00e0 Brest\\n"}]}', ['The "tide" à Brest']),
        ('{"steps": [{"title": "A", "sources": [{"title": "no step"}]}]}', ["A"]),
        ('{"steps": [{"title": "A"}, {"title": "unfin', ["A"]),
        ('{"thought": "steps: [{\\"title\\": \\"no\\"}]", "steps": []}', []),
        ("no plan at all", []),
    ],
)
def test_titles(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


@given(st.lists(st.text(min_size=1, max_size=30), max_size=6), st.data())
def test_however_it_is_cut(names: list[str], data: st.DataObject) -> None:
    text = json.dumps({"title": "Plan", "steps": [{"description": "d, {[", "title": name} for name in names]})
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    wanted = [" ".join(name.split()) for name in names]
    assert titles(text, *cuts) == titles(text) == [name for name in wanted if name]


@given(st.text(alphabet='{}[]",:\\ titlesp', max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(isinstance(title, str) for title in titles(text))
