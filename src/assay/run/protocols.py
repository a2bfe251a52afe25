"""The protocol of tools, which plug into a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from assay.core.messages import ToolDefinition
from assay.evidence.ledger import DocumentPassages as DocumentPassages
from assay.evidence.ledger import Ledger

if TYPE_CHECKING:
    from assay.run.run import Run


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call's result: one line for a person, passages and a note for the model."""

    summary: str
    shown: tuple[DocumentPassages, ...] = ()
    note: str = ""


class Tool(Protocol):
    """An action a research agent may take. Its outside work goes through `run.step`."""

    @property
    def name(self) -> str: ...

    @property
    def definition(self) -> ToolDefinition: ...

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Act.

        Raises:
            ToolFailed: it cannot be done; the model is told the reason.
            LimitReached: a limit closed the lane.
        """
        ...
