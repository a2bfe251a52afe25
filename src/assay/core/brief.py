"""The brief: a question and everything fixed before its run, the earlier messages, and the estimate."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Literal

import msgspec

from assay.core.claims import RepairName
from assay.core.depths import DepthRules as DepthRules
from assay.core.depths import SetDepth as SetDepth
from assay.core.depths import depths_of, rules_for_reasoning
from assay.core.errors import UsageError
from assay.core.messages import ModelFacts
from assay.core.text import estimate_tokens, sentences, words
from assay.core.usage import Budget
from assay.core.web_addresses import WebRules

# Earlier messages of a thread, and answers given before they are asked for.

USER_MESSAGES = 5
"""A run gets this many of its user's last messages, with the replies between them."""
MAX_MESSAGE_CHARS = 4_000
"""Code points kept of a message; the rest is cut off at the end of a sentence."""
ALIKE = 0.8
"""How similar a question must be to the one an answer was given to (difflib's ratio)."""


class ConversationMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a thread. `questions` says that it asks the user for clarification."""

    by: Literal["user", "assistant"]
    text: str
    questions: bool = False


class GivenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer given before its question was asked: to the named question, or to the next if none is named."""

    text: str
    question: str = ""


def latest_messages(messages: Sequence[ConversationMessage]) -> tuple[ConversationMessage, ...]:
    """The last messages of a thread: up to `USER_MESSAGES` of the user, and the replies between and after them."""
    latest: list[ConversationMessage] = []
    users = 0
    for message in reversed(messages):
        users += message.by == "user"
        if users > USER_MESSAGES:
            break
        latest.append(msgspec.structs.replace(message, text=shorten_text(message.text, MAX_MESSAGE_CHARS)))
    return tuple(reversed(latest))


def fit_messages(messages: Sequence[ConversationMessage], tokens: int) -> tuple[ConversationMessage, ...]:
    """The messages in `tokens`: replies are shortened together, then the oldest messages left out."""
    fitted, length = list(messages), MAX_MESSAGE_CHARS
    while fitted and estimate_tokens(msgspec.json.encode(fitted).decode()) > tokens:
        if length > 200:
            length //= 2
            fitted = [_shorten_reply(message, length) for message in fitted]
        else:
            fitted = fitted[1:]
    return tuple(fitted)


def _shorten_reply(message: ConversationMessage, length: int) -> ConversationMessage:
    return (
        message if message.by == "user" else msgspec.structs.replace(message, text=shorten_text(message.text, length))
    )


def shorten_text(text: str, length: int) -> str:
    """`text` within `length` code points: as many whole sentences as fit, else cut at a space."""
    text = text.strip()
    if len(text) <= length:
        return text
    ends = [end for _, end in sentences(text[:length]) if end < length]
    beginning = text[: ends[-1]] if ends else text[: length - 2].rpartition(" ")[0] or text[: length - 2]
    return f"{beginning.rstrip()} …" if len(beginning) + 2 <= length else f"{beginning[: length - 2].rstrip()} …"


def match_answers(questions: Sequence[str], given_answers: Sequence[GivenAnswer]) -> tuple[str | None, ...]:
    """The answer given to each question, None if there is none.

    An answer goes to the question it names, in these or similar words; answers that name none go to the remaining
    questions in order.
    """
    named_answers = {
        _normalize(given_answer.question): given_answer.text for given_answer in given_answers if given_answer.question
    }
    unnamed_answers = iter([given_answer.text for given_answer in given_answers if not given_answer.question])
    matches: list[str | None] = [_closest_match(question, named_answers) for question in questions]
    return tuple(next(unnamed_answers, None) if answer is None else answer for answer in matches)


def _closest_match(question: str, answers: dict[str, str]) -> str | None:
    matches = difflib.get_close_matches(_normalize(question), answers, n=1, cutoff=ALIKE)
    return answers[matches[0]] if matches else None


def _normalize(text: str) -> str:
    return " ".join(words(text))


# What a run will probably take: ranges, estimated before it begins.


class Span(msgspec.Struct, frozen=True):
    """From `least` to `most`."""

    least: float
    most: float

    def holds(self, value: float) -> bool:
        """True if `value` is within."""
        return self.least <= value <= self.most


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The probable total of a run: model calls, tokens, US dollars, seconds of work.

    `usd` is None if a model's price is not known. `basis` is what it rests on: the rules of the depth and the table of
    prices, or the latest `runs` of the same kind.
    """

    calls: Span
    tokens: Span
    seconds: Span
    usd: Span | None = None
    basis: Literal["rules", "runs"] = "rules"
    runs: int = 0


# How long a report should be: a name, or a number of words.

NamedLength = Literal["short", "normal", "long"]
Length = NamedLength | int
"""A named length, or an approximate number of words."""
SHARES: dict[NamedLength, float] = {"short": 0.5, "normal": 1.0, "long": 2.0}
"""The named lengths, as multiples of the words of a run's depth."""
MIN_WORDS, MAX_WORDS = 30, 10_000


def read_length(value: str | int) -> Length:
    """Read a length as a user gives it: `short`, `normal`, `long`, `300`.

    Raises:
        UsageError: it is not a length.
    """
    text = str(value).strip().lower()
    for name in SHARES:
        if text == name:
            return name
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    if not MIN_WORDS <= count <= MAX_WORDS:
        raise UsageError(
            f"{str(value)[:40]!r} is not a length: "
            f"write short, normal, long or a number from {MIN_WORDS} to {MAX_WORDS:,}"
        )
    return count


