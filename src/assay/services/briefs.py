"""What a caller wants of a run, and the brief it becomes: what is not said is taken from the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

import msgspec

from assay import agents, phases, verify
from assay.core.brief import ROLES, Brief, Depth, Mode, Role, Said, Scope, Section, Speculation, Timeouts, read_length
from assay.core.claims import CheckName, RepairName
from assay.core.depths import changed_depths
from assay.core.errors import UnknownName, UsageError
from assay.core.families import judges
from assay.core.labels import checked_labels
from assay.core.languages import of_question, read_language
from assay.core.outline import read_template
from assay.core.usage import Budget
from assay.core.web_addresses import WebRules
from assay.locale import locale_for
from assay.phases.fields.schema import LARGEST, canonical
from assay.run.releases import own_release
from assay.services.texts import hosts, make_rules, text_of
from assay.services.threads import Answers, given
from assay.settings import Settings

N = TypeVar("N", int, float)

LONGEST_QUESTION = 100_000
"""Characters; a question is not where documents are put."""
LONGEST_NAME = 200

_QUOTED = re.compile(r"[\"“„«`][^\"“”„«»`]*[\"”»`]")


class RunOptions(TypedDict, total=False):
    """The options of a run. None, where it is allowed, is the same as leaving an option out.

    `max_time` is in active seconds; `max_tokens` counts input and output together, `max_usd` is in US dollars,
    `max_searches`, `max_pages` and `max_agents` count searches, documents opened and research agents. `model` is the
    model of every role (PROVIDER:NAME; several are a first choice and its fallbacks) that `models` names none for, by
    role; the judge is of another family than the writer where there is one.

    `ask` says whether clarifying questions are put to a person: `optional` waits in this process for
    `RunHandle.answer`, `required` leaves the run waiting, for `Assay.answer`. `answers` are given beforehand: in the
    order of the questions, or by question. `thread` names the conversation the run is part of; `continues` is the run
    (id, start of an id, or `last`) whose evidence it goes on from. `said` is what was said before in a conversation
    which is kept elsewhere; a thread of its own knows that itself.

    `review_plan` says, as `ask` does of questions, whether the plan is shown to a person who approves it
    (`RunHandle.approve`, `Assay.approve`) or gives another.

    `web` says whether the web is searched and read too; the setting `search.offline` forbids it. Unsaid, it is where no
    sources are named. Of the web are left out: hosts which are not of `domains` (all where there are none), those of
    `not_domains`, pages published before `since` or after `until` (a day, a month or a year); `country` (de, us) is
    where it is searched from. `fresh` asks for pages anew which earlier runs have kept. `allow_private`
    lets models elsewhere see the documents of private collections, and the web be searched beside them.

    Of the report: `length` is short, normal, long, or a number of words; `language` a code (BCP 47), the question's
    where none is given; `template` Markdown headings to fill. `template` and `instructions` are the text itself, or the
    `Path` of a file. `schema` is a JSON Schema (text, a `Path`, or the object): the report is the fields it asks for.

    `user` says whose run it is (limits of workers count by it; a provider gets its hash, no model is told), `labels`
    are noted with it.
    """

    mode: Mode | None
    depth: Depth | None
    strategy: str | None
    max_time: float | None
    max_tokens: int | None
    max_usd: float | None
    max_searches: int | None
    max_pages: int | None
    max_agents: int | None
    verify: bool | None
    checks_off: Sequence[CheckName] | None
    compare: bool | None
    repair: bool | None
    repairs_off: Sequence[RepairName] | None
    instructions: str | Path | None
    length: str | int | None
    language: str | None
    template: str | Path | None
    schema: str | Path | Mapping[str, Any] | None
    ask: Literal["never", "optional", "required"] | None
    review_plan: Literal["never", "optional", "required"] | None
    answers: Answers | None
    thread: str | None
    continues: str | None
    said: Sequence[Said]
    web: bool | None
    domains: Sequence[str]
    not_domains: Sequence[str]
    since: str | None
    until: str | None
    country: str | None
    fresh: bool
    allow_private: bool
    model: str | Sequence[str] | None
    models: Mapping[Role, str | Sequence[str]]
    user: str | None
    labels: Mapping[str, str]


def make_brief(question: str, settings: Settings, wanted: RunOptions, *, web: bool = False) -> Brief:
    """The brief of a run about `question`, of today; its scope is still the default one.

    `web` is whether the web belongs to it where neither the caller nor the settings say so.

    Raises:
        UsageError: the question is empty or too long, or an option is not of its kind.
    """
    checked, off, compared = wanted.get("verify"), wanted.get("checks_off"), wanted.get("compare")
    mend, unmended = wanted.get("repair"), wanted.get("repairs_off")
    question = _question(question)
    language = _language(question, wanted.get("language") or settings.language)
    brief = Brief(
        question=question,
        date=datetime.now(UTC).date().isoformat(),
        mode=wanted.get("mode") or settings.mode,
        depth=wanted.get("depth") or settings.depth,
        strategy=wanted.get("strategy") or settings.strategy,
        budget=_budget(settings, wanted),
        timeouts=Timeouts(**settings.timeouts.model_dump()),
        instructions=text_of(wanted.get("instructions"), "instructions"),
        length=read_length(wanted.get("length") or settings.length),
        language=language,
        locale=locale_for(language),
        language_asked=bool((wanted.get("language") or settings.language).strip()),
        template=_template(wanted.get("template")),
        schema=_schema(wanted, wanted.get("mode") or settings.mode),
        verify=settings.verify if checked is None else checked,
        checks_off=tuple(settings.checks_off if off is None else off),
        compare=settings.compare if compared is None else compared,
        repair=settings.repair if mend is None else mend,
        repairs_off=tuple(settings.repairs_off if unmended is None else unmended),
        ask=wanted.get("ask") or ("required" if settings.ask == "required" else "never"),
        review=wanted.get("review_plan") or "never",
        assess=True,
        tools=settings.agents.tools,
        user=_user(wanted.get("user")),
        labels=checked_labels(wanted.get("labels") or {}),
        release=own_release(),
        answers=given(wanted.get("answers") or ()),
        thread=(wanted.get("thread") or "").strip(),
        conversation=tuple(wanted.get("said") or ()),
        parent=(wanted.get("continues") or "").strip(),
        scope=Scope(
            web=_web(wanted, settings, web), rules=_rules(wanted, settings), trusted=hosts(settings.sources.allow)
        ),
        models=_models(settings, named_models(wanted.get("model"), wanted.get("models", {}))),
        allow_private=wanted.get("allow_private") or False,
        speculation=Speculation(**settings.speculation.model_dump()),
        depths=changed_depths(wanted.get("strategy") or settings.strategy, settings.depths.changes()),
        prompts=phases.prompts() | agents.prompts() | verify.prompts(),
    )
    try:
        return msgspec.json.decode(msgspec.json.encode(brief), type=Brief)
    except msgspec.ValidationError as error:
        raise UsageError(f"{error}") from error


def _question(text: str) -> str:
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(text):,} characters, and {LONGEST_QUESTION:,} are read: put the material "
            "into a file, and name it with --in"
        )
    if not text.strip():
        raise UsageError("the question is empty: write one")
    return text.strip()


def _budget(settings: Settings, wanted: RunOptions) -> Budget:
    def given(asked: N | None, configured: N | None) -> N | None:
        return configured if asked is None else asked

    limits = settings.limits
    return Budget(
        seconds=given(wanted.get("max_time"), limits.time),
        usd=given(wanted.get("max_usd"), limits.usd),
        tokens=given(wanted.get("max_tokens"), limits.tokens),
        searches=given(wanted.get("max_searches"), limits.searches),
        pages=given(wanted.get("max_pages"), limits.pages),
        agents=given(wanted.get("max_agents"), limits.agents),
    )


def named_models(
    model: str | Sequence[str] | None, models: Mapping[Role, str | Sequence[str]]
) -> dict[Role, tuple[str, ...]]:
    """The models which a caller names, by role: `model` plays all but the judge that `models` names none for.

    Raises:
        UnknownName: there is no such role.
    """
    for role in models:
        if role not in ROLES:
            raise UnknownName("role", role, ROLES)
    common = {role: listed(model) for role in ROLES if role != "judge"} if model else {}
    return common | {role: listed(names) for role, names in models.items()}


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def _models(settings: Settings, named: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of every role; a judge whom nobody names goes by those of the others."""
    models = settings.roles() | dict(named)
    return models if "judge" in named or settings.names_judge else models | {"judge": judges(models)}


