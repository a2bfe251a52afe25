"""What models get wrong in a reply, and how much of it can be read all the same."""

from __future__ import annotations

import re
from collections import Counter

from assay.core.messages import Reply
from assay.run.mending import decoded as decoded
from assay.run.mending import json_values as json_values
from assay.run.mending import mend as mend
from assay.run.mending import read_json as read_json

REPEATS = 4
LEAST_REPEATED = 30


def defect(reply: Reply) -> str:
    """Why a reply's text cannot be used: empty, cut at its cap, or repeating itself; "" when it can."""
    if not reply.text.strip():
        return "it was empty"
    if reply.stop == "length":
        return "it was cut off because it was too long; be much shorter"
    if repeating(reply.text):
        return "it repeated itself; say each thing once"
    return ""


def repeating(text: str) -> bool:
    """Whether a line of some length stands four times in `text`, as in a model caught in a loop."""
    lines = Counter(line.strip() for line in re.split(r"\n|(?<=[.!?。！？]) ", text))
    return any(count >= REPEATS and len(line) >= LEAST_REPEATED for line, count in lines.items())
