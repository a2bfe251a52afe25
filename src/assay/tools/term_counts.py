"""How rare the question's words are in the documents in scope, for the built-in model and the grading of claims."""

from __future__ import annotations

from assay.core.errors import LimitReached, SearchError
from assay.core.ports import Counting
from assay.core.rarity import Rarity
from assay.run.run import Run
from assay.run.steps import StepContext


async def count_words(run: Run) -> None:
    """Count them, once a run. Where nobody can, or time is up, what is shown is counted in their stead."""
    counting = next((each for each in run.world.searches if isinstance(each, Counting)), None)
    if counting is None:
        return
    asked, collections = run.brief.question, run.brief.scope.collections

    async def count(_: StepContext) -> Rarity:
        try:
            return await counting.rarity(asked, collections)
        except SearchError:
            return Rarity()  # the search itself says what is wrong

    try:
        run.execution.rarity = await run.at("write").step("words", count, returns=Rarity, input=[asked, *collections])
    except LimitReached:
        return
