"""Turns a caller's options into the brief of a run; missing ones come from the settings."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

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
from assay.services.arguments import check_types, make_rules, normalize_domains, read_text_argument
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
    known = _own_prompt_hashes()
    if name not in known:
        raise UnknownName(plugins.NOUNS["prompts"], name, known)
    package, _, short = name.partition(".")
    ours, origin = prompt(f"assay.{package}", short), plugins.package("prompts", name)
    return check_prompt(name, plugins.load("prompts", name), ours, f"the package {origin}")


LONGEST_QUESTION = 100_000
"""Characters; documents do not belong in a question."""
LONGEST_NAME = 200

_QUOTED = regex(r"[\"“„«`][^\"“”„«»`]*[\"”»`]")


def make_brief(question: str, settings: Settings, wanted: RunOptions, *, web: bool = False) -> Brief:
    """Make the brief of a run about `question`, dated today; its scope is still the default.

    `web` says whether the web is in scope if neither the caller nor the settings say so.

    Raises:
        UsageError: the question is no text, empty or too long, or an option has a wrong value.
    """
    question = _question(question)
    check_types(wanted, {name: each.kind for name, each in declared_options(RunOptions).items()})
    language, mode = wanted.get("language") or settings.language, wanted.get("mode") or settings.mode
    code = _language(question, language)
    fields = _brief_fields(settings, wanted) | {
        "question": question,
        "date": datetime.now(UTC).date().isoformat(),
        "timeouts": msgspec.structs.asdict(settings.timeouts),
        "instructions": read_text_argument(wanted.get("instructions"), "instructions"),
        "length": read_length(wanted.get("length") or settings.length),
        "language": code,
        "locale": locale_for(code),
        "language_asked": bool(language.strip()),
        "template": _template(wanted.get("template")),
        "schema": _schema(wanted, mode),
        "ask": wanted.get("ask") or ("required" if settings.ask == "required" else "never"),
        "assess": True,
        "tools": settings.agents.tools,
        "user": _user(wanted.get("user")),
        "labels": check_labels(wanted.get("labels") or {}),
        "release": own_release(),
        "answers": brief_answers(wanted.get("answers") or ()),
        "thread": (wanted.get("thread") or "").strip(),
        "conversation": tuple(wanted.get("said") or ()),
        "parent": (wanted.get("continues") or "").strip(),
        "scope": Scope(
            web=_web(wanted, settings, web),
            rules=_rules(wanted, settings),
            trusted=normalize_domains(settings.sources.allow),
        ),
        "models": _models(settings, named_models(wanted.get("model"), wanted.get("models", {}))),
        "speculation": msgspec.structs.asdict(settings.speculation),
        "depths": changed_depths(wanted.get("strategy") or settings.strategy, settings.depths.changes()),
        "prompts": prompt_hashes(),
    }
    try:
        return msgspec.json.decode(msgspec.json.encode(fields), type=Brief)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error
    except UnicodeEncodeError as error:
        at = max(error.start - 20, 0)
        broken = error.object[at : error.end + 20]
        raise UsageError(f"{broken!r} is not text in UTF-8: correct its encoding, or leave it out") from error


def _question(text: object) -> str:
    if not isinstance(text, str | None):
        raise UsageError(f"the question cannot be {text!r}: write text")
    text = text or ""
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(text):,} characters, and {LONGEST_QUESTION:,} is the limit: put the material "
            "into a document, and name that (--in PATH)"
        )
    if not text.strip():
        raise UsageError("the question is empty: write one")
    if all(unicodedata.category(sign)[0] in "PZC" for sign in text):  # punctuation, spaces and control characters
        raise UsageError("the question has no words: write one")
    return text.strip()


def _brief_fields(settings: Settings, wanted: RunOptions) -> dict[str, Any]:
    """The fields of the brief from the options, else the settings; what must be read comes before them."""
    options: Mapping[str, Any] = wanted
    found: dict[str, Any] = {}
    for name, each in declared_options(RunOptions).items():
        setting, value = each.option.setting, options.get(name)
        configured = attrgetter(setting)(settings) if setting else ""
        if value is None or (not value and isinstance(configured, str)):
            value = configured
        if value is not None and (value or setting):
            found[each.fields[0]] = value
    return nest_values(found)


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
    return common | {role: to_tuple(names) for role, names in models.items()}


def to_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def _models(settings: Settings, named: Mapping[Role, tuple[str, ...]]) -> dict[Role, tuple[str, ...]]:
    """The models of every role; a judge that nobody names follows from the other roles."""
    models = settings.roles() | dict(named)
    return models if "judge" in named or settings.names_judge else models | {"judge": default_judges(models)}


def web_in_scope(wanted: RunOptions, settings: Settings) -> bool | None:
    """True if the web is in scope, as far as the caller or the settings say so."""
    if settings.search.offline:
        return False
    asked = wanted.get("web")
    return settings.search.web if asked is None else asked


def check_online(settings: Settings) -> None:
    """Refuse to use the network if the settings forbid it.

    Raises:
        UsageError: they do.
    """
    if settings.search.offline:
        raise UsageError(
            "--web needs the web, and search.offline forbids it: leave out --web, or set search.offline to false"
        )


def _web(wanted: RunOptions, settings: Settings, unsaid: bool) -> bool:
    if wanted.get("web"):
        check_online(settings)
    web_rules = web_in_scope(wanted, settings)
    return unsaid if web_rules is None else web_rules


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
    """The requested language, else the question's, "" if unknown; quotations in it do not count."""
    return read_language(asked) if asked else question_language(_QUOTED.sub(" ", question))


def _template(given: str | Path | None) -> tuple[Section, ...]:
    text = read_text_argument(given, "template")
    return read_template(text) if text else ()


def _schema(wanted: RunOptions, mode: str) -> str:
    given = wanted.get("schema")
    if given is None:
        return ""
    if mode not in ("auto", "deep_research"):
        raise UsageError(f"a schema needs research, and mode {mode} does none: choose another mode, or none")
    if wanted.get("template"):
        raise UsageError("a schema and a template both define the report; give only one")
    return canonical_schema(
        given if isinstance(given, Mapping | type) else read_text_argument(given, "schema", MAX_SCHEMA_CHARS)
    )