def word_limit(length: Length, usual: int) -> int:
    """The number of words, 0 for as many as needed; `usual` is that of the run's depth."""
    return length if isinstance(length, int) else round(usual * SHARES[length])


Mode = Literal["auto", "simple", "web_search", "deep_research", "agent"]
Depth = Literal["auto", "light", "medium", "extended"]
Role = Literal["simple", "analytical", "complex", "judge"]
ROLES: tuple[Role, ...] = ("simple", "analytical", "complex", "judge")


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run may search.

    `collections` are names in the library; `label` is their name for a reader ("docs/ (7 documents)"). `rules` restrict
    the web; `trusted` are hosts whose pages the user vouches for. `private` says that some of the documents are in a
    private collection, or that earlier messages or documents of the thread are.
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

    `first_token` is for the first sign of a reply, `tokens` for the next. `report` replaces `tokens` in reports and
    findings, during which large models reason. `total` is for a whole reply.
    """

    first_token: float = 60.0
    tokens: float = 60.0
    report: float = 300.0
    total: float = 1800.0


class Speculation(msgspec.Struct, frozen=True, kw_only=True):
    """The work a run may do ahead. It makes the run faster and does not change the results.

    `question`: search for the question during triage. `names`: search for the names in the question while the plan is
    written. `pages`: read the best pages of a search when it answers. `paid` allows providers that charge for queries.
    `calls`: ask a model what it will be asked next, while the decision on it is made. `tasks`: an agent that needs the
    findings of others begins as soon as these have reported; without, once all that were sent before it have.
    What nobody asks for in the end stays below `share` of all searches, of all pages, and of all tokens.
    """

    question: bool = False
    names: bool = False
    pages: bool = False
    paid: bool = False
    calls: bool = False
    tasks: bool = False
    share: float = 0.15


ForkPoint = Literal["plan", "research", "write"]
POINTS: tuple[ForkPoint, ...] = ("plan", "research", "write")


class Fork(msgspec.Struct, frozen=True, kw_only=True):
    """Where a forked run begins.

    It has everything `run` had before its phase `point`, except the sources left out, by their ids there.
    """

    run: str
    point: ForkPoint
    left_out: tuple[str, ...] = ()


STEPS_FORMAT = 1
"""The format of stored steps. Increase it if a release cannot continue from those of the one before."""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Everything fixed when a run is created; changed settings do not touch a started run.

    `models` maps a role to model names, first choice first; `prompts` maps a prompt's name to its SHA-256.
    `date` is the day of creation (ISO), what the models are told as today. Never secrets or addresses. The report is
    of `length`, in `language` (BCP 47; empty: the question's; `language_asked` says that somebody asked for it;
    `locale` names the catalogue in which code speaks in it, "" for English), with the headings of `template` if it has
    any; with a `schema` (JSON Schema, as text) it is the fields of that.

    `thread` names the conversation the run is part of (empty: none), `conversation` is what was said in it before.
    `parent` is the id of the run whose evidence this one goes on from, empty for none; `lane` is the number of the lane
    of its own phases, above all of the parent's. `answers` were given before any question was asked. `fork` says where
    a forked run begins. `depths` are the numbers of each depth; a brief without them goes by the defaults.

    `owner` is whose the run is to read and change, empty for the one local user. `user` says whose it is, and `labels`
    what its owner calls it: for lists, logs and limits, never in a prompt. `assess` says that a model judges what the
    findings answer; in briefs of earlier releases code does. `estimate` is what the run was thought to take. `review`
    says whether the plan is shown to a person before research, as `ask` says it of questions. `release` is the version
    of Assay which made the brief, `steps_format` how that one stores steps. `allow_private` says that private documents
    may be shown to models elsewhere, and be in scope while the web is searched; `private_to` names those which may then
    see them. `facts` is what the servers on this machine said of their models when the run was created. Briefs of
    earlier releases have no `speculation`, and their runs go on without it.
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
    checks_off: tuple[str, ...] = ()
    compare: bool = True
    repair: bool = True
    repairs_off: tuple[RepairName, ...] = ()
    assess: bool = False
    ask: Literal["never", "optional", "required"] = "never"
    tools: tuple[str, ...] = ("search", "open", "recall", "calculate")
    models: dict[Role, tuple[str, ...]] = {}
    prompts: dict[str, str] = {}
    thread: str = ""
    conversation: tuple[ConversationMessage, ...] = ()
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
    speculation: Speculation | msgspec.UnsetType = msgspec.UNSET

    def rules(self, depth: SetDepth, *, reasoning: bool = False) -> DepthRules:
        """How far the run goes at a depth; `reasoning` says that the model which decides reasons by itself."""
        rules = self.depths.get(depth) or depths_of(self.strategy)[depth]
        return rules_for_reasoning(rules) if reasoning else rules

    @property
    def may_ask(self) -> bool:
        """True if a person may be asked: somebody wants it, and the last thing said in the thread was no question."""
        asked_already = bool(self.conversation) and self.conversation[-1].questions
        return self.ask != "never" and not asked_already
