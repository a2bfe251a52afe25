"""What is told of the steps done so far: to the reflector, to the planner, to whoever works on the next step."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.task import Finding, Toolset
from assay.core.messages import Message, Profile
from assay.core.text import estimate_tokens
from assay.phases.case import data, user
from assay.phases.material import fitted

SHARE = 4
"""Findings told beside other things take at most this part of the window."""


class StepFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding in the `findings` message: `searched` are the queries asked, `cites` counts the passages cited."""

    step: int
    task: str
    searched: tuple[str, ...]
    cites: int
    text: str


def findings_message(toolset: Toolset, findings: Sequence[Finding], tokens: int) -> tuple[Message, ...]:
    """The findings as one message, shortened to `tokens`."""

    def told(some: Sequence[Finding]) -> list[Message]:
        return [user("findings", data([_told(toolset, finding) for finding in some]))]

    return tuple(fitted(findings, tokens, told))


def _told(toolset: Toolset, finding: Finding) -> StepFinding:
    return StepFinding(
        step=finding.step,
        task=finding.task,
        searched=toolset.ledger.seeing([finding.lane]).queries(),
        cites=0 if finding.uncited else len(finding.passages),
        text=finding.text,
    )


def earlier(findings: Sequence[Finding], profile: Profile) -> str:
    """What the steps before have found, for an agent's brief: the newest of it that fits an eighth of the window."""
    spare, told = profile.window // 8, list[str]()
    for finding in reversed([finding for finding in findings if finding.passages]):
        text = f"{finding.task.splitlines()[0]}:\n{finding.text}"
        spare -= estimate_tokens(text)
        if spare < 0:
            break
        told.append(text)
    return "\n\n".join(reversed(told))
