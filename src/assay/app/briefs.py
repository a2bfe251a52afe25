"""What a caller wants of a run, and the brief it becomes: what is not said is taken from the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec

from assay import agents, phases
from assay.app.texts import text_of
from assay.app.threads import Answers, given
from assay.core.brief import Brief, Depth, Mode, Role, Scope, Section
from assay.core.claims import CheckName
from assay.core.errors import UsageError
from assay.core.languages import read_language
from assay.core.lengths import read_length
from assay.core.outline import read_template
from assay.core.usage import Budget
from assay.fetch.language import of_question
from assay.phases.typed.schema import LARGEST, canonical
from assay.settings import Settings

_QUOTED = re.compile(r"[\"“„«`][^\"“”„«»`]*[\"”»`]")


class Wanted(TypedDict, total=False):
    """The options of a run. None, where it is allowed, is the same as leaving an option out.

    `max_time` is in active seconds; `max_tokens` counts input and output together; `models` holds names
    (PROVIDER:NAME) by role, first choice first, then its fallbacks.

    `ask` says whether clarifying questions are put to a person: `optional` waits in this process for
    `RunHandle.answer`, `required` leaves the run waiting, for `Assay.answer`. `answers` are given beforehand: in the
    order of the questions, or by question. `thread` names the conversation the run is part of; `continues` is the run
    (id, start of an id, or `last`) whose evidence it goes on from.

    `web` says whether the web is searched and read too; the setting `search.offline` forbids it.

    Of the report: `length` is short, normal, long, or a number of words; `language` a code (BCP 47), the question's
    where none is given; `template` Markdown headings to fill. `template` and `instructions` are the text itself, or the
    `Path` of a file. `schema` is a JSON Schema (text, a `Path`, or the object): the report is the fields it asks for.
    """

    mode: Mode | None
    depth: Depth | None
    strategy: str | None
    max_time: float | None
    max_tokens: int | None
    verify: bool | None
    checks_off: Sequence[CheckName] | None
    instructions: str | Path | None
    length: str | int | None
    language: str | None
    template: str | Path | None
    schema: str | Path | Mapping[str, Any] | None
    ask: Literal["never", "optional", "required"] | None
    answers: Answers | None
    thread: str | None
    continues: str | None
    web: bool | None
    models: Mapping[Role, Sequence[str]]


def make_brief(question: str, settings: Settings, wanted: Wanted) -> Brief:
    """The brief of a run about `question`, of today; its scope is still the default one.

    Raises:
        UsageError: the question is empty, or an option is not of its kind.
    """
    limits = settings.limits
    max_time, max_tokens = wanted.get("max_time"), wanted.get("max_tokens")
    verify, off = wanted.get("verify"), wanted.get("checks_off")
    brief = Brief(
        question=question.strip(),
        date=datetime.now(UTC).date().isoformat(),
        mode=wanted.get("mode") or settings.mode,
        depth=wanted.get("depth") or settings.depth,
        strategy=wanted.get("strategy") or settings.strategy,
        budget=Budget(
            seconds=limits.time if max_time is None else max_time,
            tokens=limits.tokens if max_tokens is None else max_tokens,
        ),
        instructions=text_of(wanted.get("instructions"), "instructions"),
        length=read_length(wanted.get("length") or settings.length),
        language=_language(question, wanted.get("language") or settings.language),
        template=_template(wanted.get("template")),
        schema=_schema(wanted, wanted.get("mode") or settings.mode),
        verify=settings.verify if verify is None else verify,
        checks_off=tuple(settings.checks_off if off is None else off),
        ask=wanted.get("ask") or ("required" if settings.ask == "required" else "never"),
        answers=given(wanted.get("answers") or ()),
        thread=(wanted.get("thread") or "").strip(),
        parent=(wanted.get("continues") or "").strip(),
        scope=Scope(web=_web(wanted.get("web"), settings)),
        models=settings.roles() | {role: tuple(names) for role, names in wanted.get("models", {}).items()},
        prompts=phases.prompts() | agents.prompts(),
    )
    if not brief.question:
        raise UsageError("the question is empty")
    try:
        return msgspec.json.decode(msgspec.json.encode(brief), type=Brief)
    except msgspec.ValidationError as error:
        raise UsageError(f"{error}") from error


def _web(wanted: bool | None, settings: Settings) -> bool:
    if wanted and settings.search.offline:
        raise UsageError("the web was asked for, and the setting search.offline forbids it")
    return (settings.search.web if wanted is None else wanted) and not settings.search.offline


def _language(question: str, asked: str) -> str:
    """The language asked for, else the question's, "" where it cannot be told; what it quotes says nothing of that."""
    return read_language(asked) if asked else of_question(_QUOTED.sub(" ", question))


def _template(given: str | Path | None) -> tuple[Section, ...]:
    text = text_of(given, "template")
    return read_template(text) if text else ()


def _schema(wanted: Wanted, mode: str) -> str:
    given = wanted.get("schema")
    if given is None:
        return ""
    if mode not in ("auto", "deep_research"):
        raise UsageError(f"a schema needs research, and mode {mode} does none; leave --mode out")
    if wanted.get("template"):
        raise UsageError("a schema and a template both say what the report is made of; give one of them")
    return canonical(given if isinstance(given, Mapping) else text_of(given, "schema", LARGEST))
