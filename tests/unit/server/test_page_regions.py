"""The regions of a run's page: who watched from the beginning sees at the end what one sees who comes then."""

from __future__ import annotations

import pytest
from repair_runs import FOUND, LIES, run

from assay.core.view import ViewBuilder
from assay.server.page.hub import Board, screen_of


@pytest.mark.parametrize("report", [FOUND, f"{FOUND}\n\n## More\n\n{LIES[0]}", LIES[0]])
async def test_a_screen_which_was_watched_ends_as_one_which_is_read_anew(report: str) -> None:
    log = await run(report)
    builder, board = ViewBuilder(), Board()
    for envelope in log.envelopes:
        builder.extend([envelope])
        board.put(board.render(builder.view, at_once=True))
    assert board.html == screen_of(builder.view)
    assert "being checked" not in board.html["report"]
