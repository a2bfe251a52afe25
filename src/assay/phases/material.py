"""Findings as material for the writer, in parts that fit, and for the agents that continue the work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from assay.agents.findings import AgentTask, Finding
from assay.agents.findings_request import evidence_text, nearest_evidence
from assay.agents.history import total_tokens
from assay.core.lazy import regex
from assay.core.messages import Message
from assay.core.phrases import nothing_found_text
from assay.core.plan import Plan
from assay.core.report_sentences import read_sentences
from assay.core.text import estimate_tokens
from assay.evidence.ledger import Ledger
from assay.phases.case import Research, user_message


class FindingsPart(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that are written up in one piece, as messages."""

    findings: tuple[Finding, ...]
    messages: tuple[Message, ...]


_BLOCK_SIGNS = " \t>*+-#|"
"""Signs before the first word of a line, which stay with it."""
MAX_PARTS = 8
"""Parts of a report for which findings are divided; beyond them a long finding is cut."""


def split_findings(findings: Sequence[Finding], ledger: Ledger, tokens: int) -> list[FindingsPart]:
    """Split the findings into as few parts of at most `tokens` as possible, in order; divide one that does not fit
    alone.
    """
    whole = messages_with_evidence(findings, ledger)
    if findings and total_tokens(whole) <= tokens:  # nearly always: else every beginning would be written out
        return [FindingsPart(findings=tuple(findings), messages=tuple(whole))]
    groups: list[list[Finding]] = []
    for finding in _divide_findings(findings, ledger, tokens):
        if groups and total_tokens(messages_with_evidence([*groups[-1], finding], ledger)) <= tokens:
            groups[-1].append(finding)
        else:
            groups.append([finding])
    return [FindingsPart(findings=tuple(group), messages=_fit_part(group, ledger, tokens)) for group in groups]


def _divide_findings(findings: Sequence[Finding], ledger: Ledger, tokens: int) -> list[Finding]:
    """The findings, with those that do not fit alone in pieces that do, as far as parts are allowed."""
    fitting: list[Finding] = []
    waiting = list(findings)
    while waiting:
        finding, *waiting = waiting
        halves = split_finding(finding)
        if (
            len(halves) > 1
            and len(fitting) + len(waiting) + 1 < MAX_PARTS
            and total_tokens(messages_with_evidence([finding], ledger)) > tokens
        ):
            waiting = [*halves, *waiting]
        else:
            fitting.append(finding)
    return fitting


def has_uncited_passages(ledger: Ledger, findings: Sequence[Finding]) -> bool:
    """True if anything was read that no finding cites."""
    shown_spans = {
        (passage.document_sha256, passage.start, passage.end) for passage in ledger.passages_and_sources()[0].values()
    }
    cited_spans = {
        (passage.document_sha256, passage.start, passage.end) for finding in findings for passage in finding.passages
    }
    return bool(shown_spans - cited_spans)


def messages_with_evidence(findings: Sequence[Finding], ledger: Ledger) -> list[Message]:
    """Findings, one per message, and the passages they cite."""
    cited_passages = [passage for finding in findings for passage in finding.passages]
    evidence = evidence_text(cited_passages, ledger)
    messages = [
        user_message("findings", f"Task: {' '.join(finding.task.split())}\n{_finding_text(finding)}")
        for finding in findings
    ]
    return [*messages, *([user_message("evidence", evidence)] if evidence else [])]


def _finding_text(finding: Finding) -> str:
    """A finding's text. Without citations it says so, and lists the passages that it may rest on."""
    if not finding.uncited:
        return finding.text
    ids = ", ".join(passage.id for passage in finding.passages)
    return f"{finding.text}\n\nNot cited by the agent. Passages it was shown: [{ids}]. State only what they say."


def _fit_part(findings: list[Finding], ledger: Ledger, tokens: int) -> tuple[Message, ...]:
    """The messages; a finding too long for a part is cut to as many of its first sentences as fit."""
    messages = messages_with_evidence(findings, ledger)
    while total_tokens(messages) > tokens and len(findings) == 1:
        less = halve_finding(findings[0])
        if less == findings[0]:
            break
        findings, messages = [less], messages_with_evidence([less], ledger)
    return tuple(messages)


def halve_finding(finding: Finding) -> Finding:
    """The first half of a finding's sentences, with the passages whose ids are left."""
    return split_finding(finding)[0]


