"""Writes docs/prompts.md: every prompt, with a request of a whole run in which it was sent.

Run `python scripts/generate_prompts.py` after changing a prompt, or what is sent with it; a test compares. The model is
scripted: it answers each task in the same way, over two short documents.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from research import Sea  # noqa: E402  (the little world of the tests)

from assay.core.depths import changed_depths  # noqa: E402
from assay.core.messages import (  # noqa: E402
    Message,
    Price,
    Profile,
    Reply,
    Request,
    ToolCall,
    tagged,
)
from assay.models.script import Scripted  # noqa: E402

TARGET = ROOT / "docs" / "prompts.md"
INTRODUCTION = """\
# Prompts

*Written by `scripts/generate_prompts.py` from the prompts and from runs with a scripted model; do not edit.*

Each prompt is a file in the folder `prompts/` of the package that sends it, and a run's brief records its hash. The
rest of a request is data: messages, each between tags with its name. A page, a document or a person cannot close such a
tag or open another: the `<` of what looks like one is sent as `&lt;`. Code writes the sentences in `<rules>` from the
numbers of the run's depth ([configuration.md](configuration.md#depths)). A model that is code itself, such as the
built-in one, reads the same numbers as JSON (`Request.values`), which is never sent.

Below, each prompt stands with a request from a run: the role asked, the tools offered, and the messages. A line that
begins with a brace (`{open}`) is sent only if there is such a tool, or such a place to search.
"""

PROMPTS = {
    "phases.triage": "Triage",
    "phases.background": "First look",
    "phases.plan": "Plan, for agents in parallel",
    "phases.plan_steps": "Plan, step by step",
    "phases.orchestrate": "Orchestrator",
    "phases.think": "Orchestrator: thinking",
    "phases.explore": "Orchestrator: before its second decision",
    "agents.research": "Research agent",
    "agents.findings": "Research agent: findings",
    "phases.queries": "Queries of a step which code drives",
    "phases.analyze": "Analysis",
    "phases.coverage": "Coverage",
    "phases.reflect": "Reflector",
    "phases.replan": "Change of plan",
    "phases.write": "Writer",
    "phases.answer": "Answer without a plan",
    "phases.survey": "All documents: the way",
    "phases.survey_read": "All documents: reading",
    "phases.fill": "Fields of a schema",
    "verify.judge": "Judge",
    "verify.revise": "Correction of a sentence",
}
ROLES = {
    "triage": "simple",
    "background": "simple",
    "assess": "simple",
    "reflect": "simple",
    "judge": "judge",
    "write": "complex",
    "answer": "complex",
    "fill": "complex",
    "revise": "complex",
}
PROFILE = Profile(name="scripted", max_output=64_000, price=Price(input=0.0, output=0.0))
DOCUMENTS = {
    "tides.md": "# Tides\n\nThe tide at Brest rises seven metres at springs.\n\nThe moon causes most of the tide.\n",
    "winds.md": "# Winds\n\nThe mistral blows from the north-west.\n",
}
QUESTION = "How far does the tide rise at Brest, and why?"
STEPS = [
    {"title": "Rise of the tide", "description": "How many metres the tide rises at Brest"},
    {"title": "Cause of the tide", "description": "What causes the tide at Brest"},
    {"title": "Judgement", "description": "Whether the cause explains the rise", "type": "analysis"},
]
PLAN = json.dumps({"title": "The tide at Brest", "thought": "How far, and why.", "steps": STEPS})
CHANGED = json.dumps({"title": "The tide at Brest", "thought": "The cause by another word.", "steps": STEPS[1:]})
SCHEMA = json.dumps({"type": "object", "properties": {"rise": {"type": "integer", "description": "Metres at springs"}}})
PASSAGE = re.compile(r"^\[(S\d+\.\d+)\] (.*)", re.MULTILINE)
OPENING = 200
"""Characters by which a prompt is known; what comes later may depend on the tools there are."""
LONGEST = 2_400
"""Characters of one message that are shown."""


class Player:
    """A model which answers by the task alone; `said` holds other answers, by task and by how often it was asked."""

    def __init__(self, **said: list[Reply]) -> None:
        self.said = said
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        waiting = self.said.get(request.task)
        return waiting.pop(0) if waiting else usual(request)


def called(*calls: tuple[str, Mapping[str, Any]]) -> Reply:
    """A reply which calls tools."""
    made = (ToolCall(id=f"call-{at}", name=name, arguments=dict(given)) for at, (name, given) in enumerate(calls, 1))
    return Reply(calls=tuple(made), stop="calls")


def usual(request: Request) -> Reply:
    """What the model says where nothing else is wanted."""
    replies = sum(message.role == "assistant" for message in request.messages)
    match request.task:
        case "triage":
            return called(("generate_plan", {"complexity": "simple", "reasoning": "One figure and its cause."}))
        case "background":
            return called(("search", {"query": "tide Brest"}))
        case "plan":
            return Reply(text=CHANGED if request.user_texts("reflections") else PLAN)
        case "orchestrate":
            return called(*_agents()) if not replies else called(("generate_report", {}))
        case "research":
            return called(("search", {"query": "tide Brest metres"})) if not replies else called(("done", {}))
        case "assess":
            parts = [{"part": number, "status": "answered", "reason": ""} for number in (1, 2, 3)]
            return Reply(text=json.dumps({"parts": parts}))
        case "reflect":
            decision = {"reasoning": "The rise is known, its cause is not.", "decision": "continue", "changes": []}
            return Reply(text=json.dumps(decision))
        case "judge":
            return called(("verdict", {"slots": [], "reason": "It names another cause.", "verdict": "contradicted"}))
        case "revise":
            return Reply(text="NOTHING")
    return Reply(text=_cited(request))


def _agents() -> Iterator[tuple[str, dict[str, Any]]]:
    for number, step in enumerate(STEPS[:2], 1):
        yield "research_agent", {"task": f"{step['title']}. Find: {step['description']}.", "step": number}


def _cited(request: Request) -> str:
    """The first passage the request shows, cited."""
    found = next((match for message in request.messages for match in PASSAGE.findall(message.text)), None)
    return f"{found[1]} [{found[0]}]" if found else "Nothing about this was found."


async def requests(**more: Any) -> list[Request]:
    """The requests of a few runs which together send every prompt; `more` is what else their briefs hold."""
    adjusted = Reply(text=json.dumps({"reasoning": "Nothing yet.", "decision": "adjust", "changes": ["Other words."]}))
    false = Reply(text="The wind causes most of the tide. [S1001.2]")
    survey = called(("read_documents", {"look_for": "what the document says of the sea"}))
    rows = called(("report_rows", {"rows": []}))
    whole = called(("generate_plan", {"complexity": "moderate", "reasoning": "All of them.", "whole_collection": True}))
    played: list[tuple[Player, dict[str, Any]]] = [
        (Player(write=[false]), {"checks_off": ()}),
        (Player(reflect=[adjusted]), {"strategy": "reflective", "depth": "light"}),
        (Player(), {"mode": "simple"}),
        (Player(triage=[whole], survey=[survey, rows]), {"question": "What does each document say of the sea?"}),
        (Player(), {"schema": SCHEMA}),
    ]
    sent: list[Request] = []
    for player, wishes in played:
        strategy = wishes.get("strategy", "orchestrated")
        brief = {"question": QUESTION, "depths": changed_depths(strategy, {}), "assess": True, **wishes, **more}
        await Sea(DOCUMENTS).start(Scripted(player, profile=PROFILE), **brief).wait()
        sent += player.requests
    return sent


def text() -> str:
    """The page."""
    sent = asyncio.run(requests())
    return "\n".join([INTRODUCTION, *(_section(name, title, sent) for name, title in PROMPTS.items())])


def _section(name: str, title: str, sent: list[Request]) -> str:
    package, _, short = name.partition(".")
    text = (files(f"assay.{package}") / "prompts" / f"{short}.md").read_text("utf-8").strip()
    request = next((each for each in sent if _speaks(each, text)), None)
    if request is None:
        raise SystemExit(f"no run sends the prompt {name}")
    tools = ", ".join(f"`{tool.name}`" for tool in request.tools) or "none"
    where = f"`src/assay/{package}/prompts/{short}.md`"
    role = ROLES.get(request.task, "analytical")
    facts = f"{where}. Role: `{role}`. Task: `{request.task}`. Tools: {tools}. At most {request.max_tokens:,} tokens."
    shown = "\n\n".join(_shown(message) for message in request.messages)
    return f"## {title}\n\n{facts}\n\n{_fenced(text)}\n\nSent with it:\n\n{_fenced(shown)}\n"


def _speaks(request: Request, text: str) -> bool:
    """Whether a request says a prompt: in its system text, or in a message of its own."""
    sent = "\n".join([request.system, *(message.text for message in request.messages)])
    return text[:OPENING] in sent


def _shown(message: Message) -> str:
    """A message as it is sent; a long one is cut."""
    shown = tagged(message) if message.role == "user" else message.text
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]} … ({len(shown) - LONGEST:,} more characters)"
    if message.role == "user":
        return shown
    calls = "\n".join(f"{call.name}({msgspec.json.encode(call.arguments).decode()})" for call in message.calls)
    return f"{message.role}: {shown}{calls}"


def _fenced(text: str) -> str:
    return f"````text\n{text}\n````"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
