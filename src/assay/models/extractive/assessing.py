"""How far findings answer the parts of a question, by their citations and their words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.absence import states_absence
from assay.core.markers import parse, strip
from assay.core.messages import Request
from assay.core.plan import CoverageStatus
from assay.core.text import words
from assay.models.extractive.acting import last
from assay.models.extractive.terms import carries_topic, stem


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part that is to be judged; `step` is the plan step it is, 0 for a part of the question."""

    part: int
    text: str
    step: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One of the `findings`, as far as it matters here."""

    step: int = 0
    text: str = ""


class Assessed(msgspec.Struct, frozen=True, kw_only=True):
    """A part as it is judged."""

    part: int
    status: CoverageStatus
    reason: str = ""


class Assessment(msgspec.Struct, frozen=True):
    """The reply."""

    parts: tuple[Assessed, ...]


def assess(request: Request) -> str:
    """The parts of the request, judged, as JSON."""
    return msgspec.json.encode(Assessment(judged(request))).decode()


def judged(request: Request) -> tuple[Assessed, ...]:
    """Each part by the lines that cite something: of its step's findings; of a part without a step, of all.

    It is answered where such a line says a word of its topic, partly where none does, and not where there is no such
    line. Lines which say that something was not found are none of them.
    """
    parts = last(request, "parts", tuple[Part, ...]) or ()
    found = last(request, "findings", tuple[Found, ...]) or ()
    return tuple(_judged(part, [each for each in found if each.step == part.step or not part.step]) for part in parts)


def _judged(part: Part, found: Sequence[Found]) -> Assessed:
    lines = [strip(line) for each in found for line in each.text.splitlines() if parse(line)]
    stated = [line for line in lines if not states_absence(line)]
    if not stated:
        return Assessed(part=part.part, status="not")
    wanted = _topics(part.text)
    said = {stem(word) for line in stated for word in words(line)}
    return Assessed(part=part.part, status="answered" if not wanted or wanted & said else "partly")


def _topics(text: str) -> set[str]:
    return {stem(word) for word in words(text) if carries_topic(word)}
