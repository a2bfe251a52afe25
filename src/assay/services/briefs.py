"""Turns a caller's options into the brief of a run; missing ones come from the settings."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import msgspec

from assay import agents, phases, plugins, verify
from assay.core.blocks import read_template
from assay.core.brief import ROLES, Brief, Role, Scope, Section, read_length
from assay.core.depths import changed_depths
from assay.core.errors import UnknownName, UsageError
from assay.core.languages import question_language, read_language
from assay.core.lazy import regex
from assay.core.options import declared_options, nest_values
from assay.core.ports.lists import check_labels
from assay.core.ports.models import default_judges
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.core.web_addresses import WebRules
from assay.locale import locale_for
from assay.phases.fields.schema import MAX_SCHEMA_CHARS, canonical_schema
from assay.run.prompt_files import check_prompt, prompt
from assay.run.releases import own_release
from assay.services.argument_types import check_types
from assay.services.arguments import make_rules, normalize_domains, read_text_argument
from assay.services.threads import brief_answers
from assay.settings import Settings


def replaced_texts() -> dict[str, str]:
    """The texts of other packages that replace ours, by name (`phases.write`).

    Raises:
        UnknownName: one replaces a prompt that does not exist; the message suggests the nearest.
        ConfigError: one is not text, or lacks something of ours.
    """
    return {name: _text(name) for name in plugins.names("prompts")}


def prompt_hashes() -> dict[str, str]:
    """SHA-256 of every prompt of a run by name.

    Raises:
        UnknownName, ConfigError: as `replaced_texts`.
    """
    return _own_prompt_hashes() | {name: sha256(text.encode()) for name, text in replaced_texts().items()}


def _own_prompt_hashes() -> dict[str, str]:
    return phases.prompts() | agents.prompts() | verify.prompts()


def _text(name: str) -> str:
    known_prompts = _own_prompt_hashes()
    if name not in known_prompts:
        raise UnknownName(plugins.NOUNS["prompts"], name, known_prompts)
    package, _, short = name.partition(".")
    ours, origin = prompt(f"assay.{package}", short), plugins.package("prompts", name)
    return check_prompt(name, plugins.load("prompts", name), ours, f"the package {origin}")


MAX_QUESTION_CHARS = 100_000
"""Characters; documents do not belong in a question."""
MAX_USER_NAME_CHARS = 200

_QUOTED = regex(r"[\"“„«`][^\"“”„«»`]*[\"”»`]")


def make_brief(question: str, settings: Settings, options: RunOptions, *, web: bool = False) -> Brief:
    """Make the brief of a run about `question`, dated today; its scope is still the default.

    `web` says whether the web is in scope if neither the caller nor the settings say so.

    Raises:
        UsageError: the question is no text, empty or too long, or an option has a wrong value.
    """
    question = _question(question)
    kinds = {name: option.kind for name, option in declared_options(RunOptions).items()}
    options = cast("RunOptions", check_types(options, kinds))
    language, mode = options.get("language") or settings.language, options.get("mode") or settings.mode
    code, length = _language(question, language), options.get("length")
    fields = _brief_fields(settings, options) | {
        "question": question,
        "date": datetime.now(UTC).date().isoformat(),
        "timeouts": msgspec.structs.asdict(settings.timeouts),
        "instructions": read_text_argument(options.get("instructions"), "instructions"),
        "length": read_length(settings.length if length in (None, "") else length),
        "language": code,
        "locale": locale_for(code),
        "language_asked": bool(language.strip()),
        "template": _template(options.get("template")),
        "schema": _schema(options, mode),
        "ask": options.get("ask") or ("required" if settings.ask == "required" else "never"),
        "assess": True,
        "tools": settings.agents.tools,
        "user": _user(options.get("user")),
        "labels": check_labels(options.get("labels") or {}),
        "release": own_release(),
        "answers": brief_answers(options.get("answers") or ()),
        "thread": (options.get("thread") or "").strip(),
        "conversation": tuple(options.get("said") or ()),
        "parent": (options.get("continues") or "").strip(),
        "scope": Scope(
            web=_web(options, settings, web),
            rules=_rules(options, settings),
            trusted=normalize_domains(settings.sources.allow),
        ),
        "models": _models(settings, named_models(options.get("model"), options.get("models", {}))),
        "speculation": msgspec.structs.asdict(settings.speculation),
        "depths": changed_depths(options.get("strategy") or settings.strategy, settings.depths.changes()),
        "prompts": prompt_hashes(),
    }
    try:
        return msgspec.json.decode(msgspec.json.encode(fields), type=Brief)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error
    except UnicodeEncodeError as error:
        start = max(error.start - 20, 0)
        broken = error.object[start : error.end + 20]
        raise UsageError(f"{broken!r} is not text in UTF-8: correct its encoding, or leave it out") from error


def _question(text: object) -> str:
    if not isinstance(text, str | None):
        raise UsageError(f"the question cannot be {text!r}: write text")
    text = text or ""
    if len(text) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(text):,} characters, and {MAX_QUESTION_CHARS:,} is the limit: put the material "
            "into a document, and name that (--in PATH)"
        )
    if not text.strip():
        raise UsageError("the question is empty: write one")
    if all(unicodedata.category(sign)[0] in "PZC" for sign in text):  # punctuation, spaces and control characters
        raise UsageError("the question has no words: write one")
    return text.strip()


def _brief_fields(settings: Settings, run_options: RunOptions) -> dict[str, Any]:
    """The fields of the brief from the options, else the settings; what must be read comes before them."""
    options: Mapping[str, Any] = run_options
    values: dict[str, Any] = {}
    for name, option in declared_options(RunOptions).items():
        setting, value = option.option.setting, options.get(name)
        default = attrgetter(setting)(settings) if setting else ""
        if value is None or (not value and isinstance(default, str)):
            value = default
        if value is not None and (value or setting):
            values[option.fields[0]] = value
    return nest_values(values)


def named_models(
    model: str | Sequence[str] | None, models: Mapping[Role, str | Sequence[str]]
) -> dict[Role, tuple[str, ...]]:
    """The models a caller names, by role: `model` takes all roles except the judge that `models` leaves open.

    Raises:
        UnknownName: there is no such role.
    """
    for role in models:
        if role not in ROLES:
            raise UnknownName("role", role, ROLES)
    common = {role: to_tuple(model) for role in ROLES if role != "judge"} if model else {}
    return common | {role: to_tuple(names) for role, names in models.items() if names}


def to_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def _models(settings: Settings, chosen: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of every role; a judge that nobody names follows from the other roles."""
    models = settings.roles() | dict(chosen)
    return models if "judge" in chosen or settings.names_judge else models | {"judge": default_judges(models)}


