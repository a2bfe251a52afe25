"""Grades the sentences of a report: which answer the question, and which are only related to it.

A sentence is compared with the question together with the passage it cites, its heading and its title, which often say
what "it" is. Two logistic models over these features give the chances that it answers and that it is related; the
models and their thresholds were trained (`weights.json`). A sentence answers only if everything that is cited together
counts as an answer by the chance by which the built-in model answers (`judge`): it tells better than single sentences
what is about the subject and holds no answer. A line with a key, which has few words, answers if it is the best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.claims import Relevance
from assay.core.languages import detect_language, question_language
from assay.core.messages import Rarity
from assay.core.relevance import comparisons
from assay.core.relevance.comparisons import Comparison
from assay.core.relevance.features import FEATURE_NAMES, Features, Vector
from assay.core.relevance.relevance_constants import FREQUENT_SHARE, MOST_KEYS
from assay.core.relevance.scores import OTHER_VERSION, Band, judge, weights
from assay.core.relevance.signs import is_question
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys, read_question
from assay.core.tables.records import is_field
from assay.core.text import sentences

STATEMENT_FEATURES = (
    "own", "names", "neighbour", "heading", "title", "near", "pairs", "number", "date", "name", "reason", "unnumbered",
    "short", "opens", "figures", "rest",
)  # fmt: skip
"""The features of a statement that count here: those that do not compare it with others."""
GRADE_NAMES = (*STATEMENT_FEATURES, "measure", "reach", "missing", "bare", "held", "keys", "plain")
_MEASURE, _BARE, _FIGURES = (GRADE_NAMES.index(name) for name in ("measure", "bare", "figures"))
_KINDS = tuple(FEATURE_NAMES.index(name) for name in ("number", "date", "reason"))
"""The kinds of answer that a sentence does not have by chance. Almost every sentence has a name."""
_PLACES = tuple(FEATURE_NAMES.index(name) for name in STATEMENT_FEATURES)


class CitedSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of a report with what it cites: the text of the passage, the heading above it, the source's title.

    A `framed` sentence, `KEY of SUBJECT: VALUE`, says in its key what another says in the question's words.
    """

    text: str
    cited: str = ""
    heading: str = ""
    title: str = ""
    framed: bool = False


def grade_sentences(
    asked: Sequence[str], statements: Sequence[CitedSentence], rarity: Rarity | None = None
) -> tuple[Relevance, ...]:
    """How far each sentence answers one of the questions `asked`: the question itself, and its parts.

    By default `rarity` is counted over the sentences. A `framed` sentence answers whatever else is cited. The result is
    empty ("") if the report is in another language than the question, since their words cannot be compared, or if no
    word of the questions has a topic.

    If the question compares two things, what says what one of them is answers too, but only if both are told.
    """
    words, pair = _grade_all(asked, statements, rarity), comparisons.read_comparison(asked[0]) if asked else None
    if pair is None:
        return words
    sides = [_grade_all((pair.question_about(side),), statements, rarity) for side in pair.sides]
    if all("answers" in side for side in sides):
        return tuple("answers" if "answers" in each else each[0] for each in zip(words, *sides, strict=True))
    return tuple(
        "related" if word == "answers" and not _names_both(pair, each) else word
        for word, each in zip(words, statements, strict=True)
    )


def _names_both(pair: Comparison, each: CitedSentence) -> bool:
    """True if a sentence, with what stands around it, has both things of a comparison."""
    text = f"{each.text} {each.cited} {each.heading} {each.title}"
    sides = [read_question(side, "", text) for side in pair.sides]
    return all(set(side.keys).issubset(keys(text, side.analysis)) for side in sides)


def _grade_all(
    asked: Sequence[str], statements: Sequence[CitedSentence], rarity: Rarity | None = None
) -> tuple[Relevance, ...]:
    unknown: Relevance = ""
    if not statements or not asked or differ_in_language(asked[0], [each.text for each in statements]):
        return (unknown,) * len(statements)
    beside = "\n".join(each.text for each in statements)
    questions = [read_question(each, "" if at == 0 else asked[0], beside) for at, each in enumerate(asked)]
    read = [question for question in questions if not question.elliptical]
    if not read:
        return (unknown,) * len(statements)
    vectors = [grade_features(question, statements, rarity) for question in read]
    cited = _cited_statements(statements)
    judgements = [judge(question, cited, rarity) for question in read]
    told = [each.is_answered() for each in judgements]
    best = {cited[each.ranked[0].place].text for each in judgements if each.is_answered()}
    return tuple(
        "answers"
        if statement.text in best and is_field(statement.text)
        else _best_grade([each[at] for each in vectors], [answered or statement.framed for answered in told])
        for at, statement in enumerate(statements)
    )


