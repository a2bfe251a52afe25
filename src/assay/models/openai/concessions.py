"""Concessions to a service: a refused request is repeated without the refused part, or with its nearest
substitute.

Servers and models with one format differ in what they accept, and from release to release. So there is no table of
providers: a refusal names the refused part in `param`, in a validator's `loc`, or in its words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from assay.core.lazy import regex
from assay.models.failures import ServiceFault, is_context_too_long

MAX_CONCESSIONS = 8
"""How many times one request is repeated, each time with another concession."""
REFUSAL_STATUSES = frozenset((400, 404, 405, 415, 422, 500, 501))
"""Statuses with which services refuse a parameter: most answer 400 or 422, routers 404, llama.cpp 500."""
OUTPUT_CAP_FIELDS = ("max_tokens", "max_completion_tokens")
REQUIRED_FIELDS = frozenset(("model", "messages"))
"""Fields that every request has."""

Choice = Literal["any", "required", "auto", "unsaid"]
"""How precisely a model can be told which tool to call: a named one, any, whether to call at all, or nothing."""

_REFUSING = regex(
    r"support|unknown|unrecogni[sz]ed|unexpected|not (?:allowed|permitted|available|implemented|enabled)|extra|forbid"
    r"|invalid|requires?\b|must\b|cannot|can't|only\b|disabled|no endpoints",
    re.IGNORECASE,
)
_ROLES = regex(
    r"(?:system|developer) (?:role|message|prompt|instruction)s?[^.]{0,40}(?:support|allow|permit|enabled)"
    r"|role[^.]{0,20}['\"](?:system|developer)['\"]"
    r"|(?:system|developer)['\"]?[^.]{0,30}(?:support|allow|with this model)"
    r"|roles? must alternate|must alternate (?:between )?user|role 'system'",
    re.IGNORECASE,
)
_TOOLLESS = regex(
    r"(?:not|n't) support (?:tools?\b|tool[ _-]?(?:use|call)|function[ _-]?call)|support tool use|tools param requires"
    r"|(?:\btools?\b|tool[ _-]?(?:use|calls?|calling)|function[ _-]?calling)[^.]{0,40}not (?:be )?(?:suppor|enabl)"
    r"|enable-auto-tool-choice|tool-call-parser",
    re.IGNORECASE,
)
_WHOLE = regex(r"tools? with stream|stream(?:ing)?[^.]{0,30}(?:not|n't) support[^.]{0,20}tools?\b", re.IGNORECASE)
"""Says that a service streams no calls."""
_GRAMMAR = regex(r"pars\w+ grammar|grammar (?:error|pars)|json schema conversion|unrecogni[sz]ed schema", re.IGNORECASE)
"""Says that a service cannot turn a schema into the grammar by which its model would write."""
_LIMIT = regex(
    r"(?:at most|up to|maximum(?: \w+){0,4}|less than or equal to|<=|no more than|max is)\D{0,24}?(\d[\d,]{2,})",
    re.IGNORECASE,
)
_WORDY = frozenset(("user", "tools", "stream"))
"""Fields whose names are everyday words: their mention in a refusal need not mean the field."""


class Concessions(msgspec.Struct, frozen=True, kw_only=True):
    """The parts left out of every request to a model, because its service refused it once.

    `dropped` are fields of a request. `cap` is another name for the most output tokens, and `most` the highest allowed
    value. `choice` says how precisely a tool can be demanded, `none` whether calls to known tools can be forbidden.
    Without `system`, the system text opens the first user message, and consecutive messages of one speaker are joined.
    Without `tools`, tools are described in words, and calls are parsed from the text.
    """

    dropped: frozenset[str] = frozenset()
    cap: str = ""
    most: int = 0
    choice: Choice = "any"
    none: bool = True
    system: bool = True
    tools: bool = True


NO_CONCESSIONS = Concessions()


def next_concessions(
    before: Concessions, fields: Mapping[str, Any], status: int, fault: ServiceFault
) -> Concessions | None:
    """The next concessions after this refusal of a request with `fields`; None if it names nothing in the request."""
    if (
        status not in REFUSAL_STATUSES or fault.is_rejected_call
    ):  # a wrong call by the model is not a refusal of the request
        return None
    if limit := _lower_cap(fields, fault):
        return msgspec.structs.replace(before, most=limit)
    if is_context_too_long(fault.text):
        return None
    field = _parameter(fields, fault)
    after = (
        _concede_field(before, fields, field)
        or _concede_conversation(before, fields, fault)
        or _concede_field(before, fields, _first_named(fault.message_text, sorted(fields.keys() - REQUIRED_FIELDS)))
    )
    return after if after != before else None


def _lower_cap(fields: Mapping[str, Any], fault: ServiceFault) -> int:
    """The highest output cap the service accepts, if it names one lower than what was sent; else 0."""
    cap = next((fields[name] for name in OUTPUT_CAP_FIELDS if name in fields), 0)
    names_cap = (
        any(name in f"{fault.param} {fault.text}" for name in OUTPUT_CAP_FIELDS) or "completion tokens" in fault.text
    )
    if not cap or not names_cap or re.search(r"context[ _]length", fault.text, re.IGNORECASE):
        return 0
    limits = [int(limit.replace(",", "")) for limit in _LIMIT.findall(fault.text)]
    return max((limit for limit in limits if 0 < limit < cap), default=0)


def _concede_conversation(before: Concessions, fields: Mapping[str, Any], fault: ServiceFault) -> Concessions | None:
    """Concede a role, the stream, a form of the reply, or tools altogether."""
    param = str(fault.param or "")
    if "stream" in fields and _WHOLE.search(fault.text):
        return msgspec.structs.replace(before, dropped=before.dropped | {"stream"})
    if "response_format" in fields and _GRAMMAR.search(fault.text):
        return msgspec.structs.replace(before, dropped=before.dropped | {"response_format"})
    if before.system and (_ROLES.search(fault.text) or (param.startswith("messages") and param.endswith("role"))):
        return msgspec.structs.replace(before, system=False)
    if before.tools and "tools" in fields and (_TOOLLESS.search(fault.text) or _GRAMMAR.search(fault.text)):
        return msgspec.structs.replace(before, tools=False)
    return None


def _parameter(fields: Mapping[str, Any], fault: ServiceFault) -> str:
    """The field of the request that a refusal names as its parameter; "" if none."""
    field = re.split(r"[.\[/]", str(fault.param or "").removeprefix("body."))[0]
    return field if field in fields and field not in REQUIRED_FIELDS else ""


def _first_named(text: str, names: Collection[str]) -> str:
    """The name that comes first in a refusal's words; names that are everyday words count only in quotes."""
    likely = names if _REFUSING.search(text) else ()
    matches = [(match.start(), name) for name in likely if (match := _name_pattern(name).search(text)) is not None]
    return min(matches, default=(0, ""))[1]


