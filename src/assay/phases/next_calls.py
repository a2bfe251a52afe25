"""Model calls that a run will probably make next, begun while the decision on it is made.

The call is kept only if exactly the same is asked afterwards, so no result changes:

- while triage decides, the call that words the first searches;
- while the reflector decides, the first turn of the next step's agent (`reflective.work`);
- while the orchestrator decides over findings on every step, the call that judges what is answered;
- while either of these two works, or the reflector decides on the last step, the report, for the case that everything
  is answered.
"""

from __future__ import annotations

from functools import partial

import msgspec

from assay.core.messages import Request
from assay.core.plan import Coverage
from assay.phases.background import BACKGROUND, background_request, may_search
from assay.phases.case import Case, PartAssessment, Research
from assay.phases.coverage import ASSESS, SHARE, assess, assess_request, closed_plan, judged, unreported
from assay.phases.fork import recalled
from assay.phases.writer import ReportWriter, slot_of
from assay.run.run import Run


def foresee_background(run: Run, case: Case) -> None:
    """Begin to word the first searches of a question that stands alone."""
    brief = run.brief
    if brief.mode not in ("auto", "deep_research") or brief.conversation or brief.parent or not may_search(run, case):
        return
    depth = "medium" if brief.depth == "auto" else brief.depth
    rules = brief.rules(depth, reasoning=run.profile("analytical").native_reasoning)
    if rules.background_queries:
        build = partial(background_request, run, case, rules.background_queries, rules.query_tokens)
        run.foresee(BACKGROUND, "simple", build)


class NextCalls:
    """The calls that follow the last agents (`Foresight`)."""

    def __init__(self, run: Run, case: Case) -> None:
        self._run, self._case = run, case

    def ending(self, research: Research) -> None:
        """Begin to judge what is answered, and the report, if each step has its findings."""
        if unreported(research) or not research.cited():
            return
        run = self._run
        if run.brief.assess:
            tokens = run.profile("simple").window // SHARE
            coverage = assess(self._case.question, research)
            run.foresee(ASSESS, "simple", partial(assess_request, run, self._case, research, coverage, tokens))
        self.report(research)

    def report(self, research: Research) -> None:
        """Begin the report, if code finds everything answered: then a model probably does so too."""
        brief = self._run.brief
        expected = expected_coverage(self._case.question, research, assessed=brief.assess)
        if expected and not brief.schema:
            self._run.foresee(slot_of(1), "complex", partial(self._first_request, research, expected))

    def _first_request(self, research: Research, coverage: tuple[Coverage, ...]) -> Request:
        run = self._run.at("write").child("write")
        case = msgspec.structs.replace(self._case, steering=research.steering)
        research = msgspec.structs.replace(research, plan=closed_plan(research.plan, coverage))
        return ReportWriter(run, case, recalled(case, research), coverage).first_request()


def expected_coverage(question: str, research: Research, *, assessed: bool) -> tuple[Coverage, ...]:
    """The coverage that will probably be the result; empty if something seems to be open.

    Args:
        assessed: whether a model judges it; else code has.
    """
    coverage = assess(question, research)
    if not assessed:
        return coverage
    if coverage[0].status != "answered":
        return ()
    answered = [PartAssessment(step=each.step, part=each.part, status="answered") for each in coverage[1:]]
    return judged(research, coverage, answered)