def split_finding(finding: Finding) -> tuple[Finding, ...]:
    """The two halves of a finding's sentences, each with the passages whose ids it has; one sentence is not split."""
    starts = [sentence.start for sentence in read_sentences(finding.text)]
    if len(starts) < 2:
        return (finding,)
    middle = len(finding.text[: starts[len(starts) // 2]].rstrip(_BLOCK_SIGNS))
    return tuple(
        msgspec.structs.replace(
            finding, text=text, passages=tuple(p for p in finding.passages if finding.uncited or p.id in text)
        )
        for text in (finding.text[:middle].rstrip(), finding.text[middle:].lstrip())
    )


def fit_findings(
    findings: Sequence[Finding], tokens: int, render: Callable[[Sequence[Finding]], list[Message]]
) -> list[Message]:
    """`findings` as messages of at most `tokens`: the longest is halved until they fit or nothing is left to cut."""
    fitted = list(findings)
    messages = render(fitted)
    while total_tokens(messages) > tokens and fitted:
        longest = max(range(len(fitted)), key=lambda index: len(fitted[index].text))
        less = halve_finding(fitted[longest])
        if less == fitted[longest]:
            break
        fitted[longest] = less
        messages = render(fitted)
    return messages


# What an agent gets from agents before it: those that it continues, and those whose findings it needs.

CONTEXT_WINDOW_DIVISOR = 8
"""Findings and seen passages each take at most 1/`CONTEXT_WINDOW_DIVISOR` of the window."""
_NUMBER = regex(r"\d+")


def predecessor(research: Research, continues: str) -> Finding | None:
    """The finding of the agent with the number in `continues` ("2", "agent-2"); None if there is none."""
    number = _NUMBER.search(continues)
    return research.finding_of(int(number[0][:9])) if number else None


def unknown_agent_note(research: Research, continues: str) -> str:
    """The message about a number in `continues` that no finished agent has; "" if there is no need for one."""
    number = _NUMBER.search(continues)
    if number is None or not int(number[0][:9]) or predecessor(research, continues):
        return ""
    finished_agents = ", ".join(str(finding.lane) for finding in research.findings) or "none"
    return f"There is no agent {number[0]} to go on from, so this one began anew (finished agents: {finished_agents})."


def continue_task(ledger: Ledger, task: AgentTask, earlier: Finding, findings: Research, window: int) -> AgentTask:
    """`task` with the context of `earlier` and of the agents that one continued. Ids in it stay as they are.

    Args:
        window: the model's, in tokens.
    """
    lanes = (*earlier.continued, earlier.lane)
    earlier_findings = [
        finding for lane in lanes if (finding := findings.finding_of(lane)) and finding.text != nothing_found_text()
    ]
    return msgspec.structs.replace(
        task,
        continued=lanes,
        earlier=_findings_text(earlier_findings, window // CONTEXT_WINDOW_DIVISOR),
        seen=nearest_evidence(ledger.seeing(lanes), task.about, window // CONTEXT_WINDOW_DIVISOR),
    )


def _findings_text(findings: list[Finding], tokens: int) -> str:
    """Findings, shortened from the oldest on."""
    shortened = list(findings)
    while shortened and estimate_tokens(_join_findings(shortened)) > tokens:
        less = halve_finding(shortened[0])
        shortened = [less, *shortened[1:]] if less != shortened[0] else shortened[1:]
    return _join_findings(shortened)


def _join_findings(findings: list[Finding]) -> str:
    return "\n\n".join(finding.text for finding in findings)


def add_needed_findings(ledger: Ledger, task: AgentTask, needed_findings: Sequence[Finding], window: int) -> AgentTask:
    """`task` with findings that it needs and the passages nearest to it among those their agents were shown.

    Args:
        window: the model's, in tokens.
    """
    useful = [finding for finding in needed_findings if finding.text != nothing_found_text()]
    if not useful or task.analysis:
        return task
    lanes = tuple(finding.lane for finding in useful)
    earlier = "\n\n".join(filter(None, (task.earlier, _findings_text(useful, window // CONTEXT_WINDOW_DIVISOR))))
    seen = task.seen or nearest_evidence(ledger.seeing(lanes), task.about, window // CONTEXT_WINDOW_DIVISOR)
    return msgspec.structs.replace(task, earlier=earlier, seen=seen)


def unknown_call_note(after: Sequence[int], before: Collection[int]) -> str:
    """The message about numbers in `after` that no earlier call of the reply has; "" if there is no need for one."""
    unknown = ", ".join(str(number) for number in sorted(set(after)) if number not in before)
    return f"No call before it has the number {unknown}, so this agent did not wait for one." if unknown else ""


def part_slot(part: int) -> str:
    """The slot of the first call for a part of the report, counted from 1."""
    return f"report-{part}"


class ReportPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part written in one go: the `number`-th of `total` parts of the report."""

    part: FindingsPart
    number: int
    total: int


def plan_part(plan: Plan, piece: FindingsPart) -> Plan:
    """The plan with only the steps that the findings of a part are about."""
    steps = {finding.step for finding in piece.findings}
    return msgspec.structs.replace(plan, steps=tuple(step for step in plan.steps if step.id in steps))
