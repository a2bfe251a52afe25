"""An agent that goes on from an earlier one: it has what that one found, the passages it saw, and what it asked."""

from __future__ import annotations

import re

import msgspec

from assay.agents.task import AgentTask, Finding, Toolset
from assay.core.phrases import nothing
from assay.core.text import estimate_tokens
from assay.phases.material import evidence, shorter
from assay.phases.state import Research

SHARE = 8
"""What was found, and the passages seen, each take at most this part of the window."""
MOST = 60
"""Passages looked at to fill it."""
_NUMBER = re.compile(r"\d+")


def predecessor(research: Research, continues: str) -> Finding | None:
    """The finding of the agent whose number stands in `continues` ("2", "agent-2"); None where there is none."""
    number = _NUMBER.search(continues)
    return research.finding_of(int(number[0][:9])) if number else None


def nobody(research: Research, continues: str) -> str:
    """What is said of a number in `continues` which no finished agent has; "" where there is nothing to say."""
    number = _NUMBER.search(continues)
    if number is None or not int(number[0][:9]) or predecessor(research, continues):
        return ""
    finished = ", ".join(str(finding.lane) for finding in research.findings) or "none"
    return f"There is no agent {number[0]} to go on from, so this one began anew (finished agents: {finished})."


def going_on(toolset: Toolset, task: AgentTask, earlier: Finding, findings: Research, window: int) -> AgentTask:
    """`task` with the context of `earlier`, and of those it went on from itself. Ids in it stay as they are.

    Args:
        window: the model's, in tokens.
    """
    lanes = (*earlier.continued, earlier.lane)
    found = [each for lane in lanes if (each := findings.finding_of(lane)) and each.text != nothing()]
    return msgspec.structs.replace(
        task, continued=lanes, earlier=_found(found, window // SHARE), seen=_seen(toolset, lanes, task, window // SHARE)
    )


def _found(findings: list[Finding], tokens: int) -> str:
    """What was found, the oldest of it shortened first."""
    kept = list(findings)
    while kept and estimate_tokens(_joined(kept)) > tokens:
        less = shorter(kept[0])
        kept = [less, *kept[1:]] if less != kept[0] else kept[1:]
    return _joined(kept)


def _joined(findings: list[Finding]) -> str:
    return "\n\n".join(finding.text for finding in findings)


def _seen(toolset: Toolset, lanes: tuple[int, ...], task: AgentTask, tokens: int) -> str:
    """The passages these lanes were shown which share most with the task, below their sources, as many as fit."""
    ledger = toolset.ledger.seeing(lanes)
    passages = ledger.recall(task.about, MOST)
    text = evidence(passages, ledger)
    while passages and estimate_tokens(text) > tokens:
        passages = passages[: len(passages) // 2]
        text = evidence(passages, ledger)
    return text
