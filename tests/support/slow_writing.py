"""A run whose writer streams slowly, and a judge which is asked meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from judging import verdict
from research import ONE_STEP, Sea, agent, planned, report_wanted, sends

from assay.core import events as e
from assay.core.brief import ROLES, Brief
from assay.core.messages import Delta, Price, Profile, Reply, Request, TextDelta
from assay.core.view import RunView, ViewBuilder
from assay.models.script import Answer, Scene, Scripted, says
from assay.run.voice import DELTA_SECONDS

SLOW = Profile(name="slow", price=Price(input=0.0, output=0.0))
TASK = "Find what the harbour of Brest does"
HARBOUR = (
    "# The harbour of Brest\n\nThe harbour of Brest employs 400 people.\n\nThe harbour of Brest closes at 9.\n\n"
    "The harbour of Brest was dug in 1631.\n"
)
JOBS = "At Brest the port gives work to some people. [S1001.1]"
HOURS = "The harbour of Brest closes at 9. [S1001.2]"
DUG = "They dug the port of Brest long ago. [S1001.3]"
FISH = "The port of Brest smells of fish on warm days. [S1001.2]"
"""Three sentences for a judge, of which the last stands nowhere; another is verbatim."""

Pace = Callable[[str], Awaitable[None]]


async def steady(text: str) -> None:
    """Each block takes longer than the log waits with what is streamed."""
    if text.endswith(("\n\n", "|\n")):
        await asyncio.sleep(DELTA_SECONDS * 1.1)


class Slow(Scripted):
    """Plays a script; what it writes comes sign by sign, as `pace` lets it. The judge refuses what is on fish."""

    def __init__(
        self,
        reports: Sequence[Scene],
        *,
        pace: Pace = steady,
        judging: float = 0.0,
        profile: Profile = SLOW,
        finding: str = "The harbour of Brest employs 400 people. [S1001.1]",
    ) -> None:
        scenes = [
            *planned(ONE_STEP),
            sends(TASK),
            *agent(TASK, "harbour Brest employs closes dug", finding),
            report_wanted(),
            *reports,
            says("NOTHING", task="revise", repeat=True),
        ]
        super().__init__(scenes, profile=profile, chunk=1)
        self._pace, self._judging, self.asked = pace, judging, list[str]()
        self.written = False

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if request.task == "judge":
            sentence = request.user_texts("sentence")[0]
            self.asked.append(sentence)
            await asyncio.sleep(self._judging)
            answer: Answer = verdict("unsupported" if "fish" in sentence else "supported")
            assert isinstance(answer, Reply)
            yield answer
            return
        text = ""
        async for item in super().stream(request):
            yield item
            if request.task in ("write", "answer") and isinstance(item, TextDelta):
                text += item.text
                await self._pace(text)
        self.written = self.written or request.task == "write"


def brief(sea: Sea, **changes: Any) -> Brief:
    roles = dict.fromkeys(ROLES, (SLOW.name,))
    return sea.brief(**{"question": "What does the harbour do?", "models": roles, "checks_off": (), **changes})


def report_facts(view: RunView) -> tuple[Any, ...]:
    """All a reader is told of the report and its claims."""
    return view.report, view.claims, view.checks, view.versions, view.removed, view.summary, view.gate, view.status


def of_claims(envelopes: Sequence[e.Envelope]) -> list[tuple[str, str]]:
    """What was said of which claim, in order, as far as it was not taken back."""
    dropped = {seq for event in map(e.decode, envelopes) if isinstance(event, e.StepRestarted) for seq in event.dropped}
    kept = [e.decode(each) for each in envelopes if each.seq not in dropped]
    return [(event.kind, event.id) for event in kept if isinstance(event, e.ClaimFound | e.ClaimChecked)]


def places_are_right(envelopes: Sequence[e.Envelope]) -> set[tuple[str, ...]]:
    """At no moment does a reader see a claim where it does not stand; the verdicts seen, moment by moment."""
    folder, seen = ViewBuilder(), set[tuple[str, ...]]()
    for envelope in envelopes:
        folder.apply(envelope)
        if envelope.type.partition(".")[0] in ("report", "claim", "step"):
            view = folder.view
            for claim in view.claims:
                assert view.report.text[claim.start : claim.end].startswith(claim.text[:8]), view.last_seq
            seen.add(tuple(claim.verdict for claim in view.claims))
    return seen
