"""The brief: a question and everything fixed before its run."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.usage import Budget

Mode = Literal["auto", "simple", "web_search", "deep_research"]
Depth = Literal["auto", "light", "medium", "extended"]
SetDepth = Literal["light", "medium", "extended"]
Role = Literal["simple", "analytical", "complex", "judge"]

ROLES: tuple[Role, ...] = ("simple", "analytical", "complex", "judge")


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run may look.

    `collections` are names in the library; `label` is what a reader calls them ("docs/ (7 documents)").
    """

    collections: tuple[str, ...] = ("default",)
    label: str = "the default collection"
    web: bool = False


class DepthRules(msgspec.Struct, frozen=True, kw_only=True):
    """How far a depth goes: the numbers of the orchestrated strategy, and the time of both."""

    seconds: float
    min_steps: int
    max_steps: int
    cycles: int
    agents_at_once: int
    agent_turns: int


DEPTHS: dict[SetDepth, DepthRules] = {
    "light": DepthRules(seconds=120, min_steps=1, max_steps=3, cycles=2, agents_at_once=2, agent_turns=3),
    "medium": DepthRules(seconds=600, min_steps=3, max_steps=6, cycles=4, agents_at_once=3, agent_turns=6),
    "extended": DepthRules(seconds=1800, min_steps=5, max_steps=6, cycles=8, agents_at_once=3, agent_turns=8),
}


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Everything fixed when a run is created; changed settings do not touch a started run.

    `models` maps a role to model names, first choice first; `prompts` maps a prompt's name to its SHA-256.
    `date` is the day of creation (ISO), what the models are told as today. Never secrets or addresses.
    """

    question: str
    date: str
    mode: Mode = "auto"
    depth: Depth = "auto"
    strategy: str = "orchestrated"
    scope: Scope = Scope()
    budget: Budget = Budget()
    instructions: str = ""
    language: str = ""
    verify: bool = True
    ask: Literal["never", "optional", "required"] = "never"
    tools: tuple[str, ...] = ("search", "open", "recall")
    models: dict[Role, tuple[str, ...]] = {}
    prompts: dict[str, str] = {}
    labels: dict[str, str] = {}
