"""`tests/rules.md` names a test for every rule; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = (TESTS / "rules.md").read_text(encoding="utf-8")
NAMED = frozenset(re.findall(r"`(test_\w+)`(?!\.py)", TABLE))
FILES = frozenset(re.findall(r"`(\w+\.json)`", TABLE))
LEAST_RULES = 50


def test_every_test_named_exists() -> None:
    written = {
        name for file in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)\(", file.read_text("utf-8"))
    }
    assert NAMED - written == set()
    assert {file for file in FILES if not (TESTS / "runs" / "golden" / file).exists()} == set()


def test_every_rule_names_a_test() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and "---" not in line]
    rules = [row.split(" | ", 1) for row in rows if not row.startswith("| rule ")]
    assert len(rules) > LEAST_RULES
    assert [rule for rule, tests in rules if not re.search(r"`(test_\w+|\w+\.json)`", tests)] == []
