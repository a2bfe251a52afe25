"""What could not be found, as a report says it: it follows from coverage, whatever the writer thought of that."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.outline import OutlineSection, outline
from assay.core.plan import Coverage
from assay.core.text import words
from assay.phases.coverage import telling
from assay.phases.form import is_missing

ALIKE = 0.5
"""Share of the words which tell of a part from which a line is about it."""


def gaps(coverage: Sequence[Coverage]) -> tuple[str, ...]:
    """The lines of the section: parts on which nothing was found, and parts answered partly where a reason is known."""
    told = (each for each in coverage[1:] if each.status == "not" or (each.status == "partly" and each.reason))
    return tuple(dict.fromkeys(map(_line, told)))


def reconciled(text: str, coverage: Sequence[Coverage]) -> str:
    """A report without lines which say of an answered part that it was not found, and with those which it lacks.

    Only a section which says what could not be found is touched; where there is none, nothing is added here.
    """
    for part in reversed([part for part in outline(text) if coverage and is_missing(part.title)]):
        text = f"{text[: part.start].rstrip()}\n\n{_section(text, part, coverage)}{text[part.end :].lstrip()}".strip()
    return text


def _section(text: str, part: OutlineSection, coverage: Sequence[Coverage]) -> str:
    """The section as it should be; "" where nothing of it is left."""
    if all(each.status == "answered" for each in coverage):
        return ""
    said = [line for line in text[part.body : part.end].strip().splitlines() if not _contradicts(line, coverage)]
    kept = "\n".join(said).strip()
    if not kept:
        return ""
    lacking = [_line(each) for each in coverage[1:] if each.status == "not" and _share(each, kept) < ALIKE]
    more = "\n".join(f"- {line}" for line in dict.fromkeys(lacking))
    between = "\n" if kept.splitlines()[-1].lstrip().startswith(("-", "*")) else "\n\n"
    whole = f"{kept}{between}{more}" if more else kept
    return f"{text[part.start : part.body].strip()}\n\n{whole}\n\n"


def _contradicts(line: str, coverage: Sequence[Coverage]) -> bool:
    """Whether a line is about an answered part more than about any which is open."""
    parts = coverage[1:] or coverage
    shares = [(_share(each, line), each.status != "answered") for each in parts]
    share, is_open = max(shares, default=(0.0, True))
    return share >= ALIKE and not is_open


def _share(part: Coverage, text: str) -> float:
    wanted = set(telling(part.part))
    return len(wanted & set(words(text))) / len(wanted) if wanted else 0.0


def _line(part: Coverage) -> str:
    title = " ".join(part.part.split())
    return f"{title}: {part.reason}" if part.reason else title
