"""What models put around a text is taken away, and what they cite in other ways is cited by id."""

from __future__ import annotations

import json
import time

import pytest

from assay.agents.reply_text import cite_by_id, resolve_references, tidy_text
from assay.core.citations.reader import citation_reading, read_all
from assay.evidence.ledger import Ledger

ROSE, TURNED = "The tide rises seven metres", "It turns twice a day, as the moon makes it"
TEXT = f"{ROSE} [S1001.1]. {TURNED} [S1001.2, S1002.1]."
MORE = "## Winds\n\nThe mistral blows from the north-west, and it blows hard [S1003.1]."
AS_JSON = json.dumps({"report": f"{TEXT}\n\n{MORE}"})


def tidied(text: str) -> str:
    read = read_all(citation_reading(lambda name: name.startswith("S1")), text)
    tidy = tidy_text(read, Ledger())
    assert tidy_text(tidy, Ledger()) == tidy
    return tidy


@pytest.mark.parametrize(
    "around",
    [
        f"Certainly! Here is the report you asked for:\n\n{TEXT}\n\n{MORE}",
        f"Sure, here's a comprehensive report:\n\n---\n\n{TEXT}\n\n{MORE}\n\n---\n\nLet me know if I can help further!",
        f"{TEXT}\n\n{MORE}\n\n## References\n\n- S1001.1: tides.md\n- [S1002] winds.md",
        f"{TEXT}\n\n{MORE}\n\n**Sources:**\n1. [S1001.1] tides.md\n2. [S1003.1]\n\nI hope this helps!",
        f"{TEXT}\n\n{MORE}\n\n{TEXT}\n\n{MORE}",
        AS_JSON,
        f"Here is the report:\n\n```json\n{AS_JSON}\n```\n\nLet me know!",
        json.dumps({"answer": TEXT, "sections": [{"heading": "Winds", "text": MORE.partition("\n\n")[2]}]}, indent=2),
    ],
)
def test_what_stands_around_a_text_is_taken_away(around: str) -> None:
    assert tidied(around) == f"{TEXT}\n\n{MORE}"


@pytest.mark.parametrize(
    ("first", "others", "below"),
    [
        ("[^1]", "[^2][^3]", "[^1]: S1001.1\n[^2]: S1001.2\n[^3]: S1002.1 winds.md"),
        ("[1]", "[2, 3]", "## References\n\n[1] S1001.1\n[2] S1001.2: tides.md\n[3] (S1002.1)"),
        ("[1]", "[2; 3]", "References:\n\n1. [S1001.1]\n2. [S1001.2] tides.md\n3. [S1002.1]"),
    ],
)
def test_numbers_become_the_ids_they_stand_for(first: str, others: str, below: str) -> None:
    text = tidied(f"{ROSE} {first}. {TURNED} {others}.\n\n{below}")
    assert text.replace("][", ", ").removesuffix("\n\nReferences:") == TEXT


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "Here are the causes:\n\n- the moon [S1001.1]\n- the sun [S1002.1]",
        "Great reefs are dying [S1001.1].\n\nIf you have a boat, it is 12 miles [S1001.2].",
        f"1. {ROSE} [S1001.1]\n2. {TURNED} [S1002.1]",
        "The list [1] has three items [S1001.1].\n\n1. one [S1001.1]\n2. two",
        f"{TEXT}\n\n## Sources\n\nThe river rises from three springs [S1001.1].",
        f'{TEXT}\n\n```json\n{{"a": 1}}\n```',
        '```json\n{"a": 1}\n```\n\nThat is the setting [S1001.1].',
        "| Port | Height |\n|---|---|\n| Brest | 7 m [S1001.1] |",
        "### A\n\nLong [S1001.1].\n\n### B\n\nNo source says.\n\n### A\n\nShort.\n\n### C\n\nNo source says.",
        "### A\n\nNo source states a figure for this.\n\n### B\n\nNo source states a figure for this.",
        f"{TEXT}\n\nPlease note that all figures are estimates.",
        f"{TEXT}\n\n```python\nprint('a long line of code, once')\n\n\nprint('a long line of code, once')\n```",
        '```json\n{"name": "tides"}\n```',
        "## High\n\nSeven metres [S1001.1].\n\n## Low\n\nSeven metres [S1001.1].",
        f"{ROSE}.\n\n{TURNED} [S1001.2].\n\n{ROSE} [S1001.1].",
        f"{TEXT}\n\n## Works\n\n- Low Water, 1907 [S1001.1]\n- Spring Tide [S1001.2]",
        f"{TEXT}\n\n## Evidence\n\n- A gauge at Brest [S1001.1]",
        f"{TEXT}\n\n## Sources\n\n- Three springs feed it [S1003.1]",
    ],
)
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    assert tidied(text) == text


def test_sources_may_be_cited_by_name() -> None:
    names = {"tides.md": ("S1001", "S2001"), "https://example.org/winds": ("S1002",), "the tides": ("S1001",)}
    text = (
        "It rises (tides.md). It turns [Source: The Tides]. It blows ([example.org](https://example.org/winds)). "
        "See [the winds](https://example.org/winds), [other](https://example.org/else) (and more)."
    )
    assert cite_by_id(text, names) == (
        "It rises [S1001, S2001]. It turns [S1001]. It blows (example.org [S1002]). "
        "See the winds [S1002], [other](https://example.org/else) (and more)."
    )
    listed = "It blows [1].\n\n[1]: The winds, https://example.org/winds"
    assert resolve_references(listed, names) == "It blows [S1002]."


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"[{number % 999}]: [S1001.{number}]\n" for number in range(8_000)),
        "`a` [1] " * 4_000 + "\n\n[1]: [S1001.1]\n",
        "here is " + "report " * 8_000 + f"\n\n{TEXT}",
    ],
)
def test_long_texts_take_no_more_than_linear_time(text: str) -> None:
    began = time.process_time()
    tidy_text(text, Ledger())
    assert time.process_time() - began < 2
