"""Questions about a document which another one names in its header: "who wrote the PEP that replaced PEP 5?".

The field which relates the two is followed. English only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from assay.core import markers
from assay.core.lazy import regex
from assay.core.text import words
from assay.models.questions.question import QUOTED, Relation, analyze, find_relation
from assay.models.questions.words import CONCEPTS, INVERSE_RELATIONS

Order = Literal["", "first", "last"]

_LED: dict[Relation, str] = {
    "requires": "What does {anchor} require?",
    "replaces": "Which document does {anchor} replace?",
    "replaced": "What was {anchor} superseded by?",
}
_ASKS = {"creator": "Who wrote {}?", "date": "When was {} created?"}
_MEANT = {
    "creator": frozenset("who whose whom people person persons names minds hands team".split()),
    "date": frozenset("when day date year old age began begin begun start".split()),
    "status": frozenset("state stage fate stand stands standing outcome happened become became".split()),
}
"""Words that ask for a field without naming it."""
MAX_QUESTION_CHARS = 600
"""Code points above which a text is a document, not a question."""
_FIRST = frozenset(("first", "earliest", "oldest"))
_LAST = frozenset(("last", "latest", "newest", "youngest", "recent", "recently"))
_AT_FIRST = regex(r"\bwhen\b[^?]*?(?<!\bthe)(?<!\bwas)\s(?:first|last|recently)\s+(?=\w)", re.IGNORECASE)
"""Phrases such as "when did it first appear?", in which "first" does not choose among several documents."""
_FRAME = regex(r"(?P<key>[^:]{2,40}?) of (?P<series>[^\W\d_]{2,12})[- ]?0*(?P<number>\d{1,6})\b[^:]*?: (?P<value>.*)")


class LinkQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Such a question, taken apart: the document it starts from, the field to follow, and the rest of the question.

    `order` says which of several documents is meant: the one created first, or last.
    """

    anchor: str
    relation: Relation
    concepts: tuple[str, ...]
    order: Order = ""

    @property
    def first_question(self) -> str:
        """The question to begin with."""
        return _LED[self.relation].format(anchor=self.anchor)

    def second_question(self, targets: Sequence[str]) -> str:
        """The question to ask about `targets` ("EIP 20")."""
        names = ", ".join(targets[:-1]) + (" and " if len(targets) > 1 else "") + targets[-1]
        questions = [_ASKS["date"]] if self.order else []
        questions += [_ASKS.get(concept, f"What is the {concept} of {{}}?") for concept in self.concepts]
        return " ".join(dict.fromkeys(questions)).replace("{}", names)


@lru_cache(maxsize=256)
def read_hop(text: str) -> LinkQuestion | None:
    """The question as a hop; None if it does not name one document and ask about another that relates to it."""
    text = unicodedata.normalize("NFKC", text).strip()
    question = analyze(text) if len(text) <= MAX_QUESTION_CHARS else None
    if question is None or len(question.mentions) > 1:
        return None
    quotation = QUOTED.search(text)
    anchor = question.mentions[0].text if question.mentions else quotation[0] if quotation else ""
    start = text.index(anchor)
    mention = find_relation(text, start, start + len(anchor)) if anchor else None
    if mention is None:
        return None
    outer = f"{text[: mention.start]} it {text[mention.end :]}"
    outer_words = set(words(_AT_FIRST.sub(" ", outer)))
    order: Order = "first" if outer_words & _FIRST else "last" if outer_words & _LAST else ""
    asked_concepts = [name for name in analyze(outer).concepts if name not in _LED and not (order and name == "date")]
    implied_concepts = [concept for concept, cues in _MEANT.items() if not order and cues & set(words(outer))]
    concepts = tuple(asked_concepts or implied_concepts[:1])
    return (
        LinkQuestion(anchor=anchor, relation=mention.relation, concepts=concepts, order=order)
        if concepts or order
        else None
    )


# following a field through findings, which are text


def find_targets(hop: LinkQuestion, findings: Iterable[str]) -> list[str]:
    """The documents that findings name in the followed field, each as series and number."""
    number = re.search(r"[1-9]\d*", hop.anchor)
    lines = (markers.strip_markers(line).strip().removeprefix("- ") for text in findings for line in text.splitlines())
    name_groups = (
        _related_names(hop, number[0] if number else "", match) for line in lines if (match := _FRAME.match(line))
    )
    return list(dict.fromkeys(name for names in name_groups for name in names))


def _related_names(hop: LinkQuestion, number: str, line: re.Match[str]) -> list[str]:
    key, series, mine = " ".join(words(line["key"])), line["series"], line["number"]
    plain = re.sub(r"\]\([^)]*\)", "]", line["value"])
    numbers = [digits.lstrip("0") for digits in re.findall(r"(?<![\d.])\d{1,6}(?![\d.]*\d)", plain)]
    if key in CONCEPTS[hop.relation].keys and number in ("", mine):
        return [f"{series} {digits}" for digits in numbers if digits != mine]
    converse = CONCEPTS[INVERSE_RELATIONS[hop.relation]].keys if hop.relation in INVERSE_RELATIONS else ()
    return [f"{series} {mine}"] if key in converse and number in numbers else []
