"""Triage decisions and plans; a plan as text that a person may edit, and while it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from assay.core.brief import SetDepth
from assay.core.errors import UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex

Complexity = Literal["simple", "moderate", "complex"]
FollowUp = Literal["new_topic", "clarification", "complex_follow_up"]
StepStatus = Literal["pending", "running", "completed", "partly", "open", "skipped"]
"""`pending`: nobody has worked on it, or whoever did failed. `completed`: it is answered; `partly`: in part; `open`:
somebody worked on it, but the findings do not answer it. `skipped`: it was given up.
"""
CoverageStatus = Literal["answered", "partly", "not"]


class Triage(msgspec.Struct, frozen=True, kw_only=True):
    """The classification of a question; it has `questions` (at most 3) only if it is ambiguous.

    `restated` is the full question if it referred to its thread, else empty. `assumptions` say how an ambiguous
    question was read if nobody was asked. `whole_collection` says that every document must be examined: "list all",
    "how many", "for each document".
    """

    complexity: Complexity = "moderate"
    follow_up: FollowUp = "new_topic"
    ambiguous: bool = False
    questions: tuple[str, ...] = ()
    depth: SetDepth = "medium"
    reasoning: str = ""
    answer: str | None = None
    restated: str = ""
    whole_collection: bool = False
    assumptions: tuple[str, ...] = ()


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered step of a plan; `again` is the step that it retries by other means, 0 for none."""

    id: int
    title: str
    description: str = ""
    type: Literal["research", "analysis"] = "research"
    needs_search: bool = True
    status: StepStatus = "pending"
    finding: str = ""
    again: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Numbered steps; `iteration` counts the plans of a run from 1."""

    id: str = "plan-1"
    title: str
    thought: str = ""
    iteration: int = 1
    enough_context: bool = False
    steps: tuple[PlanStep, ...] = ()


class PlanReview(msgspec.Struct, frozen=True, kw_only=True):
    """A person's decision about a proposed plan: the plan to use instead, None to approve it as it is."""

    plan: Plan | None = None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The coverage of one part of the question or plan; `step` is a plan step's id, 0 for the question itself.

    `reason` says what is missing, in the words of the judging model; "" if code judged.
    """

    step: int
    part: str
    status: CoverageStatus
    passages: tuple[str, ...] = ()
    reason: str = ""


# A plan as text that a person may edit, and back; also from JSON.

MAX_STEPS = 20
MAX_TEXT_CHARS = 2_000
"""Code points of a title, a thought or a description."""
MAX_PLAN_CHARS = 200_000
"""Code points of a form."""
HEADER = "# Edit the plan, save and close. Steps may be added, changed, moved and deleted; # begins a remark.\n"
_STEP = regex(r"[0-9]{1,4}[.)](?=\s|$)")
_HEAD = ("title", "thought")
_OF_STEP = ("description", "type", "needs_search")
_YES = {"yes": True, "true": True, "no": False, "false": False}


def format_plan(plan: Plan) -> str:
    """The form of a plan. Reading it gives the same plan in all that a person plans: titles, descriptions, kinds."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield f"title: {_line(plan.title)}"
    if plan.thought:
        yield f"thought: {_line(plan.thought)}"
    for number, step in enumerate(plan.steps, 1):
        yield ""
        yield f"{number}. {_line(step.title)}"
        if step.description:
            yield f"   description: {_line(step.description)}"
        if step.type != "research":
            yield f"   type: {step.type}"
        if step.needs_search != (step.type == "research"):
            yield f"   needs_search: {'yes' if step.needs_search else 'no'}"


def _line(text: str) -> str:
    return " ".join(text.split())


def read_plan(text: str) -> Plan:
    """Read a plan from its form, or from JSON with `title` and `steps` (each with a `title`).

    Raises:
        UsageError: it cannot be read; the message names the line, or the place in the JSON.
    """
    if len(text) > MAX_PLAN_CHARS:
        raise UsageError(f"a plan has at most {MAX_PLAN_CHARS:,} characters")
    text = text.removeprefix("\ufeff")
    return check_plan(_from_json(text) if text.lstrip()[:1] == "{" else _from_lines(text))


def check_plan(plan: Plan) -> Plan:
    """A user's plan in the form for research: steps in order from 1, none begun.

    Raises:
        UsageError: it has no step, too many, one without a title, none that searches, or a text is too long.
    """
    if not 1 <= len(plan.steps) <= MAX_STEPS:
        raise UsageError(f"a plan has 1 to {MAX_STEPS} steps, and this has {len(plan.steps)}")
    steps = tuple(_check_step(number, step) for number, step in enumerate(plan.steps, 1))
    if not any(step.needs_search for step in steps):
        raise UsageError("no step of the plan searches; at least one has to")
    title, thought = _check_length(plan.title, "the title"), _check_length(plan.thought, "the thought")
    return Plan(title=title or steps[0].title, thought=thought, steps=steps)


def _check_step(number: int, step: PlanStep) -> PlanStep:
    title = _check_length(step.title, f"the title of step {number}")
    if not title:
        raise UsageError(f"step {number} has no title: write one")
    description = _check_length(step.description, f"the description of step {number}")
    return PlanStep(id=number, title=title, description=description, type=step.type, needs_search=step.needs_search)


def _check_length(text: str, name: str) -> str:
    line = _line(text)
    if len(line) > MAX_TEXT_CHARS:
        raise UsageError(f"{name} has {len(line):,} characters: shorten it to at most {MAX_TEXT_CHARS:,}")
    return line