def _name_pattern(name: str) -> re.Pattern[str]:
    words = re.escape(name).replace("_", "[ _-]?")
    pattern = rf"['\"`]{words}['\"`]" if name in _WORDY else rf"(?<![\w-]){words}(?![\w-])"
    return re.compile(pattern, re.IGNORECASE)


def _concede_field(before: Concessions, fields: Mapping[str, Any], name: str) -> Concessions | None:
    """Concede the field `name` as it was sent."""
    if not name:
        return None
    if name in OUTPUT_CAP_FIELDS:
        other_cap = OUTPUT_CAP_FIELDS[1 - OUTPUT_CAP_FIELDS.index(name)]
        if not before.cap:
            return msgspec.structs.replace(before, cap=other_cap)
        return msgspec.structs.replace(before, dropped=before.dropped | set(OUTPUT_CAP_FIELDS))
    if name == "tool_choice" and fields[name] == "none":
        return msgspec.structs.replace(before, none=False)
    if name == "tool_choice":
        return msgspec.structs.replace(before, choice=_weaker_choice(fields["tool_choice"]))
    if name == "tools":
        return msgspec.structs.replace(before, tools=False)
    return msgspec.structs.replace(before, dropped=before.dropped | {name})


def _weaker_choice(choice: object) -> Choice:
    """The next weaker way to say which tool to call."""
    if isinstance(choice, dict):
        return "required"
    return "unsaid" if choice == "auto" else "auto"


def allowed_choice(choice: str, limit: Choice) -> str:
    """`choice` (auto, required, none, a tool's name) as far as `limit` allows it; "" if nothing may be said."""
    if limit == "unsaid":
        return ""
    if choice in ("auto", "none") or limit == "any":
        return choice
    return "auto" if limit == "auto" else "required"
