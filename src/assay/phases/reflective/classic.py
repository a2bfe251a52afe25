"""The classic researcher: so many queries and so many pages, driven by code. A model only words the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.agents.loop import Agent
from assay.agents.model_calls import ask
from assay.agents.prompt_texts import prompt
from assay.agents.replies import mend
from assay.agents.rule_messages import rules
from assay.agents.task import AgentTask, Toolset
from assay.agents.windows import output
from assay.core.errors import ModelFailed
from assay.core.messages import Message, Request, ToolCall
from assay.core.translation import gettext as _
from assay.phases.background import QueryRules
from assay.phases.source_ranks import best
from assay.run.run import Run
from assay.tools.search import plain


class Classic(Agent):
    """An agent without a loop: queries, then the best pages they found, then findings."""

    def __init__(self, toolset: Toolset, task: AgentTask, lane: int, *, queries: int, pages: int) -> None:
        super().__init__(toolset, task, lane)
        self._queries, self._pages = queries, pages

    async def go(self, run: Run) -> None:
        """Search, then open.

        Raises:
            LimitReached: what ended it.
        """
        place = run.child("turn-1")
        self.turns = 1
        results = await self.act(place, _said("search", [{"query": query} for query in await self._wanted(place)]))
        pages = best(results, self._pages)
        if pages and "open" in self.tools:
            self.turns = 2
            opening = [{"documents": [page], "find": self.subject} for page in pages]
            await self.act(run.child("turn-2"), _said("open", opening))

    @property
    def subject(self) -> str:
        """The task's first line: what its plan step is called."""
        return self.task.task.splitlines()[0]

    async def _wanted(self, place: Run) -> list[str]:
        """The queries of the model, filled up with the step's own words; those alone, where the model fails."""
        search = self.tools["search"].definition
        request = Request(
            task="research",
            system=prompt("assay.phases", "queries"),
            messages=(),
            tools=(search,),
            tool_choice="required",
            max_tokens=output(place.profile("analytical"), place.rules.query_tokens),
            effort="low",
        )
        try:
            closing = [rules(QueryRules(queries=self._queries))]
            reply = await ask(place, "analytical", self.history, request, closing)
        except ModelFailed as failed:
            place.warn(_("searched with the words of the step alone: {why}").format(why=failed.reason))
            return [self.subject]
        asked = [str(call.arguments.get("query", "")) for call in mend(reply, [search.name])]
        distinct = {plain(query): query for query in reversed([*asked, self.subject])}
        return [query for query in reversed(distinct.values()) if query.strip()][: self._queries]


def _said(tool: str, arguments: Sequence[Mapping[str, object]]) -> Message:
    calls = (ToolCall(id=f"{tool}-{place}", name=tool, arguments=dict(each)) for place, each in enumerate(arguments, 1))
    return Message(role="assistant", calls=tuple(calls))
