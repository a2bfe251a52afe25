"""What might be asked next: from what a run could not find and where its sources disagree. No model is asked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from itertools import islice

from assay.core.clean import one_line
from assay.core.plan import Coverage
from assay.core.view import RunView

MOST = 3
_LOOKED = ("done", "no_evidence")
"""The ends of runs which looked everywhere: of others nobody knows whether a part would have been found."""
LONGEST = 200
"""Code points of a question; what is longer is a task, which nobody would type."""


def lines(view: RunView) -> list[str]:
    """A heading and a command for each question, for a terminal; nothing where there is no question or no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return []
    found = list(islice(dict.fromkeys(commands(view)), MOST))
    return ["to ask next:", *(f"  {command}" for command in found)] if found else []


def commands(view: RunView) -> Iterator[str]:
    """The commands which ask, those for what is missing first."""
    if view.status != "completed" or view.brief is None:
        return
    elsewhere = "--in PATH" if view.brief.scope.web or view.brief.scope.private else "--web"
    for part in _missing(view.coverage) if view.stop_reason in _LOOKED else ():
        if question := _askable(part.part):
            yield f"assay research {shlex.quote(question)} {elsewhere}"
    if view.brief.language.split("-")[0] not in ("", "en"):
        return  # the words around two values are English
    for conflict in view.conflicts:
        values = list(dict.fromkeys(side.value for side in conflict.sides))
        subject = ", ".join(filter(None, (conflict.subject, conflict.measure)))
        question = _askable(f"{subject}: why do sources say {' and '.join(values[:2])}?")
        if question and len(values) > 1:
            yield f"assay ask {view.run_id} {shlex.quote(question)}"


def _missing(coverage: tuple[Coverage, ...]) -> list[Coverage]:
    """The parts nothing was found for; the question itself only where it has no parts."""
    parts = [each for each in coverage if each.step] or list(coverage)
    return [each for each in parts if each.status == "not"]


def _askable(text: str) -> str:
    """`text` on one line, or nothing where a shell or a reader would take it for something else than a question."""
    text = one_line(text)
    return text if text and len(text) <= LONGEST and not text.startswith("-") else ""
