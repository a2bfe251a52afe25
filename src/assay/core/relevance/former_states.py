"""What was before: questions for a former state ("the previous owner", "before that"), and statements that tell one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core.lazy import regex
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

_FORMER = (
    r"previous(?:ly)?|former(?:ly)?|predecessors?|earlier|prior|original(?:ly)?|used to|beforehand"
    r"|vorher(?:ig\w*)?|früher\w*|ehemal\w*|zuvor|davor|vorig\w*|bisher(?:ig\w*)?|vorgänger\w*|ursprünglich\w*"
    r"|précédent\w*|précédemment|auparavant|ancien\w*|jadis|prédécesseur\w*|anterior(?:es|mente)?|antes|previ[oa]s?"
)
_ASKS = regex(
    rf"\b(?:{_FORMER})\b|\bbefore(?=\W*$|\s+(?:that|this|then|it|him|her|them|the\s\w+\W*$|[\w’'.-]+\W*$|(?-i:[A-Z])))"
    r"|\bavant\s(?:cela|ça|lui|elle)\b",
    re.IGNORECASE,
)
_STATES = regex(
    rf"\b(?:{_FORMER}|before|until|till|no longer|had been|succeeded|replaced|took over from|instead of|up to"
    r"|bis|ersetzt\w*|abgelöst|löste|folgte|nicht mehr|jusqu\w*|avant|remplac\w*|succéd\w*|hasta|reemplaz\w*"
    r"|sustitu\w*)\b",
    re.IGNORECASE,
)


def asks_former(question: str) -> bool:
    """True if a question asks what was before something else."""
    return _ASKS.search(question) is not None


def states_former(text: str) -> bool:
    """True if a statement may tell of a state that ended."""
    return _STATES.search(text) is not None


def with_former_states(
    question: TopicQuestion, statements: Sequence[QuotableStatement], matches: Sequence[dict[str, float]]
) -> list[dict[str, float]]:
    """The question's keys in each statement, with those for "former" and the like where one says so in any word ("until
    March it was") and it, or the one before it in its passage, is about something else that the question has.
    """
    asked = " ".join(match[0] for match in _ASKS.finditer(question.text))
    former = frozenset(keys(asked, question.analysis)).intersection(question.keys) if asked else frozenset[str]()
    if not former:
        return list(matches)
    places = [(statement.source, statement.position) for statement in statements]
    about = {index for index, found in enumerate(matches) if found.keys() - former}

    def is_about(index: int) -> bool:
        near = (place for place in (index - 1, index) if place >= 0)
        return any(place in about and places[place] == places[index] for place in near)

    return [
        found | dict.fromkeys(former, 1.0) if states_former(statements[index].text) and is_about(index) else found
        for index, found in enumerate(matches)
    ]
