"""A name of the question that is nowhere: a question about the museum in Oslo is not answered by documents that never
mention Oslo.

A name counts as there if a near form of a word of it is ("Hollyn", "Hollin"), if its initials are, or if it is the
initials of something that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.core.patterns import regex
from assay.core.relevance.features import Features
from assay.core.relevance.relevance_constants import FEWEST_NAMING
from assay.core.relevance.topic_question import keys

_RUN = regex(
    r"(?<![^\W_])[^\W\d_][\w'’-]*(?:[\s-](?:(?:of|the|and|for|de|la|du|des|der|del|di|e|y)\s|&\s)*"
    r"(?=[^\W\d_])(?-i:[A-ZÀ-ÖØ-ÞА-Я])[\w'’-]*)+"
)
"""Words with capitals, and small ones between them."""
_WORD = regex(r"[^\W\d_][\w'’]*")
_CUT = regex(r"(?<![^\W_])[^\W\d_]+(?=\.\s*[^\W_])")
"""A word with a full stop inside a question: "Mr." is no name."""
_SHORT = regex(r"(?<![^\W_])[A-ZÀ-ÖØ-ÞА-Я]{2,6}(?![^\W_])")
"""An abbreviation."""


def lacks_a_name(features: Features) -> bool:
    """True if a name in the question, of one or more words, is nowhere.

    A few sentences may speak of it as "it", or "the town", unless it was counted in the whole scope, and that is not a
    few sentences; documents that share no other word with the question may be in another language, and so write the
    name in another way.
    """
    question, known = features.question, features.known()
    others = set(question.keys).difference(*question.named)
    if known.isdisjoint(others or question.keys):
        return False
    many = len(features.statements) >= FEWEST_NAMING
    absent = {key for key in question.keys if key not in known and (many or features.is_nowhere(key))}
    texts = list(_texts(features))
    cut = frozenset(key for word in _CUT.findall(question.text) for key in keys(word, question.analysis))
    names = filter(None, (_without_letters(name - cut) for name in question.named))
    return any(name <= absent and not _is_abbreviated(name, question.text, texts, question.analysis) for name in names)


def _without_letters(name: frozenset[str]) -> frozenset[str]:
    """A name without single letters: the "s" of "Oslo's" is no word."""
    return frozenset(key for key in name if len(key) > 1) or name


def _is_abbreviated(name: frozenset[str], question: str, texts: Iterable[str], analysis: str) -> bool:
    """True if a name is the initials of words in a text, or its own initials are in one."""
    short = {match[0] for match in _SHORT.finditer(question) if name.intersection(keys(match[0], analysis))}
    long = {_initials(run[0]) for run in _RUN.finditer(question) if name <= frozenset(keys(run[0], analysis))}
    long = {each for each in long if len(each) > 1}
    return any(
        any(each in _initials(run[0]) for each in short for run in _RUN.finditer(text))
        or any(match[0] in each for each in long for match in _SHORT.finditer(text))
        for text in texts
    )


def _initials(run: str) -> str:
    return "".join(word[0] for word in _WORD.findall(run) if word[0].isupper())


def _texts(features: Features) -> Iterator[str]:
    for each in features.statements:
        yield from (f"{each.label} {each.text}", each.heading, each.title, each.address)
