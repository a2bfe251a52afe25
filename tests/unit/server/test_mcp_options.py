"""Options of a run as arguments of MCP's tool `research`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from assay.core.options import offered_options
from assay.core.run_options import RunOptions
from assay.server.mcp import research
from assay.server.protocol_runs import check_names

OWN = {"question", "collections", "clarify", "wait_seconds"}
FILLED = {"ctx", "run", "answers"}
"""What the server fills in: no client sends it."""


def test_the_tool_and_what_begins_its_run_take_each_option_offered() -> None:
    offers = set(offered_options(RunOptions, "mcp"))
    assert offers == {"web", "depth", "continues"}
    for function in (research.research, research.start_run):
        assert set(inspect.signature(function).parameters) - FILLED == OWN | offers


def test_the_page_names_the_arguments_of_research() -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    (named,) = re.findall(r"`research\((.*?)\)`", page)
    assert set(named.split(", ")) == OWN | set(offered_options(RunOptions, "mcp"))


def test_a_misspelt_argument_is_told_the_nearest() -> None:
    known = OWN | set(offered_options(RunOptions, "mcp"))
    with pytest.raises(ToolError, match="no option of research named 'continue'; did you mean 'continues'"):
        check_names("research", {"question": "x", "continue": "abc"}, known)


def test_what_clients_add_to_every_call_is_passed_over() -> None:
    known = OWN | set(offered_options(RunOptions, "mcp"))
    check_names("research", dict.fromkeys(("sessionId", "action", "chatInput", "toolCallId", "progressToken")), known)
