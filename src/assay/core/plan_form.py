"""A plan as a text a person may edit, and back; the same from JSON.

    title: Tides at Brest

    1. How far the tide rises
       description: At spring tide, with the year of the measurement
    2. What it means for ships
       type: analysis

A line of `#` is a remark. Steps are numbered anew in their order; what is left out has its usual value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from assay.core.decoders import UNREADABLE
from assay.core.errors import UsageError
from assay.core.plan import Plan, PlanStep

MOST_STEPS = 20
LONGEST = 2_000
"""Code points of a title, a thought or a description."""
LARGEST = 200_000
"""Code points of a form."""

HEADER = "# Edit the plan, save and close. Steps may be added, changed, moved and deleted; # begins a remark.\n"
_STEP = re.compile(r"[0-9]{1,4}[.)](?=\s|$)")
_HEAD = ("title", "thought")
_OF_STEP = ("description", "type", "needs_search")
_YES = {"yes": True, "true": True, "no": False, "false": False}


def written(plan: Plan) -> str:
    """The form of a plan. Read again it is the same plan, as far as a person plans: titles, descriptions, kinds."""
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


def read(text: str) -> Plan:
    """The plan in a form, or in JSON with `title` and `steps` (each with a `title`).

    Raises:
        UsageError: it is no plan; the message names the line, or the place in the JSON.
    """
    if len(text) > LARGEST:
        raise UsageError(f"a plan has at most {LARGEST:,} characters")
    text = text.removeprefix("\ufeff")
    return checked(_from_json(text) if text.lstrip()[:1] == "{" else _from_lines(text))


def checked(plan: Plan) -> Plan:
    """A plan somebody made, as research takes it up: steps in order from 1, none begun.

    Raises:
        UsageError: it has no step, too many, one without a title, none that searches, or a text is too long.
    """
    if not 1 <= len(plan.steps) <= MOST_STEPS:
        raise UsageError(f"a plan has 1 to {MOST_STEPS} steps, and this has {len(plan.steps)}")
    steps = tuple(_checked(number, step) for number, step in enumerate(plan.steps, 1))
    if not any(step.needs_search for step in steps):
        raise UsageError("no step of the plan searches; at least one has to")
    title, thought = _fits(plan.title, "the title"), _fits(plan.thought, "the thought")
    return Plan(title=title or steps[0].title, thought=thought, steps=steps)


def _checked(number: int, step: PlanStep) -> PlanStep:
    title = _fits(step.title, f"the title of step {number}")
    if not title:
        raise UsageError(f"step {number} has no title: write one")
    described = _fits(step.description, f"the description of step {number}")
    return PlanStep(id=number, title=title, description=described, type=step.type, needs_search=step.needs_search)


def _fits(text: str, what: str) -> str:
    line = _line(text)
    if len(line) > LONGEST:
        raise UsageError(f"{what} has {len(line):,} characters; at most {LONGEST:,} are heeded")
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
    except UNREADABLE as error:
        raise UsageError(f"the plan cannot be read ({error}): begin with the form that `assay plan` writes") from error
    return Plan(
        title=plan.title,
        thought=plan.thought,
        steps=tuple(_step(each.title, each.description, each.type, each.needs_search) for each in plan.steps),
    )


def _step(title: str, description: str, type: Literal["research", "analysis"], searches: bool | None) -> PlanStep:
    wanted = type == "research" if searches is None else searches
    return PlanStep(id=0, title=title, description=description, type=type, needs_search=wanted)


# lines


def _from_lines(text: str) -> Plan:
    head: dict[str, str] = {}
    steps: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        if match := _STEP.match(said):
            steps.append((_titled(said[match.end() :], number), {}))
        else:
            _take(said, number, steps[-1][1] if steps else head, _OF_STEP if steps else _HEAD)
    made = tuple(_made(title, fields) for title, fields in steps)
    return Plan(title=head.get("title", ""), thought=head.get("thought", ""), steps=made)


def _titled(text: str, number: int) -> str:
    if not text.strip():
        raise UsageError(f"line {number}: the step has no title: write one")
    return text.strip()


def _take(said: str, number: int, fields: dict[str, str], known: tuple[str, ...]) -> None:
    """Put a line `key: value` into `fields`.

    Raises:
        UsageError: it is no such line.
    """
    key, colon, value = said.partition(":")
    key = key.strip().casefold()
    if not colon or key not in known:
        names = ", ".join(f"{name}:" for name in known)
        raise UsageError(f"line {number}: {said[:60]!r} is neither a step nor a key: write 1. … or one of {names}")
    if key in fields:
        raise UsageError(f"line {number}: {key}: stands here a second time: leave one out")
    allowed = {"type": ("research", "analysis"), "needs_search": tuple(_YES)}.get(key)
    value = value.strip()
    if allowed and value.casefold() not in allowed:
        raise UsageError(f"line {number}: {key}: write {' or '.join(allowed)}, not {value[:60]!r}")
    fields[key] = value.casefold() if allowed else value


def _made(title: str, fields: dict[str, str]) -> PlanStep:
    kind: Literal["research", "analysis"] = "analysis" if fields.get("type") == "analysis" else "research"
    searches = _YES[fields["needs_search"]] if "needs_search" in fields else None
    return _step(title, fields.get("description", ""), kind, searches)
