"""Background: two or three searches, first passages only, so that the planner knows what the question is about."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.act import act
from assay.agents.history import CallResult
from assay.agents.prompt_texts import prompt
from assay.agents.replies import mend
from assay.agents.rule_messages import counted, rules
from assay.agents.task import Toolset
from assay.agents.windows import output
from assay.core.endings import in_words
from assay.core.errors import LimitReached, ModelFailed
from assay.core.messages import Request, ToolCall
from assay.core.text import estimate_tokens
from assay.core.translation import gettext as _
from assay.phases.case import Case, user
from assay.run.run import Run

HITS = 4
SHARE = 64
"""What the planner is shown of it takes at most this part of its window."""


class QueryRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of a call that words queries: how many, "at most" where fewer will do."""

    queries: int
    fewer: bool = False

    def stated(self) -> str:
        """The rules as sentences."""
        return f"Word {'at most ' if self.fewer else ''}{counted(self.queries, 'query', 'queries')}."


def may_search(run: Run, toolset: Toolset, case: Case) -> bool:
    """Whether there is anything to search: documents in scope, or the web."""
    return "search" in toolset.tools and (bool(case.count) or run.brief.scope.web)


async def look_around(run: Run, toolset: Toolset, case: Case) -> str:
    """The best passages for a few queries, as text for the planner; empty where there is nothing to search."""
    if not may_search(run, toolset, case) or not run.rules.background_queries:
        return ""
    async with run.phase("background") as phase:
        try:
            calls = await wanted(phase, toolset, case, phase.rules.background_queries)
            results = await act(phase, toolset.ledger.seeing(toolset.lanes), toolset.tools, calls, case.question)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("planned without a look around: {why}").format(why=in_words(failed.reason)))
            return ""
    return told(results, phase.profile("analytical").window // SHARE)


def told(results: Sequence[CallResult], tokens: int) -> str:
    """What was found, for the planner: titles and passages, all of them where they fit into `tokens`, else the best."""
    whole = "\n\n".join(result.text for result in results)
    return whole if estimate_tokens(whole) <= tokens else "\n\n".join(result.gist() for result in results)


async def wanted(phase: Run, toolset: Toolset, case: Case, most: int) -> list[ToolCall]:
    """The searches a model words for the question, `most` of them; one for the question itself where it words none.

    Raises:
        LimitReached, ModelFailed: it was not asked, or did not answer.
    """
    search = toolset.tools["search"].definition
    request = Request(
        task="background",
        system=prompt("assay.phases", "background"),
        messages=(
            user("documents", case.documents),
            rules(QueryRules(queries=most, fewer=True)),
            *case.asked(),
        ),
        tools=(search,),
        tool_choice="required",
        max_tokens=output(phase.profile("simple"), phase.rules.query_tokens),
        effort="low",
    )
    reply = await phase.ask("simple", request)
    calls = [call for call in mend(reply, [search.name]) if call.name == search.name][:most]
    if not calls:
        calls = [ToolCall(id="background", name=search.name, arguments={"query": case.question})]
    return [msgspec.structs.replace(call, arguments={**call.arguments, "limit": HITS}) for call in calls]
