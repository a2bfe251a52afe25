"""The writer's material: findings and the passages they cite, split into parts if they do not fit together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from assay.agents.history import total
from assay.agents.task import Finding
from assay.core.messages import Message
from assay.core.passage_context import show
from assay.core.sources import Passage
from assay.core.text import sentences
from assay.evidence.ledger import Ledger
from assay.phases.case import user


class FindingsPart(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that are written up in one piece, as messages."""

    findings: tuple[Finding, ...]
    messages: tuple[Message, ...]


def parts(findings: Sequence[Finding], ledger: Ledger, tokens: int) -> list[FindingsPart]:
    """Split the findings into as few parts of at most `tokens` as possible, in order; cut one that does not fit
    alone.
    """
    packed: list[list[Finding]] = []
    for finding in findings:
        if packed and total(messages_of([*packed[-1], finding], ledger)) <= tokens:
            packed[-1].append(finding)
        else:
            packed.append([finding])
    return [FindingsPart(findings=tuple(group), messages=_fitted(group, ledger, tokens)) for group in packed]


def evidence(passages: Sequence[Passage], ledger: Ledger) -> str:
    """Passages below their sources, in the order of first mention."""
    grouped: defaultdict[str, dict[str, Passage]] = defaultdict(dict)
    for passage in passages:
        grouped[passage.source][passage.id] = passage
    sources = {id: ledger.source(id) for id in grouped}
    return "\n\n".join(show(source, list(grouped[id].values())) for id, source in sources.items() if source)


def unseen(ledger: Ledger, findings: Sequence[Finding]) -> bool:
    """Whether anything was read that no finding cites."""
    shown = {(each.document_sha256, each.start, each.end) for each in ledger.everything()[0].values()}
    cited = {(each.document_sha256, each.start, each.end) for finding in findings for each in finding.passages}
    return bool(shown - cited)


def messages_of(findings: Sequence[Finding], ledger: Ledger) -> list[Message]:
    """Findings, one per message, and the passages they cite."""
    cited = [passage for finding in findings for passage in finding.passages]
    shown = evidence(cited, ledger)
    messages = [
        user("findings", f"Task: {' '.join(finding.task.split())}\n{_finding_text(finding)}") for finding in findings
    ]
    return [*messages, *([user("evidence", shown)] if shown else [])]


def _finding_text(finding: Finding) -> str:
    """A finding's text. Without citations it says so, and lists the passages that it may rest on."""
    if not finding.uncited:
        return finding.text
    ids = ", ".join(passage.id for passage in finding.passages)
    return f"{finding.text}\n\nNot cited by the agent. Passages it was shown: [{ids}]. State only what they say."


def _fitted(findings: list[Finding], ledger: Ledger, tokens: int) -> tuple[Message, ...]:
    """The messages; a finding too long for a part is cut to as many of its first sentences as fit."""
    messages = messages_of(findings, ledger)
    while total(messages) > tokens and len(findings) == 1:
        less = shorter(findings[0])
        if less == findings[0]:
            break
        findings, messages = [less], messages_of([less], ledger)
    return tuple(messages)


def shorter(finding: Finding) -> Finding:
    """The first half of a finding's sentences, with the passages whose ids are left."""
    spans = sentences(finding.text)
    if len(spans) < 2:
        return finding
    text = finding.text[: spans[len(spans) // 2][0]].rstrip()
    kept = tuple(passage for passage in finding.passages if finding.uncited or passage.id in text)
    return msgspec.structs.replace(finding, text=text, passages=kept)


def fitted(
    findings: Sequence[Finding], tokens: int, render: Callable[[Sequence[Finding]], list[Message]]
) -> list[Message]:
    """`findings` as messages of at most `tokens`: the longest is halved until they fit or nothing is left to cut."""
    kept = list(findings)
    messages = render(kept)
    while total(messages) > tokens and kept:
        place = max(range(len(kept)), key=lambda at: len(kept[at].text))
        less = shorter(kept[place])
        if less == kept[place]:
            break
        kept[place] = less
        messages = render(kept)
    return messages
