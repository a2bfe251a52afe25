"""The brief: a question and everything fixed before its run."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.claims import CheckName, RepairName
from assay.core.conversation import GivenAnswer, Said
from assay.core.estimate import Estimate
from assay.core.lengths import Length
from assay.core.messages import ModelFacts
from assay.core.usage import Budget
from assay.core.webrules import WebRules

Mode = Literal["auto", "simple", "web_search", "deep_research", "agent"]
Depth = Literal["auto", "light", "medium", "extended"]
SetDepth = Literal["light", "medium", "extended"]
Role = Literal["simple", "analytical", "complex", "judge"]

ROLES: tuple[Role, ...] = ("simple", "analytical", "complex", "judge")


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run may look.

    `collections` are names in the library; `label` is what a reader calls them ("docs/ (7 documents)").
    `rules` say what of the web is left out; `trusted` are hosts whose pages the user vouches for. `private` says that
    some of the documents are of a private collection, or that what was said or read before in the same thread is.
    """

    collections: tuple[str, ...] = ("default",)
    label: str = "the default collection"
    web: bool = False
    rules: WebRules = WebRules()
    trusted: tuple[str, ...] = ()
    private: bool = False


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A heading of a report's template (`level` 1 to 6); `hint` is what the template says below it."""

    level: int
    title: str
    hint: str = ""


class DepthRules(msgspec.Struct, frozen=True, kw_only=True):
    """How far a strategy goes at a depth.

    `seconds` are for the whole run. `cycles` counts the rounds in which agents are sent, `agents_at_once` how many work
    in parallel, `agent_turns` the turns of each. `calls` are the tool calls an agent may make, 0 for any number.
    An agent with `queries` and `pages` is driven by code: so many searches, and so many documents opened.
    """

    seconds: float
    min_steps: int
    max_steps: int
    cycles: int
    agents_at_once: int
    agent_turns: int
    calls: int = 0
    queries: int = 0
    pages: int = 0


DEPTHS: dict[SetDepth, DepthRules] = {
    "light": DepthRules(seconds=120, min_steps=1, max_steps=3, cycles=2, agents_at_once=2, agent_turns=3),
    "medium": DepthRules(seconds=600, min_steps=3, max_steps=6, cycles=4, agents_at_once=3, agent_turns=6),
    "extended": DepthRules(seconds=1800, min_steps=5, max_steps=6, cycles=8, agents_at_once=3, agent_turns=8),
}


def _stepwise(seconds: float, steps: tuple[int, int], turns: int, **limits: int) -> DepthRules:
    """One step a cycle, and one cycle more for what failed."""
    least, most = steps
    return DepthRules(
        seconds=seconds,
        min_steps=least,
        max_steps=most,
        cycles=most + 1,
        agents_at_once=1,
        agent_turns=turns,
        **limits,
    )


STEPWISE: dict[SetDepth, DepthRules] = {
    "light": _stepwise(120, (1, 3), 3, queries=2, pages=3),
    "medium": _stepwise(600, (3, 6), 12, calls=12),
    "extended": _stepwise(1800, (5, 10), 40, calls=40),
}
"""The rules of the reflective strategy."""


MOST_CYCLES_REASONING = 4
"""Cycles of an orchestrator that reasons by itself: it decides more at a time."""


def depth_rules(strategy: str, depth: SetDepth, *, reasoning: bool = False) -> DepthRules:
    """The rules of a strategy at a depth; a strategy of somebody else goes by those of the orchestrated one.

    `reasoning` says that the model which decides reasons by itself.
    """
    if strategy == "reflective":
        return STEPWISE[depth]
    rules = DEPTHS[depth]
    return msgspec.structs.replace(rules, cycles=min(rules.cycles, MOST_CYCLES_REASONING)) if reasoning else rules


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long a model may keep a run waiting, in seconds.

    `first_token` is for the first sign of a reply, `tokens` for the next, `report` for the next one of a report or of
    findings, which large models think about; `total` is for a whole reply.
    """

    first_token: float = 60.0
    tokens: float = 60.0
    report: float = 300.0
    total: float = 1800.0


Point = Literal["plan", "research", "write"]

POINTS: tuple[Point, ...] = ("plan", "research", "write")


class Fork(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run begins that was forked off another.

    It has all that `run` had before its phase `point`, but for the sources which were left out: their ids there.
    """

    run: str
    point: Point
    left_out: tuple[str, ...] = ()


STEPS_FORMAT = 1
"""How steps are stored. To be raised when a release cannot go on from those of the one before."""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Everything fixed when a run is created; changed settings do not touch a started run.

    `models` maps a role to model names, first choice first; `prompts` maps a prompt's name to its SHA-256.
    `date` is the day of creation (ISO), what the models are told as today. Never secrets or addresses. The report is
    of `length`, in `language` (BCP 47; empty: the question's; `language_asked` says that somebody asked for it;
    `locale` names the catalogue in which code speaks in it, "" for English), and
    has the headings of `template` where that has any; where there is a `schema` (JSON Schema, as text) it is the fields
    of that.

    `thread` names the conversation the run is part of (empty: none), `conversation` is what was said in it before.
    `parent` is the id of the run whose evidence this one goes on from, empty for none; `lane` is the number of the lane
    of its own phases, above all of the parent's. `answers` were given before any question was asked.

    `fork` says of a run which was forked off another from where it goes on.

    `user` says whose run it is, and `labels` what its owner calls it: for lists, logs and limits, never in a prompt.

    `estimate` is what the run was thought to take when it was created. `review` says whether the plan is shown to a
    person before research, as `ask` says it of questions. `release` is the version of Assay which made
    the brief, `steps_format` how that one stores steps. `allow_private` says that private documents may be shown to
    models elsewhere, and be in scope while the web is searched; `private_to` names those which may then see them.
    `facts` is what the servers on this machine said of their models when the run was created.
    """

    question: str
    date: str
    mode: Mode = "auto"
    depth: Depth = "auto"
    strategy: str = "orchestrated"
    scope: Scope = Scope()
    budget: Budget = Budget()
    timeouts: Timeouts = Timeouts()
    instructions: str = ""
    language: str = ""
    language_asked: bool = False
    locale: str = ""
    length: Length = "normal"
    template: tuple[Section, ...] = ()
    schema: str = ""
    verify: bool = True
    checks_off: tuple[CheckName, ...] = ()
    compare: bool = True
    repair: bool = True
    repairs_off: tuple[RepairName, ...] = ()
    ask: Literal["never", "optional", "required"] = "never"
    tools: tuple[str, ...] = ("search", "open", "recall")
    models: dict[Role, tuple[str, ...]] = {}
    prompts: dict[str, str] = {}
    thread: str = ""
    conversation: tuple[Said, ...] = ()
    parent: str = ""
    lane: int = 0
    answers: tuple[GivenAnswer, ...] = ()
    review: Literal["never", "optional", "required"] = "never"
    user: str = ""
    labels: dict[str, str] = {}
    estimate: Estimate | None = None
    release: str = ""
    steps_format: int = STEPS_FORMAT
    allow_private: bool = False
    private_to: tuple[str, ...] = ()
    fork: Fork | None = None
    facts: dict[str, ModelFacts] | msgspec.UnsetType = msgspec.UNSET
