"""The brief: a question and everything fixed before its run."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core.claims import CheckName, RepairName
from assay.core.conversation import GivenAnswer, Said
from assay.core.depths import DEPTHS as DEPTHS
from assay.core.depths import STEPWISE as STEPWISE
from assay.core.depths import DepthRules as DepthRules
from assay.core.depths import SetDepth as SetDepth
from assay.core.depths import decided_by_reasoning
from assay.core.depths import depth_rules as depth_rules
from assay.core.estimate import Estimate
from assay.core.lengths import Length
from assay.core.messages import ModelFacts
from assay.core.usage import Budget
from assay.core.webrules import WebRules

Mode = Literal["auto", "simple", "web_search", "deep_research", "agent"]
Depth = Literal["auto", "light", "medium", "extended"]
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

    `fork` says of a run which was forked off another from where it goes on. `depths` are the numbers of each depth; a
    brief without them goes by the defaults.

    `user` says whose run it is, and `labels` what its owner calls it: for lists, logs and limits, never in a prompt.

    `owner` is whose the run is to read and change, empty for the one local user; `user` is his name then.

    `assess` says that a model judges what the findings answer; in briefs of earlier releases code does.

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
    assess: bool = False
    ask: Literal["never", "optional", "required"] = "never"
    tools: tuple[str, ...] = ("search", "open", "recall", "calculate")
    models: dict[Role, tuple[str, ...]] = {}
    prompts: dict[str, str] = {}
    thread: str = ""
    conversation: tuple[Said, ...] = ()
    parent: str = ""
    lane: int = 0
    answers: tuple[GivenAnswer, ...] = ()
    review: Literal["never", "optional", "required"] = "never"
    user: str = ""
    owner: str = ""
    labels: dict[str, str] = {}
    estimate: Estimate | None = None
    release: str = ""
    steps_format: int = STEPS_FORMAT
    allow_private: bool = False
    private_to: tuple[str, ...] = ()
    fork: Fork | None = None
    facts: dict[str, ModelFacts] | msgspec.UnsetType = msgspec.UNSET
    depths: dict[SetDepth, DepthRules] = {}

    def rules(self, depth: SetDepth, *, reasoning: bool = False) -> DepthRules:
        """How far the run goes at a depth; `reasoning` says that the model which decides reasons by itself."""
        rules = self.depths.get(depth) or depth_rules(self.strategy, depth)
        return decided_by_reasoning(rules) if reasoning else rules

    @property
    def may_ask(self) -> bool:
        """Whether a person may be asked: somebody wants it, and the last thing said in the thread was no question."""
        asked_already = bool(self.conversation) and self.conversation[-1].questions
        return self.ask != "never" and not asked_already
