"""A local model's server on loopback: it plans one step, searches, and writes one sentence of what it was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chat_server import DONE, USAGE, Answer, ChatServer, call, chat_server, chunk, says

_PASSAGE = re.compile(r"S\d{4,}\.\d+")
"""Ids of runs have four digits or more; those of examples in prompts have fewer."""


def calls(name: str, **arguments: object) -> Answer:
    """A tool call, as servers stream it."""
    began = chunk({"role": "assistant", "content": ""})
    asked = chunk(call(0, json.dumps(arguments), id="call-1", name=name))
    return Answer([began, asked, chunk({}, "tool_calls"), chunk(usage=USAGE), DONE])


@contextmanager
def local_model(sentence: str) -> Iterator[ChatServer]:
    """A server whose model states `sentence` of the first passage it is shown."""
    with chat_server(says("x")) as server:

        async def decide(body: dict[str, Any]) -> Answer:
            return _answer(body, sentence)

        server.decide = decide
        yield server


def _answer(body: dict[str, Any], sentence: str) -> Answer:
    offered = {tool["function"]["name"] for tool in body.get("tools", ())}
    messages = body["messages"]
    found, form = json.dumps(messages), (body.get("response_format") or {}).get("json_schema", {}).get("name", "")
    acted = any(message["role"] == "tool" for message in messages)
    if "generate_plan" in offered:
        return calls("generate_plan", complexity="simple", reasoning="One fact is asked for.")
    if "research_agent" in offered:
        return calls("generate_report") if acted else calls("research_agent", task=sentence, step=1)
    if "search" in offered and body.get("tool_choice") != "none" and not acted:
        return calls("search", query=sentence)
    if "done" in offered and body.get("tool_choice") != "none":
        return calls("done")
    if form == "plan":
        step = {"title": sentence, "description": sentence, "type": "research", "needs_search": True}
        return says(json.dumps({"title": "Plan", "thought": "", "steps": [step]}))
    if form == "coverage":
        return says(json.dumps({"parts": [{"part": 1, "status": "answered", "reason": "It is stated."}]}))
    shown = _PASSAGE.findall(found)
    return says(f"{sentence.rstrip('.')} [{shown[-1]}]." if shown else sentence)