def web_in_scope(options: RunOptions, settings: Settings) -> bool | None:
    """True if the web is in scope, as far as the caller or the settings say so."""
    if settings.search.offline:
        return False
    web = options.get("web")
    return settings.search.web if web is None else web


def check_online(settings: Settings) -> None:
    """Refuse to use the network if the settings forbid it.

    Raises:
        UsageError: they do.
    """
    if settings.search.offline:
        raise UsageError(
            "--web needs the web, and search.offline forbids it: leave out --web, or set search.offline to false"
        )


def _web(options: RunOptions, settings: Settings, unsaid: bool) -> bool:
    if options.get("web"):
        check_online(settings)
    web_rules = web_in_scope(options, settings)
    return unsaid if web_rules is None else web_rules


def _rules(options: RunOptions, settings: Settings) -> WebRules:
    return make_rules(
        domains=options.get("domains") or (),
        denied=(*(options.get("not_domains") or ()), *settings.sources.deny),
        since=options.get("since") or "",
        until=options.get("until") or "",
        country=options.get("country") or "",
        fresh=options.get("fresh") or False,
    )


def _user(name: str | None) -> str:
    user = (name or "").strip()
    if len(user) > MAX_USER_NAME_CHARS or not user.isprintable():
        raise UsageError(f"a user's name is up to {MAX_USER_NAME_CHARS} characters in one line")
    return user


def _language(question: str, language: str) -> str:
    """The requested language, else the question's, "" if unknown; quotations in it do not count."""
    return read_language(language) if language else question_language(_QUOTED.sub(" ", question))


def _template(template: str | Path | None) -> tuple[Section, ...]:
    text = read_text_argument(template, "template")
    return read_template(text) if text else ()


def _schema(options: RunOptions, mode: str) -> str:
    schema = options.get("schema")
    if schema is None:
        return ""
    if mode not in ("auto", "deep_research"):
        raise UsageError(f"a schema needs research, and mode {mode} does none: choose another mode, or none")
    if options.get("template"):
        raise UsageError("a schema and a template both define the report; give only one")
    return canonical_schema(
        schema if isinstance(schema, Mapping | type) else read_text_argument(schema, "schema", MAX_SCHEMA_CHARS)
    )
