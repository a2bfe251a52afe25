"""Reports as a terminal shows them."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from sampling import scaled
from shown import TEXT, full

from assay.core.clean import HARMFUL
from assay.core.translation import Statement
from assay.core.view import RunView
from assay.export.terminal import MAX_WIDTH, MIN_WIDTH, render

ESCAPE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\")
"""Colours and links: all that a laid-out report sends to a terminal besides its words."""
NOTICES = "So.\n\n*As of 2026-01-02.*\n\n*Compiled by a machine.*\n\nFound. [S1.1]\n"


def shown(text: str = TEXT, width: int = 80) -> str:
    return render(full(text).view, "numbers", width, colour=False)


def test_it_is_laid_out() -> None:
    text = shown().partition("Claims to check")[0]
    assert "The answer is bold, italic, code and struck [1]" in text
    assert "\nDetails in 中文\n" in text
    assert "  • one item [1]" in text
    assert "  7. seven" in text
    assert "\nSources\n\n  1. Style Guide" in text
    body = text.partition("\nSources\n")[0]
    assert not any(mark in body for mark in ("**", "](", "## ", "~~", "`"))


def test_a_claim_to_check_carries_its_verdict_and_is_listed() -> None:
    text = shown()
    assert "[⚠ contradicted]" in text
    assert "Claims to check\n\n  • contradicted: the number differs" in text


def test_notices_of_code_share_one_quiet_paragraph() -> None:
    view = full(NOTICES).view
    stated: dict[str, Statement] = {"As of 2026-01-02.": "date", "Compiled by a machine.": "notice"}
    known = msgspec.structs.replace(view, report=msgspec.structs.replace(view.report, stated=stated))
    assert "\nAs of 2026-01-02. Compiled by a machine.\n" in render(known, "numbers", 80, colour=False)
    assert "\x1b[2;3mAs of 2026-01-02." in render(known, "numbers", 80, colour=True)
    assert "\nAs of 2026-01-02.\n\nCompiled by a machine.\n" in shown(NOTICES)  # the writer's own


@pytest.mark.parametrize("width", [5, 40, 80, 300])
def test_lines_end_at_words_within_the_width(width: int) -> None:
    words = "plain words which are wrapped where a word ends " * 20
    lines = shown(f"{words}[S1.1]", width).splitlines()
    assert max(map(cell_len, lines)) <= max(MIN_WIDTH, min(width, MAX_WIDTH))
    joined = " ".join(line for line in lines if line)
    assert words.strip() in joined


def test_links_lead_to_the_web_alone_and_nothing_else_steers_a_terminal() -> None:
    coloured = render(full().view, "numbers", 100, colour=True)
    assert re.search(r"\x1b\]8;id=\d+;https://example\.org/a\?b=1&c=2\x1b\\", coloured)
    assert "javascript:" not in "".join(ESCAPE.findall(coloured))
    plain = ESCAPE.sub("", coloured)
    assert not HARMFUL.search(plain.replace("\n", ""))


@settings(max_examples=scaled(60), deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200), st.integers(1, 200))
def test_no_text_steers_a_terminal(text: str, width: int) -> None:
    view: RunView = full(f"{text} [S1.1]").view
    assert not HARMFUL.search(render(view, "numbers", width, colour=False).replace("\n", ""))
    assert not HARMFUL.search(ESCAPE.sub("", render(view, "numbers", width, colour=True)).replace("\n", ""))
