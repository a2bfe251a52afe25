"""What models get wrong in a reply, and how much of it can be read all the same."""

from __future__ import annotations

from assay.agents.repetition import repeating, whole_sentences, without_loops
from assay.core.events import ToolsIgnored
from assay.core.messages import Reply, Task
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.run.call_repair import decoded as decoded
from assay.run.call_repair import json_values as json_values
from assay.run.call_repair import mend as mend
from assay.run.call_repair import read_json as read_json
from assay.run.run import Run


def defect(reply: Reply) -> str:
    """Why a reply's text cannot be used: empty, cut at its cap, or repeating itself; "" when it can."""
    if not reply.text.strip():
        return "it was empty"
    if reply.stop == "length":
        return "it was cut off because it was too long; be much shorter"
    if repeating(reply.text):
        return "it repeated itself; say each thing once"
    return ""


IGNORED = N_("{model} made no tool call: it may not support tools; try another model for the role analytical")


def tell_ignored(run: Run, model: str, task: Task) -> None:
    """Say that a model called no tool, though it was told to and reminded; `task` is what it was asked for."""
    run.emit(ToolsIgnored(model=model, task=task, lane=run.lane))
    run.warn(_(IGNORED).format(model=model))


def salvaged(reply: Reply) -> str:
    """What can be used of a reply's text all the same: no rounds of a loop, no sentence cut off; "" for nothing."""
    text = without_loops(reply.text)
    if reply.stop == "length":
        text = whole_sentences(text)
    return text.strip()
