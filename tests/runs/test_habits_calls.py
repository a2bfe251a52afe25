"""Whole runs with models whose servers leave their calls in the text, or that write JSON with mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from chat_server import Answer
from sampling import crossed
from services import STRATEGIES, Say, near, played, streamed

from assay.core import events as e
from assay.core.messages import Reply, ToolCall


def _python(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


WRITTEN: dict[str, Callable[[ToolCall], str]] = {
    "Mistral": lambda call: f"[TOOL_CALLS]{call.name}[ARGS]{json.dumps(call.arguments)}",
    "DeepSeek": lambda call: (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{json.dumps(call.arguments)}<｜tool▁call▁end｜>"
    ),
    "Kimi": lambda call: (
        f"<|tool_call_begin|>functions.{call.name}:0<|tool_call_argument_begin|>{json.dumps(call.arguments)}"
    ),
    "GLM": lambda call: (
        f"<tool_call>{call.name}\n"
        + "".join(
            f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n" for name, value in call.arguments.items()
        )
        + "</tool_call>"
    ),
    "MiniMax": lambda call: (
        f'<invoke name="{call.name}">\n'
        + "".join(f'<parameter name="{name}">{value}</parameter>\n' for name, value in call.arguments.items())
        + "</invoke>"
    ),
    "ReAct": lambda call: f"Thought: I need it.\nAction: {call.name}\nAction Input: {json.dumps(call.arguments)}",
    "LangChain": lambda call: json.dumps({"action": call.name, "action_input": call.arguments}),
    "Python": _python,
    "a comma too many": lambda call: (
        f'<tool_call>\n{{"name": "{call.name}", "arguments": {json.dumps(call.arguments)},}}\n</tool_call>'
    ),
}


@pytest.mark.parametrize(("way", "strategy"), crossed(WRITTEN, [*STRATEGIES]))
async def test_calls_that_a_server_leaves_in_the_text_are_made(way: str, strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        return streamed(Reply(text="\n".join(map(WRITTEN[way], reply.calls))) if reply.calls else reply)

    log, _ = await played(habit, strategy)
    assert log.text == (await near(strategy)).text


MISTAKEN: dict[str, Callable[[str], str]] = {
    "a comma too many": lambda text: f"{text[:-1]},\n}}",
    "a comment": lambda text: text.replace("{", "{ // so\n", 1),
    "Python": lambda text: repr(json.loads(text)),
    "a fence": lambda text: f"Sure!\n\n```JSON\n{text}\n```\nLet me know.",
}


@pytest.mark.parametrize(("way", "strategy"), crossed(MISTAKEN, [*STRATEGIES]))
async def test_json_with_mistakes_is_read(way: str, strategy: str) -> None:
    async def habit(body: dict[str, Any], say: Say) -> Answer:
        reply = await say()
        return streamed(
            msgspec.structs.replace(reply, text=MISTAKEN[way](reply.text)) if reply.text[:1] == "{" else reply
        )

    log, _ = await played(habit, strategy)
    assert log.text == (await near(strategy)).text
    assert all(attempt.outcome == "ok" for attempt in log.of(e.ModelAttempted))
