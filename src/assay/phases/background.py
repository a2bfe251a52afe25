"""Background: two or three searches, first passages only, so that the planner knows what the question is about."""

from __future__ import annotations

import msgspec

from assay.agents.act import act
from assay.agents.replies import mend
from assay.agents.sizing import output
from assay.agents.task import Kit
from assay.agents.wording import prompt
from assay.core.errors import LimitReached, ModelFailed
from assay.core.messages import Request, ToolCall
from assay.core.report import in_words
from assay.core.translation import gettext as _
from assay.phases.inquiry import Inquiry, user
from assay.run.run import Run

OUTPUT = 512
QUERIES, HITS = 3, 4


def may_search(run: Run, kit: Kit, inquiry: Inquiry) -> bool:
    """Whether there is anything to search: documents in scope, or the web."""
    return "search" in kit.tools and (bool(inquiry.count) or run.brief.scope.web)


async def look_around(run: Run, kit: Kit, inquiry: Inquiry) -> str:
    """The best passages for a few queries, as text for the planner; empty where there is nothing to search."""
    if not may_search(run, kit, inquiry):
        return ""
    async with run.phase("background") as phase:
        try:
            calls = await wanted(phase, kit, inquiry)
            results = await act(phase, kit.ledger.seeing(kit.lanes), kit.tools, calls, inquiry.question)
        except (LimitReached, ModelFailed) as failed:
            phase.warn(_("planned without a look around: {why}").format(why=in_words(failed.reason)))
            return ""
    return "\n\n".join(result.forms[1] for result in results)


async def wanted(phase: Run, kit: Kit, inquiry: Inquiry) -> list[ToolCall]:
    """The searches a model words for the question; one for the question itself where it words none.

    Raises:
        LimitReached, ModelFailed: it was not asked, or did not answer.
    """
    search = kit.tools["search"].definition
    request = Request(
        task="background",
        system=prompt("assay.phases", "background"),
        messages=(user("documents", inquiry.documents), *inquiry.asked()),
        tools=(search,),
        tool_choice="required",
        max_tokens=output(phase.profile("simple"), OUTPUT),
        effort="low",
    )
    reply = await phase.ask("simple", request)
    calls = [call for call in mend(reply, [search.name]) if call.name == search.name][:QUERIES]
    if not calls:
        calls = [ToolCall(id="background", name=search.name, arguments={"query": inquiry.question})]
    return [msgspec.structs.replace(call, arguments={**call.arguments, "limit": HITS}) for call in calls]
