"""What a model scripted in a file plays in a run with one agent, for processes which are given that file."""

from __future__ import annotations

from typing import Any

TIDE = "The tide at Brest rises seven metres. [S1001.1]"
RESEARCH = {"name": "research_agent", "arguments": {"task": "Tide"}}


def one_agent(query: str = "tide Brest", found: str = TIDE) -> list[dict[str, Any]]:
    """All but triage and plan; a scene of the test's own goes before."""
    search = {"calls": [{"name": "search", "arguments": {"query": query}}]}
    return [
        {"task": "background", "reply": search},
        {"task": "orchestrate", "turn": 0, "reply": {"calls": [RESEARCH]}},
        {"task": "orchestrate", "reply": {"calls": [{"name": "generate_report"}]}},
        {"task": "research", "turn": 0, "reply": search},
        {"task": "research", "reply": {"text": "done"}},
        {"task": "find", "reply": {"text": found}},
        {"task": "write", "reply": {"text": found}},
    ]