# JSON


class _Step(msgspec.Struct):
    title: Annotated[str, msgspec.Meta(min_length=1)]
    description: str = ""
    type: Literal["research", "analysis"] = "research"
    needs_search: bool | None = None


class _Plan(msgspec.Struct):
    steps: list[_Step]
    title: str = ""
    thought: str = ""


def _from_json(text: str) -> Plan:
    try:
        plan = msgspec.json.decode(text.encode(errors="surrogatepass"), type=_Plan)
    except DECODE_ERRORS as error:
        raise UsageError(f"the plan cannot be read ({error}): begin with the form that `assay plan` writes") from error
    return Plan(
        title=plan.title,
        thought=plan.thought,
        steps=tuple(_step(step.title, step.description, step.type, step.needs_search) for step in plan.steps),
    )


def _step(title: str, description: str, type: Literal["research", "analysis"], searches: bool | None) -> PlanStep:
    needs_search = type == "research" if searches is None else searches
    return PlanStep(id=0, title=title, description=description, type=type, needs_search=needs_search)


# lines


def _from_lines(text: str) -> Plan:
    head: dict[str, str] = {}
    steps: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if match := _STEP.match(content):
            steps.append((_check_title(content[match.end() :], number), {}))
        else:
            _take_field(content, number, steps[-1][1] if steps else head, _OF_STEP if steps else _HEAD)
    plan_steps = tuple(_make_step(title, fields) for title, fields in steps)
    return Plan(title=head.get("title", ""), thought=head.get("thought", ""), steps=plan_steps)


def _check_title(text: str, number: int) -> str:
    if not text.strip():
        raise UsageError(f"line {number}: the step has no title: write one")
    return text.strip()


def _take_field(text: str, number: int, fields: dict[str, str], allowed_keys: tuple[str, ...]) -> None:
    """Put a line `key: value` into `fields`.

    Raises:
        UsageError: the line has another form.
    """
    key, colon, value = text.partition(":")
    key = key.strip().casefold()
    if not colon or key not in allowed_keys:
        names = ", ".join(f"{name}:" for name in allowed_keys)
        raise UsageError(f"line {number}: {text[:60]!r} is neither a step nor a key: write 1. … or one of {names}")
    if key in fields:
        raise UsageError(f"line {number}: {key}: is here twice: remove one")
    choices = {"type": ("research", "analysis"), "needs_search": tuple(_YES)}.get(key)
    value = value.strip()
    if choices and value.casefold() not in choices:
        raise UsageError(f"line {number}: {key}: write {' or '.join(choices)}, not {value[:60]!r}")
    fields[key] = value.casefold() if choices else value


def _make_step(title: str, fields: dict[str, str]) -> PlanStep:
    kind: Literal["research", "analysis"] = "analysis" if fields.get("type") == "analysis" else "research"
    searches = _YES[fields["needs_search"]] if "needs_search" in fields else None
    return _step(title, fields.get("description", ""), kind, searches)


# The steps of a plan while it is written: the title of each, once it is complete.

TITLE_LENGTH = 200
STEPS = "steps"
TITLE = "title"


class _OpenContainer:
    """An object or a list that is not closed yet; for an object, the key of the current value (None before a key)."""

    def __init__(self, sign: str, parent_field: str | None) -> None:
        self.is_list, self.parent_field = sign == "[", parent_field
        self.key: str | None = None


class StepTitles:
    """Reads the titles of steps from a text that arrives in pieces."""

    def __init__(self) -> None:
        self._open: list[_OpenContainer] = []
        self._string: list[str] | None = None
        self._escaped = self._done = False

    def feed(self, piece: str) -> list[str]:
        """The titles that `piece` completes."""
        titles: list[str] = []
        for sign in piece:
            if self._done:
                break
            if self._string is not None:
                self._read_string_part(self._string, sign, titles)
            elif sign == '"' and self._open:
                self._string = []
            elif sign in "{[":
                self._open.append(_OpenContainer(sign, self._field()))
            elif sign in "}]" and self._open:
                self._open.pop()
                self._done = not self._open
            elif sign == "," and self._open:
                self._open[-1].key = None
        return titles

    def _field(self) -> str | None:
        """The field of the nearest object whose value begins here; None in a list outside an object."""
        if not self._open:
            return None
        last = self._open[-1]
        return last.parent_field if last.is_list else last.key

    def _read_string_part(self, string: list[str], sign: str, titles: list[str]) -> None:
        if sign == '"' and not self._escaped:
            self._string = None
            self._end_string(_decode_string("".join(string)), titles)
            return
        self._escaped = sign == "\\" and not self._escaped
        string.append(sign)

    def _end_string(self, text: str, titles: list[str]) -> None:
        last = self._open[-1]
        if not last.is_list and last.key is None:
            last.key = text
            return
        title = " ".join(text.split())[:TITLE_LENGTH]
        if title and self._is_title(last):
            titles.append(title)

    def _is_title(self, last: _OpenContainer) -> bool:
        """True if a text ending in `last` is a step's title: the field, or an item of the list itself."""
        if last.is_list:
            return len(self._open) == 1 or last.parent_field == STEPS
        above = self._open[-2] if len(self._open) > 1 else None
        return last.key == TITLE and above is not None and above.is_list and last.parent_field in (STEPS, None)


def _decode_string(text: str) -> str:
    try:
        return msgspec.json.decode(f'"{text}"'.encode(errors="replace"), type=str, strict=False)
    except DECODE_ERRORS:
        return text
