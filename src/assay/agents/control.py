"""Tools of a research agent which are signals to its loop, never actions."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assay.tools.arguments import define


class Done(msgspec.Struct, frozen=True):
    """`done`: the agent has what its task needs, or cannot find it."""


class Think(msgspec.Struct, frozen=True):
    """`think`: reason before deciding."""

    reasoning: Annotated[str, msgspec.Meta(description="What is known, what is missing, what to do next.")] = ""


DONE = define("done", "End your research: you are asked for your findings next.", Done, control=True)
THINK = define(
    "think", "Reason in writing before you decide. Nothing else happens.", Think, control=True, thought="reasoning"
)
CONTROL = frozenset({DONE.name, THINK.name})