def _cited_statements(statements: Sequence[CitedSentence]) -> list[QuotableStatement]:
    """The sentences of all passages cited, and those of the report that are in other words, each text once."""
    titles = list(dict.fromkeys(each.title for each in statements))
    cited = ((each.title, each.heading, each.cited) for each in statements)
    own = ((each.title, each.heading, each.text) for each in statements if each.text not in _one_line(each.cited))
    return [
        QuotableStatement(
            text=_one_line(text[start:end]),
            source=titles.index(title),
            place=at,
            heading=heading,
            title=title,
            kind="row" if is_field(text[start:end]) else "prose",
        )
        for at, (title, heading, text) in enumerate(dict.fromkeys((*cited, *own)))
        for start, end in sentences(text)
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def differ_in_language(question: str, statements: Sequence[str]) -> bool:
    """True if question and sentences are clearly in two languages."""
    asked, answered = question_language(question), detect_language(" ".join(statements))
    return bool(asked and answered and asked != answered)


def grade_features(
    question: TopicQuestion, cited: Sequence[CitedSentence], rarity: Rarity | None = None
) -> list[Vector]:
    """The features of each sentence, in the order of `GRADE_NAMES`."""
    statements = [part for at, each in enumerate(cited) for part in _statement_pair(at, each)]
    features = Features(question, statements, rarity)
    held = {key for at in range(len(statements)) for key in features.matches(at)}
    rarest = max((features.weights[key] for key in held), default=0.0)
    return [_vector(features, 2 * at + 1, rarest, framed=each.framed) for at, each in enumerate(cited)]


def _statement_pair(at: int, each: CitedSentence) -> tuple[QuotableStatement, QuotableStatement]:
    """What a sentence cites, and the sentence as its neighbour: a document of their own."""
    cited = QuotableStatement(text=each.cited, source=at, place=0)
    return cited, QuotableStatement(text=each.text, source=at, place=1, heading=each.heading, title=each.title)


def _vector(features: Features, at: int, rarest: float, *, framed: bool) -> Vector:
    """The features of a statement; `rarest` is the weight of the rarest of the question's words that any has."""
    vector = features.vector(at)
    own, around = features.matches(at), features.matches_around(at)
    rare = dict(sorted(features.weights.items(), key=lambda item: -item[1])[:MOST_KEYS])
    total = sum(rare.values()) or 1.0

    def share(held: Mapping[str, float]) -> float:
        return min(1.0, sum(features.weights[key] * value for key, value in held.items()) / total)

    text = features.statements[at].text
    amiss = features.denial_match(at) < 0 or is_question(text)
    missing = max((weight * (1 - around.get(key, 0.0)) for key, weight in rare.items()), default=0.0)
    return (
        share(own),
        *(vector[place] for place in _PLACES[1:]),
        -1.0 if amiss else max(features.measure_match(at), features.measure_match(at - 1) if framed else -1.0),
        share(around),
        missing / (max(rare.values(), default=1.0) or 1.0),
        float(not framed and (_is_beside(features, around, rarest) or _has_names_alone(features, around, vector))),
        min(1.0, sum(own.values()) / MOST_KEYS),
        min(1.0, len(rare) / MOST_KEYS),
        float(features.question.wanted == "other"),
    )


def _is_beside(features: Features, around: Mapping[str, float], rarest: float) -> bool:
    """True if a sentence, with what it cites, has nothing that the question names, or only its frequent words."""
    names = features.question.names
    frequent = max((features.weights[key] for key in around), default=0.0) < FREQUENT_SHARE * rarest
    return frequent or (bool(names) and names.isdisjoint(around))


def _has_names_alone(features: Features, around: Mapping[str, float], vector: Vector) -> bool:
    """True if a sentence, with what it cites, has only names, and no kind of answer that is wanted.

    Where every noun is written as a name, half of what is asked is more than a name.
    """
    question = features.question
    asked = set(question.keys) - question.light
    much = question.capitalizes_nouns and 2 * sum(around.get(key, 0.0) for key in asked) >= len(asked)
    return features.topic_share(around) == 0.0 and not much and not any(vector[place] > 0 for place in _KINDS)


def chance(band: Band, vector: Vector) -> float:
    """The chance by a logistic model."""
    total = band.bias + sum(
        band.weights.get(name, 0.0) * value for name, value in zip(GRADE_NAMES, vector, strict=True)
    )
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def _best_grade(vectors: Sequence[Vector], told: Sequence[bool]) -> Relevance:
    """The best grade of a sentence for any of the questions; `told` says of each whether an answer to it is told.

    A sentence does not answer without the measure asked for, if it affirms what the question denies, if it is about
    another version or year, or if it has only the names, none of them, or only frequent words.
    """
    bands = weights()
    answering = [
        answered
        for each, answered in zip(vectors, told, strict=True)
        if each[_MEASURE] >= 0 and each[_FIGURES] > OTHER_VERSION and not each[_BARE]
        if chance(bands.answers, each) >= bands.answers.bound
    ]
    if any(answering):
        return "answers"
    if answering or any(chance(bands.related, vector) >= bands.related.bound for vector in vectors):
        return "related"
    return "unrelated"
