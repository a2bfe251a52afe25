"""`recall`: search what this run has read already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from assay.core.errors import ToolError
from assay.evidence.ledger import Ledger
from assay.run.protocols import Observation
from assay.run.run import Run
from assay.tools import common
from assay.tools.arguments import define, read

LIMIT = 10
NOTHING = "Nothing read so far has these words."


class RecallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `recall`."""

    query: Annotated[str, msgspec.Meta(description="Words of what was read before.")]


class RecallTool:
    """Ranks the passages in the ledger; it calls nothing outside, so it costs nothing."""

    name = "recall"
    definition = define(
        "recall",
        "Look again at passages already read in this research, by this agent or by those who finished before it.",
        RecallArguments,
    )

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Recall.

        Raises:
            ToolError: bad arguments.
        """
        parsed = read(self.definition, arguments, RecallArguments)
        if not parsed.query.strip():
            raise ToolError("the query is empty")
        passages = ledger.recall(parsed.query, LIMIT)
        excerpts = common.fit_passages(ledger.excerpts(passages), common.result_chars(run))
        summary = f"{sum(len(excerpt.spans) for excerpt in excerpts)} passages read before"
        return Observation(summary=summary, shown=excerpts, note="" if excerpts else NOTHING)
