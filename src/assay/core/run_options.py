"""The options of a run, each declared once.

A key of `RunOptions` is an option's name in Python, in the rows of a batch and in a schedule. Its type limits its
values, its `Option` has its default and effect, its flags are for the commands, its offers name the protocols that
accept it. A fork may change those of `ForkOptions`. A new option needs a key here, a field of the brief, and its use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args

from assay.core.brief import ConversationMessage, Depth, Mode, Role
from assay.core.claims import RepairName
from assay.core.options import Flag, Offer, Option

Answers = Sequence[str] | Mapping[str, str]
"""Answers to clarifying questions: in their order, or by question."""
AskMode = Literal["never", "optional", "required"]
WaitMode = Literal["never", "required"]
"""The values of `AskMode` that a client of the server may choose."""

_BEGUN = "research batch plan schedule"
_LIMITED = "research plan schedule fork agent ask chat"
_COUNTED = "research plan schedule fork agent"
_DONE = f"{_BEGUN} fork"
_WEB = f"{_BEGUN} agent chat"
_JUDGED = "judge check summary"
_DEPTHS = ("light", "medium", "extended")
_OPENAI = Offer(protocol="openai")


def _limit(measure: str, setting: str = "") -> Option:
    budget = f"budget.{measure}"
    return Option(group="Budget", setting=f"limits.{setting or measure}", sets=(budget,), api=budget)


class ForkOptions(TypedDict, total=False):
    """Options that a fork may change. Those left out stay as they are.

    Limits apply to the fork alone: what the original run spent does not count. Permission to send private documents
    elsewhere must be given again if the models change.
    """

    max_time: Annotated[
        float | None,
        _limit("seconds", "time"),
        Flag("--max-time", f"{_LIMITED} batch table", "Time limit for {what} (90s, 5m).", "TIME", "time"),
        _OPENAI,
    ]
    max_usd: Annotated[
        float | None,
        _limit("usd"),
        Flag("--max-usd", f"{_LIMITED} {_JUDGED}", "Cost limit for {what} in US dollars (0.50).", "USD", "usd"),
        _OPENAI,
    ]
    max_tokens: Annotated[
        int | None,
        _limit("tokens"),
        Flag("--max-tokens", f"{_LIMITED} {_JUDGED}", "Token limit for {what} (200k).", "COUNT", "count"),
        _OPENAI,
    ]
    max_searches: Annotated[
        int | None,
        _limit("searches"),
        Flag("--max-searches", _COUNTED, "Searches the run may make.", "COUNT", "count"),
    ]
    max_pages: Annotated[
        int | None,
        _limit("pages"),
        Flag("--max-pages", _COUNTED, "Documents and pages the run may open.", "COUNT", "count"),
    ]
    max_agents: Annotated[
        int | None,
        _limit("agents"),
        Flag("--max-agents", _COUNTED, "Research agents the run may send.", "COUNT", "count"),
    ]
    model: Annotated[str | Sequence[str] | None, Option(group="Model", setting="model", sets=("models",))]
    models: Annotated[
        Mapping[Role, str | Sequence[str]],
        Option(group="Model", description="models by role, the first choice of each first"),
        Flag(
            "--model",
            f"{_DONE} agent ask chat table summary",
            "Model of all roles, or of one (simple, analytical, complex, judge); repeatable.",
            "[ROLE=]PROVIDER:NAME",
            "models",
        ),
    ]
    depth: Annotated[
        Depth | None,
        Option(group="Run", position=20, setting="depth", api="depth", until="research"),
        Flag("--depth", _DONE, "Depth of the research: at most 2, 10 or 30 minutes.", choices=("auto", *_DEPTHS)),
        Flag("--depth", "agent", "Turns the agent has (default: medium).", choices=_DEPTHS),
        Flag("--depth", "table", "Depth for each cell.", choices=_DEPTHS, default="light"),
        _OPENAI,
        Offer(protocol="mcp", description="light: about 2 minutes; medium: 10; extended: 30.", api_type=Depth),
    ]
    strategy: Annotated[
        str | None,
        Option(group="Run", position=20, setting="strategy", api="strategy", until="research"),
        Flag("--strategy", _DONE, "Research strategy: orchestrated or reflective.", "NAME", "strategy"),
        _OPENAI,
    ]
    length: Annotated[
        str | int | None,
        Option(group="Report", setting="length", api="report.length"),
        Flag(
            "--length",
            _DONE,
            "Length: short, normal (300 to 2,000 words, by depth), long, or a number of words.",
            "LENGTH",
        ),
        _OPENAI,
    ]
    language: Annotated[
        str | None,
        Option(
            group="Report",
            setting="language",
            sets=("language", "language_asked", "locale"),
            api="report.language",
        ),
        Flag("--lang", _DONE, "Language of the report (de, pt-BR); default: that of the question.", "CODE"),
        _OPENAI,
    ]
    template: Annotated[
        str | Path | None,
        Option(group="Report", api="report.template"),
        Flag("--template", _DONE, "Markdown file with the headings the report must have.", "FILE", "path"),
    ]
    instructions: Annotated[
        str | Path | None,
        Option(group="Report", api="report.instructions"),
        Flag("--instructions", _DONE, "Further instructions for the report: style, emphasis, readers.", "FILE", "path"),
    ]
    review_plan: Annotated[
        AskMode | None,
        Option(group="Run", position=40, sets=("review",), api="review_plan", api_type=WaitMode, until="plan"),
        Flag(
            "--review-plan",
            "research fork",
            "Edit and approve the plan first; without a terminal the run waits (exit 7).",
            value="required",
        ),
    ]
    allow_private: Annotated[
        bool,
        Option(group="Sources", api="scope.allow_private"),
        Flag(
            "--allow-private",
            "research agent chat table",
            "Let remote models see documents in private collections, and search the web beside them.",
            reads="switch",
        ),
        Flag("--allow-private", "fork", "Let remote models and web searches see private documents.", reads="switch"),
        Flag("--allow-private", "ask", "Let remote models see the private documents the answer needs.", reads="switch"),
        Flag("--allow-private", "judge summary", "Let a remote model see private documents.", reads="switch"),
    ]
    verify: Annotated[
        bool | None,
        Option(group="Report", position=80, setting="verify", api="checks.verify"),
        Flag("--no-verify", "research fork agent ask", "Skip verification.", value=False),
    ]
    repair: Annotated[
        bool | None,
        Option(group="Report", position=80, setting="repair", api="checks.repair"),
        Flag(
            "--no-repair",
            "research batch schedule fork agent ask chat",
            "Keep sentences that fail verification as written, with their verdicts.",
            value=False,
        ),
    ]


class RunOptions(ForkOptions, total=False):
    """The options of a run. None, where it is allowed, is the same as leaving an option out.

    `max_time` is in active seconds. `max_tokens` counts input and output together, `max_usd` is in US dollars;
    `max_searches`, `max_pages` and `max_agents` count searches, documents opened and research agents. `model`
    (PROVIDER:NAME; several are a first choice and its fallbacks) is for every role that `models`, by role, leaves open;
    the judge is of another family than the writer if possible.

    `ask` says whether clarifying questions are put to a person: `optional` waits in this process for
    `RunHandle.answer`, `required` leaves the run waiting for `Assay.answer`. `answers` are given beforehand, in the
    order of the questions or by question. `thread` names the conversation of the run; `continues` is the run (id, start
    of an id, or `last`) whose evidence it uses. `said` has the earlier messages of a conversation that is stored
    elsewhere; a thread has its own.

    `review_plan` says, like `ask` for questions, whether the plan is shown to a person who approves it
    (`RunHandle.approve`, `Assay.approve`) or replaces it.

    `web` says whether the web is searched and read; the setting `search.offline` forbids it. By default it is if no
    sources are named. Pages are limited to the hosts in `domains` (if there are any), without those in `not_domains`,
    and to those published from `since` until `until` (a day, a month or a year); `country` (de, us) is where the search
    is made from. `fresh` requests pages again that earlier runs have cached. `allow_private` lets remote models see the
    documents of private collections, and allows searching the web in the same run.

    For the report, `length` is short, normal, long, or a number of words; `language` a code (BCP 47), by default the
    question's; `template` has Markdown headings to fill. `template` and `instructions` are text, or the `Path` of a
    file. `schema` is a JSON Schema (text, a `Path`, or the object), or a class that has one (of pydantic, a dataclass,
    a `TypedDict`): the report is the fields it asks for.

    `user` says whose run it is (limits of workers count by user; a provider gets a hash, models get nothing); `labels`
    are stored with it.
    """

    mode: Annotated[
        Mode | None,
        Option(group="Run", position=10, setting="mode", api="mode"),
        Flag(
            "--mode",
            "research batch schedule",
            "One search, a quick look at the web, or research.",
            choices=("auto", "simple", "web_search", "deep_research"),
        ),
        Offer(protocol="openai", api_type=Literal["auto", "simple", "web_search", "deep_research"] | None),
    ]
    schema: Annotated[
        str | Path | Mapping[str, Any] | type | None,
        Option(group="Report", position=60, api="report.schema", api_type=dict[str, Any] | None),
        Flag(
            "--schema",
            "research schedule",
            "Fill this JSON Schema instead of writing a report; what is unknown is null.",
            "FILE",
            "file",
        ),
    ]
    checks_off: Annotated[Sequence[str] | None, Option(group="Report", setting="checks_off", api="checks.checks_off")]
    compare: Annotated[bool | None, Option(group="Report", setting="compare", api="checks.compare")]
    repairs_off: Annotated[
        Sequence[RepairName] | None, Option(group="Report", setting="repairs_off", api="checks.repairs_off")
    ]
    ask: Annotated[
        AskMode | None,
        Option(group="Run", position=30, setting="ask", api="ask", api_type=WaitMode),
        Flag("--ask", "research", "Ask about an unclear question; required: wait (exit 7).", choices=get_args(AskMode)),
        Flag("--no-clarify", "research", "Ask no clarifying questions (--ask never).", value="never"),
    ]
    answers: Annotated[
        Answers | None,
        Option(group="Run", position=30, api="answers", api_type=tuple[str, ...]),
        Flag(
            "--answers",
            "research answer",
            "Answers to clarifying questions: JSON, or one a line; - reads stdin.",
            "FILE",
            "answers",
        ),
    ]
    continues: Annotated[
        str | None,
        Option(group="Sources", sets=("parent",), api="continues"),
        Flag(
            "--continue",
            "research",
            "Continue from the evidence of an earlier run (its id, the start of it, or last).",
            "RUN",
            "run",
        ),
        Offer(
            protocol="mcp", description="The id of an earlier run whose evidence this one continues from.", api_type=str
        ),
    ]
    thread: Annotated[
        str | None,
        Option(group="Sources", api="thread"),
        Flag(
            "--thread", "research", "Conversation this question belongs to; the run sees its earlier messages.", "NAME"
        ),
        _OPENAI,
    ]
    said: Annotated[
        Sequence[ConversationMessage],
        Option(
            group="Sources",
            sets=("conversation",),
            description="earlier messages of a conversation that is stored elsewhere",
        ),
    ]
    web: Annotated[
        bool | None,
        Option(group="Web", setting="search.web", sets=("scope.web",), api="scope.web"),
        Flag("--web/--offline", _WEB, "Search the web, or not; by default only without --in.", None, "either"),
        Flag("--offline", "table", "Do not search the web; cells never do, with or without this.", value=False),
        _OPENAI,
        Offer(protocol="mcp", description="True: search the web too; false: do not; null: as the owner has set it."),
    ]
    domains: Annotated[
        Sequence[str],
        Option(group="Web", sets=("scope.rules.domains",), api="scope.sites_allow"),
        Flag(
            "--domain",
            _WEB,
            "Use only web pages of this host and its subdomains (gov.uk); repeatable.",
            "HOST",
            "several",
        ),
        _OPENAI,
    ]
    not_domains: Annotated[
        Sequence[str],
        Option(group="Web", sets=("scope.rules.denied",), api="scope.sites_deny"),
        Flag("--not-domain", _WEB, "Ignore web pages of this host and its subdomains; repeatable.", "HOST", "several"),
        _OPENAI,
    ]
    since: Annotated[
        str | None,
        Option(group="Web", sets=("scope.rules.since",), api="scope.since"),
        Flag("--since", _WEB, "Ignore web pages published before this date (2024-05-31, 2024-05, 2024).", "DAY"),
        _OPENAI,
    ]
    until: Annotated[
        str | None,
        Option(group="Web", sets=("scope.rules.until",), api="scope.until"),
        Flag("--until", _WEB, "Ignore web pages published after this date.", "DAY"),
        _OPENAI,
    ]
    country: Annotated[
        str | None,
        Option(group="Web", sets=("scope.rules.country",), api="scope.country"),
        Flag("--country", _WEB, "Search the web from this country (de, us).", "CODE"),
    ]
    fresh: Annotated[
        bool,
        Option(group="Web", sets=("scope.rules.fresh",), api="scope.fresh"),
        Flag("--fresh", _WEB, "Fetch every page again, even those cached by earlier runs.", reads="switch"),
    ]
    user: Annotated[
        str | None,
        Option(group="Run", position=60),
        Flag("--user", f"{_BEGUN} agent", "Owner of the run, for limits, logs and lists; models never see it.", "NAME"),
    ]
    labels: Annotated[
        Mapping[str, str],
        Option(group="Run", position=60, api="labels"),
        Flag("--label", f"{_BEGUN} agent", "Label stored with the run; repeatable.", "NAME=VALUE", "labels"),
    ]
