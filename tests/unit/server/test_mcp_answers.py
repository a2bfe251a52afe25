"""Parts of a report as tools give them."""

from __future__ import annotations

import pytest
from shown import full

from assay.server.mcp.answers import part_of

SUMMARIES = [
    (
        "Seven metres. [S1.1]\n\n## Tide\n\nIt turns.\n\n```\n# no heading\n```\n\nMoon\n----\n\nIt rises.\n",
        "Seven metres. [1]\n\nSections:\n- Tide\n- Moon",
    ),
    ("# Tides\n\nSeven metres. [S1.1]\n\n## More\n\nIt turns.", "# Tides\n\nSeven metres. [1]\n\nSections:\n- More"),
    ("# Tides\n\n## First\n\nSeven.\n\n## Then\n\nIt turns.", "# Tides\n\n## First\n\nSeven.\n\nSections:\n- Then"),
    ("Seven metres.", "Seven metres."),
    ("# Tides", "# Tides"),
]


@pytest.mark.parametrize(("report", "summary"), SUMMARIES)
def test_a_summary_is_the_answer_and_the_headings_below_it(report: str, summary: str) -> None:
    assert part_of(full(report).view, "summary") == summary
