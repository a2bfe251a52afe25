"""How a report tells that sources disagree: a section of its own, put in by code.

Each conflict is a line with the values, their sources and dates, and below it what the sources say, word for word,
each with its citation. So what is added needs no model, and is checked like every other claim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from assay.core.claims import Conflict, Side
from assay.core.clean import one_line
from assay.core.sources import Passage, Source
from assay.core.text import sentences
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.verify.claims import claims
from assay.verify.plain import plain

TITLE = N_("Where sources disagree")
LONGEST_NAME = 80


def section(
    found: Sequence[Conflict], passages: Mapping[str, Passage], sources: Mapping[str, Source], report: str = ""
) -> str:
    """The section which tells `found`, with its heading; empty where there is nothing which can be told.

    What `report` says already, in the words of a passage which it cites there, is not said again.
    """
    said = {(plain(each.text).text, id) for each in claims(report) for marker in each.markers for id in marker.ids}
    told = [text for each in found if (text := _told(each, passages, sources, said))]
    return "\n\n".join((f"## {_(TITLE)}", *told)) if told else ""


def summary(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    """A conflict as one sentence, for where a text must not be added to."""
    return _("Sources disagree: {values}.").format(values=_values(conflict, sources))


def _told(
    conflict: Conflict,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    said: Collection[tuple[str, str]],
) -> str:
    """A conflict in Markdown; empty where a sentence would not be read back as the claim it is."""
    every = [(side, _sentence(side, passages[side.passage].text)) for side in conflict.sides]
    quoted = [(side, sentence) for side, sentence in every if (plain(sentence).text, side.passage) not in said]
    items = "\n".join(f"- {sentence} [{side.passage}]" for side, sentence in quoted if sentence)
    values = _values(conflict, sources)
    text = f"{values}:\n\n{items}" if quoted else _("Which holds: {values}?").format(values=values)  # no claim
    read = [plain(claim.text).text for claim in claims(f"## {_(TITLE)}\n\n{text}")]
    return text if read == [plain(sentence).text for _, sentence in quoted] else ""


def _values(conflict: Conflict, sources: Mapping[str, Source]) -> str:
    stated: dict[str, list[str]] = {}
    for side in conflict.sides:
        stated.setdefault(_flat(side.value), []).append(_where(side, sources))
    return _(" or ").join(f"{value} ({'; '.join(places)})" for value, places in stated.items())


def _where(side: Side, sources: Mapping[str, Source]) -> str:
    """A source and its date. No sign in it may end a sentence, or mean something in Markdown."""
    source = sources.get(side.source)
    called = one_line(source.title or source.url.rpartition("/")[2]) if source else ""
    name = _flat(called)[:LONGEST_NAME].strip() or side.source
    date = side.date or _("no date")
    return f"{name}, {date}"


def _flat(text: str) -> str:
    return " ".join(re.sub(r"[^\w ,'’$€£¥₹%°/+.-]|_|[.](?!\d)", " ", one_line(text)).split())


def _sentence(side: Side, text: str) -> str:
    """The sentence of a passage which states a side's value, on one line; empty where it has line breaks of its own."""
    for start, end in sentences(text):
        sentence = " ".join(text[start:end].split()).lstrip("*-•# ")
        if side.value in sentence:
            return sentence
    return ""
