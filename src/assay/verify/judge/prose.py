"""A verdict read out of what a judge wrote in the place of a call.

Read exactly or not at all: "NOT SUPPORTED" is no support, "not contradicted" no verdict, and a text which names several
verdicts, or weighs whether one would hold, names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args

Ruling = Literal["supported", "partial", "unsupported", "contradicted", "unknown"]
RULINGS: tuple[Ruling, ...] = get_args(Ruling)

LONGEST = 4_000
"""Code points which are read of a reply: of a longer one the beginning and the end, where verdicts stand."""
SHORT = 60
"""Words of a reply in which a verdict may stand inside a sentence; in a longer one it has to be named as such."""
_BEFORE = 4
"""Words before one which say what becomes of it."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NAMED = re.compile(
    r"(?:verdict|ruling|judge?ment|answer|conclusion|label|result|classification|rating)\b[\s*_`\"'”]{0,4}"
    r"(?:is|was|=|:|-|–|—)[\s*_`\"'“:]{0,6}(?P<said>[^\n.;,]{1,60})",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\b(un)-(?=support)", re.IGNORECASE)
_STEMS: dict[str, Ruling] = {
    **dict.fromkeys(("supported", "supports", "support"), "supported"),
    **dict.fromkeys(("unsupported",), "unsupported"),
    **dict.fromkeys(
        ("contradicted", "contradicts", "contradict", "contradictory", "refuted", "refutes"), "contradicted"
    ),
    **dict.fromkeys(("partial",), "partial"),
    **dict.fromkeys(("unknown", "undecidable", "undetermined"), "unknown"),
}
_DENYING = frozenset("not no never cannot without neither nor isn't doesn't don't wasn't aren't can't won't".split())
_PARTLY = frozenset("partially partly partial somewhat half".split())
_WHOLLY = frozenset("fully entirely completely wholly totally".split())
_OPEN = frozenset("if whether would could should might may or unless were either seems appears unclear".split())


def ruling_in(text: str) -> Ruling | None:
    """The one verdict which `text` gives; None where it gives none, several, or leaves it open."""
    text = _JOINED.sub(r"\1", text.replace("’", "'").replace("_", " "))
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    named = [each for found in _NAMED.finditer(text) for each in _rulings(found["said"])]
    alone = [each for line in text.splitlines() if len(_WORD.findall(line)) <= 3 for each in _rulings(line)]
    if not (named or alone) and len(_WORD.findall(text)) > SHORT:
        return None
    told = {*named, *alone, *_rulings(text)}
    return next(iter(told)) if len(told) == 1 else None


def _rulings(text: str) -> Iterator[Ruling | None]:
    """What each word for a verdict says with the words before it; None for one which is left open."""
    for sentence in re.split(r"(?<=[.!?\n])", text):
        words = [match[0].lower() for match in _WORD.finditer(sentence)]
        asked = sentence.rstrip().endswith("?")
        last = -1
        for at, word in enumerate(words):
            meant = _STEMS.get(word)
            if meant is None or (word == "partial" and at + 1 < len(words) and words[at + 1].startswith("support")):
                continue
            ruled = _turned(meant, words[max(last + 1, at - _BEFORE) : at], words[at + 1 : at + 3])
            last = at
            if asked or (ruled and _OPEN & {*words[max(0, at - _BEFORE) : at], *words[at + 1 : at + 2]}):
                yield None
            elif ruled:
                yield ruled


def _turned(meant: Ruling, before: list[str], after: list[str]) -> Ruling | None:
    """What a verdict becomes by the words around it; None where nothing is left of it."""
    denied = any(word in _DENYING for word in before)
    partly = any(word in _PARTLY for word in before) or after == ["in", "part"]
    if not denied:
        return "partial" if partly and meant == "supported" else meant
    if meant == "supported":
        return "partial" if partly or any(word in _WHOLLY for word in before) else "unsupported"
    return None
