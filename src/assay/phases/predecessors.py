"""What an agent gets from agents before it: those that it continues, and those whose findings it needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from assay.agents.task import AgentTask, Finding
from assay.core.phrases import nothing
from assay.core.text import estimate_tokens
from assay.evidence.ledger import Ledger
from assay.phases.case import Research
from assay.phases.material import evidence, shorter

SHARE = 8
"""Findings and seen passages each take at most 1/`SHARE` of the window."""
MOST = 60
"""Passages looked at to fill it."""
_NUMBER = re.compile(r"\d+")


def predecessor(research: Research, continues: str) -> Finding | None:
    """The finding of the agent with the number in `continues` ("2", "agent-2"); None if there is none."""
    number = _NUMBER.search(continues)
    return research.finding_of(int(number[0][:9])) if number else None


def nobody(research: Research, continues: str) -> str:
    """The message about a number in `continues` that no finished agent has; "" if there is no need for one."""
    number = _NUMBER.search(continues)
    if number is None or not int(number[0][:9]) or predecessor(research, continues):
        return ""
    finished = ", ".join(str(finding.lane) for finding in research.findings) or "none"
    return f"There is no agent {number[0]} to go on from, so this one began anew (finished agents: {finished})."


def going_on(ledger: Ledger, task: AgentTask, earlier: Finding, findings: Research, window: int) -> AgentTask:
    """`task` with the context of `earlier` and of the agents that one continued. Ids in it stay as they are.

    Args:
        window: the model's, in tokens.
    """
    lanes = (*earlier.continued, earlier.lane)
    found = [each for lane in lanes if (each := findings.finding_of(lane)) and each.text != nothing()]
    return msgspec.structs.replace(
        task,
        continued=lanes,
        earlier=_findings_text(found, window // SHARE),
        seen=_passages_for(ledger, lanes, task, window // SHARE),
    )


def _findings_text(findings: list[Finding], tokens: int) -> str:
    """Findings, shortened from the oldest on."""
    kept = list(findings)
    while kept and estimate_tokens(_joined(kept)) > tokens:
        less = shorter(kept[0])
        kept = [less, *kept[1:]] if less != kept[0] else kept[1:]
    return _joined(kept)


def _joined(findings: list[Finding]) -> str:
    return "\n\n".join(finding.text for finding in findings)


def _passages_for(ledger: Ledger, lanes: tuple[int, ...], task: AgentTask, tokens: int) -> str:
    """The passages shown to these lanes that share most with the task, below their sources, as many as fit."""
    ledger = ledger.seeing(lanes)
    passages = ledger.recall(task.about, MOST)
    text = evidence(passages, ledger)
    while passages and estimate_tokens(text) > tokens:
        passages = passages[: len(passages) // 2]
        text = evidence(passages, ledger)
    return text


def informed(ledger: Ledger, task: AgentTask, found: Sequence[Finding], window: int) -> AgentTask:
    """`task` with findings that it needs and the passages nearest to it among those their agents were shown.

    Args:
        window: the model's, in tokens.
    """
    useful = [each for each in found if each.text != nothing()]
    if not useful or task.analysis:
        return task
    lanes = tuple(each.lane for each in useful)
    earlier = "\n\n".join(filter(None, (task.earlier, _findings_text(useful, window // SHARE))))
    seen = task.seen or _passages_for(ledger, lanes, task, window // SHARE)
    return msgspec.structs.replace(task, earlier=earlier, seen=seen)


def not_before(after: Sequence[int], before: Collection[int]) -> str:
    """The message about numbers in `after` that no earlier call of the reply has; "" if there is no need for one."""
    unknown = ", ".join(str(number) for number in sorted(set(after)) if number not in before)
    return f"No call before it has the number {unknown}, so this agent did not wait for one." if unknown else ""
