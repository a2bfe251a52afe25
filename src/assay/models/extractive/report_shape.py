"""The shape of a report: its length, the part that is asked for, and the headings to fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.blocks import heading, leaves, read_template
from assay.core.brief import Section
from assay.core.messages import Request
from assay.models.extractive.question import last
from assay.models.extractive.shelf import QuotableUnit
from assay.models.extractive.words import stems, topics

Sections = list[tuple[str, list[QuotableUnit]]]


class ReportShape(msgspec.Struct, frozen=True):
    """The fields of a writer's `rules` message that are read here: `words` count if the user `asked` for a length."""

    part: int = 1
    parts: int = 1
    words: int = 0
    asked: bool = True


def shape_of(request: Request) -> ReportShape:
    """Read the rules.

    Raises:
        ModelError: they cannot be read.
    """
    shape = last(request, "rules", ReportShape) or ReportShape()
    return shape if shape.asked else msgspec.structs.replace(shape, words=0)


def template_of(request: Request) -> tuple[Section, ...]:
    """The headings to fill, empty without a template."""
    given = request.named("template")
    return read_template(given[-1]) if given else ()


def opening(leading: Sequence[QuotableUnit], words: int) -> list[QuotableUnit]:
    """The units of an answer that fit into so many words (0: any number), but at least the first."""
    return list(leading) if not words else fitting([("", list(leading))], words, least=1)[0][1]


def fitting(sections: Sections, words: int, least: int = 0) -> Sections:
    """Sections with as many units as fit into `words` together: the first of each before the second of any."""
    kept = [0] * len(sections)
    taken = total = 0
    for turn in range(max((len(units) for _, units in sections), default=0)):
        for at, (_, units) in enumerate(sections):
            if turn >= len(units) or kept[at] < turn:
                continue
            size = len(units[turn].text.split())
            if taken + size <= words or total < least:
                taken, total = taken + size, total + 1
                kept[at] += 1
    return [(title, units[:count]) for (title, units), count in zip(sections, kept, strict=True)]


def counted(units: Iterable[QuotableUnit]) -> int:
    """The number of words in units."""
    return sum(len(unit.text.split()) for unit in units)


# templates


def sorted_in(template: Sequence[Section], leading: Sequence[QuotableUnit], found: Sequence[QuotableUnit]) -> Sections:
    """Put units below the headings that share their words; units of the answer that fit none go below the first.

    Other units that fit no heading are left out.
    """
    answering = {unit.text for unit in leading}
    units = [*leading, *(unit for unit in found if unit.text not in answering)]
    held = Counter(key for unit in units for key in _keys(unit))
    terms = {at: frozenset(topics(f"{template[at].title} {template[at].hint}")) for at in sorted(leaves(template))}
    sections: Sections = [(heading(section), []) for section in template]
    for unit in units:
        place = _place(unit, terms, held)
        if place is not None or unit.text in answering:
            sections[place or 0][1].append(unit)
    return sections


def _place(unit: QuotableUnit, terms: Mapping[int, frozenset[str]], held: Mapping[str, int]) -> int | None:
    """The heading that shares a unit's words; a word counts by its rarity among the units, half if it only nearly
    matches.
    """
    own, keys = frozenset(stems(unit.text)), _keys(unit)
    rated = {at: sum((1.0 if key in own else 0.5) / held[key] for key in wanted & keys) for at, wanted in terms.items()}
    best = max(rated, key=lambda at: rated[at], default=0)
    return best if rated.get(best) else None


def _keys(unit: QuotableUnit) -> frozenset[str]:
    return unit.near | frozenset(stems(unit.text))
