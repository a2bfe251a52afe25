"""Searches begun before a model has worded any: for the question while triage decides, for its names during planning.

Who words the same query later, or opens a page these found, has it at once. No result changes by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.core.errors import LimitReached
from assay.core.events import Envelope, SearchExpected, SearchPerformed, SourceAdded, SourceExpected, decode
from assay.core.sources import SNIPPET, Source
from assay.core.text import words
from assay.core.usage import Usage
from assay.phases.case import Case
from assay.run.run import Run
from assay.run.speculation import ROLE, page_key
from assay.run.steps import StepContext, digest, perform
from assay.tools.search import query_of, search_ahead

LONGEST = 200
"""Characters of a question which is put to search engines as it stands."""
MOST_NAMES = 2
TOPIC_LETTERS = 4
"""Of a question's other words, those of at least so many letters are searched for with a name."""
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,80})[\"”“»]")
_NAME = re.compile(r"(?<!^)(?<![.?!:] )\b[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+)*")


async def search_question(run: Run, case: Case) -> None:
    """Put the question to the search engines, while triage decides what becomes of it.

    Only a question which comes alone: what is said in a conversation may lean on what was said before.
    """
    wanted, brief = run.brief.speculation, run.brief
    if wanted is not None and wanted.question and not brief.conversation and not brief.parent:
        await _search(run, "question", (case.question,))


async def search_names(run: Run, case: Case) -> None:
    """Search for what the question names, while the plan is written."""
    if run.brief.speculation is not None and run.brief.speculation.names:
        await _search(run, "names", named(case.question))


async def _search(run: Run, name: str, queries: Sequence[str]) -> None:
    """Begin these searches, in a step: when the run is taken up again, or computed again, they are not begun again."""
    asked = [query for query in queries if len(query) <= LONGEST and "\n" not in query]
    if not asked or not run.brief.scope.web or run.brief.scope.private or "search" not in run.brief.tools:
        return

    async def begin(step_context: StepContext) -> int:
        wanted = ((provider, query_of(run, query)) for query in asked for provider in run.world.searches)
        return sum(search_ahead(run, provider, query, step_context) for provider, query in wanted)

    try:
        await run.step(f"{ROLE}-{name}", begin, returns=int, input=asked)
    except LimitReached:
        return


def named(question: str) -> tuple[str, ...]:
    """Queries for what a question quotes, and for its names, each with the question's other words."""
    quoted = [" ".join(found.split()) for found in _QUOTED.findall(question)]
    names = [name for name in dict.fromkeys(_NAME.findall(_QUOTED.sub(" ", question)))]
    own = {word for name in names for word in words(name)}
    topic = [word for word in words(question.casefold()) if len(word) >= TOPIC_LETTERS and word not in own]
    found = [*quoted, *(" ".join((name, *topic[:TOPIC_LETTERS])) for name in names)]
    return tuple(dict.fromkeys(query for query in found if query.strip()))[:MOST_NAMES]


async def count_unasked(run: Run) -> None:
    """Put on the usage what was searched and read ahead and nobody asked for, by the run's own log.

    No limit ends this, as it asks nobody.
    """
    if run.brief.speculation is None:
        return

    async def count(step_context: StepContext) -> Usage:
        run.execution.ahead.stop()
        unasked = await _unasked(run)
        step_context.spend(unasked)
        return unasked

    await perform(run, ROLE, count, returns=Usage, input_hash=digest(None), gated=False)


async def _unasked(run: Run) -> Usage:
    events = await run.execution.journal.events(run.run_id)
    kinds = {SearchExpected.kind, SearchPerformed.kind, SourceExpected.kind, SourceAdded.kind, "source.failed"}
    said = [decode(each) for each in events if each.type in kinds]
    return Usage()
