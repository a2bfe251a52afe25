"""Every promise of SECURITY.md has a test, and the test is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMISES = re.findall(
    r"^\|([^|]*)\|([^|]*)\| `(test_\w+)` \|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.MULTILINE
)


def defined() -> set[str]:
    texts = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"^ *(?:async )?def (test_\w+)", text, re.MULTILINE)}


def test_every_promise_names_a_test_which_is_there() -> None:
    assert len(PROMISES) > 30
    assert {name for _, _, name in PROMISES} - defined() == set()
    assert all(who.strip() and promise.strip() for who, promise, _ in PROMISES)