def said_of_web(wanted: RunOptions, settings: Settings) -> bool | None:
    """Whether the web belongs to a run, as far as the caller or the settings say so."""
    if settings.search.offline:
        return False
    asked = wanted.get("web")
    return settings.search.web if asked is None else asked


def _web(wanted: RunOptions, settings: Settings, unsaid: bool) -> bool:
    if wanted.get("web") and settings.search.offline:
        raise UsageError("the web was asked for, and search.offline forbids it: leave --web out, or set it to false")
    said = said_of_web(wanted, settings)
    return unsaid if said is None else said


def _rules(wanted: RunOptions, settings: Settings) -> WebRules:
    return make_rules(
        domains=wanted.get("domains") or (),
        denied=(*(wanted.get("not_domains") or ()), *settings.sources.deny),
        since=wanted.get("since") or "",
        until=wanted.get("until") or "",
        country=wanted.get("country") or "",
        fresh=wanted.get("fresh") or False,
    )


def _user(given: str | None) -> str:
    user = (given or "").strip()
    if len(user) > LONGEST_NAME or not user.isprintable():
        raise UsageError(f"a user's name is up to {LONGEST_NAME} characters in one line")
    return user


def _language(question: str, asked: str) -> str:
    """The language asked for, else the question's, "" where it cannot be told; what it quotes says nothing of that."""
    return read_language(asked) if asked else of_question(_QUOTED.sub(" ", question))


def _template(given: str | Path | None) -> tuple[Section, ...]:
    text = text_of(given, "template")
    return read_template(text) if text else ()


def _schema(wanted: RunOptions, mode: str) -> str:
    given = wanted.get("schema")
    if given is None:
        return ""
    if mode not in ("auto", "deep_research"):
        raise UsageError(f"a schema needs research, and mode {mode} does none; leave --mode out")
    if wanted.get("template"):
        raise UsageError("a schema and a template both say what the report is made of; give one of them")
    return canonical(given if isinstance(given, Mapping) else text_of(given, "schema", LARGEST))
