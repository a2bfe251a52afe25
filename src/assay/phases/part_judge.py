"""How far findings answer the parts of a question, as a model judges it: in one call, or beside a reflection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import msgspec

from assay.agents.prompt_texts import prompt
from assay.agents.replies import read_json
from assay.agents.windows import output
from assay.core.endings import in_words
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed
from assay.core.messages import Request, Schema, closed
from assay.core.plan import Coverage, CoverageStatus
from assay.phases.case import data, user
from assay.phases.dispatch import AgentPool
from assay.phases.state import PartAssessment, Research
from assay.phases.step_findings import SHARE, findings_message
from assay.run.run import Run

REASON = 200
"""Characters of a reason."""
WORDS: dict[str, CoverageStatus] = {
    "answered": "answered",
    "partly": "partly",
    "partially": "partly",
    "partly answered": "partly",
    "not": "not",
    "not answered": "not",
    "unanswered": "not",
}


JUDGED = {
    "type": "array",
    "items": closed(
        {
            "part": {"type": "integer"},
            "status": {"type": "string", "enum": list(get_args(CoverageStatus))},
            "reason": {"type": "string"},
        }
    ),
}
FORM = Schema(name="coverage", schema=closed({"parts": JUDGED}))


class JudgedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part in the `parts` message: `step` is the number of the plan step it is, 0 for a part of the question."""

    part: int
    step: int
    text: str


def parts_of(coverage: Sequence[Coverage]) -> str:
    """The `parts` message: what is judged, numbered from 1. The question itself follows from its parts."""
    numbered = enumerate(coverage[1:], 1)
    return data([JudgedPart(part=number, step=each.step, text=each.part) for number, each in numbered])


async def judge(
    place: Run, agent_pool: AgentPool, research: Research, coverage: Sequence[Coverage]
) -> tuple[PartAssessment, ...]:
    """How a model judges the parts of `coverage`; nothing, with a warning, where it fails or cannot be read."""
    tokens = place.profile("simple").window // SHARE
    try:
        try:
            reply = await place.ask("simple", _request(place, agent_pool, research, coverage, tokens))
        except ContextTooLong:
            reply = await place.ask("simple", _request(place, agent_pool, research, coverage, tokens // 2))
    except (LimitReached, ModelFailed) as failed:
        place.at("write").warn(f"what is answered was judged by code: {in_words(failed.reason)}")
        return ()
    judged = read_judged(read_json(reply.text), coverage)
    if not judged:
        place.warn("what is answered was judged by code: the model's reply could not be read")
    return judged


def _request(
    place: Run, agent_pool: AgentPool, research: Research, coverage: Sequence[Coverage], tokens: int
) -> Request:
    return Request(
        task="assess",
        system=prompt("assay.phases", "coverage"),
        messages=(
            *agent_pool.case.asked(),
            *findings_message(agent_pool.toolset, research.findings, tokens),
            user("parts", parts_of(coverage)),
        ),
        tool_choice="none",
        max_tokens=output(place.profile("simple"), place.rules.decision_tokens),
        effort="low",
        schema=FORM,
    )


def read_judged(value: object, coverage: Sequence[Coverage]) -> tuple[PartAssessment, ...]:
    """Judgements out of a reply's JSON; what names no part, or no status there is, is left out. The first counts."""
    listed = value.get("parts", value.get("coverage")) if isinstance(value, dict) else value
    found: dict[int, PartAssessment] = {}
    for each in listed if isinstance(listed, list) else []:
        number, judged = _one(each, coverage)
        if judged is not None:
            found.setdefault(number, judged)
    return tuple(found.values())


def _one(value: object, coverage: Sequence[Coverage]) -> tuple[int, PartAssessment | None]:
    if not isinstance(value, dict):
        return 0, None
    number, said, why = value.get("part"), value.get("status"), value.get("reason")
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number.strip()[:9])
    status = WORDS.get(" ".join(said.casefold().split())) if isinstance(said, str) else None
    if type(number) is not int or not 0 < number < len(coverage) or status is None:
        return 0, None
    reason = " ".join(why.split())[:REASON] if isinstance(why, str) else ""
    part = coverage[number]
    return number, PartAssessment(step=part.step, part=part.part, status=status, reason=reason)
