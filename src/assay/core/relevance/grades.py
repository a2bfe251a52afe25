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
from assay.core.relevance.relevance_constants import FREQUENT_SHARE, MAX_QUESTION_KEYS
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
    cited_text: str = ""
    heading: str = ""
    title: str = ""
    framed: bool = False


def grade_sentences(
    question_texts: Sequence[str], statements: Sequence[CitedSentence], rarity: Rarity | None = None
) -> tuple[Relevance, ...]:
    """How far each sentence answers one of the questions `question_texts`: the question itself, and its parts.

    By default `rarity` is counted over the sentences. A `framed` sentence answers whatever else is cited. The result is
    empty ("") if the report is in another language than the question, since their words cannot be compared, or if no
    word of the questions has a topic.

    If the question compares two things, what says what one of them is answers too, but only if both are told.
    """
    words, pair = (
        _grade_all(question_texts, statements, rarity),
        comparisons.read_comparison(question_texts[0]) if question_texts else None,
    )
    if pair is None:
        return words
    sides = [_grade_all((pair.question_about(side),), statements, rarity) for side in pair.sides]
    if all("answers" in side for side in sides):
        return tuple("answers" if "answers" in grades else grades[0] for grades in zip(words, *sides, strict=True))
    return tuple(
        "related" if word == "answers" and not _names_both(pair, statement) else word
        for word, statement in zip(words, statements, strict=True)
    )


def _names_both(pair: Comparison, sentence: CitedSentence) -> bool:
    """True if a sentence, with what stands around it, has both things of a comparison."""
    text = f"{sentence.text} {sentence.cited_text} {sentence.heading} {sentence.title}"
    sides = [read_question(side, "", text) for side in pair.sides]
    return all(set(side.keys).issubset(keys(text, side.analysis)) for side in sides)


def _grade_all(
    question_texts: Sequence[str], statements: Sequence[CitedSentence], rarity: Rarity | None = None
) -> tuple[Relevance, ...]:
    unknown: Relevance = ""
    if (
        not statements
        or not question_texts
        or differ_in_language(question_texts[0], [statement.text for statement in statements])
    ):
        return (unknown,) * len(statements)
    sentence_text = "\n".join(statement.text for statement in statements)
    questions = [
        read_question(question_text, "" if index == 0 else question_texts[0], sentence_text)
        for index, question_text in enumerate(question_texts)
    ]
    usable_questions = [question for question in questions if not question.elliptical]
    if not usable_questions:
        return (unknown,) * len(statements)
    vectors = [grade_features(question, statements, rarity) for question in usable_questions]
    cited_statements = _cited_statements(statements)
    judgements = [judge(question, cited_statements, rarity) for question in usable_questions]
    answer_flags = [judgement.is_answered() for judgement in judgements]
    best = {cited_statements[judgement.ranked[0].index].text for judgement in judgements if judgement.is_answered()}
    return tuple(
        "answers"
        if statement.text in best and is_field(statement.text)
        else _best_grade(
            [vector[index] for vector in vectors], [has_answer or statement.framed for has_answer in answer_flags]
        )
        for index, statement in enumerate(statements)
    )


def _cited_statements(statements: Sequence[CitedSentence]) -> list[QuotableStatement]:
    """The sentences of all passages cited, and those of the report that are in other words, each text once."""
    titles = list(dict.fromkeys(statement.title for statement in statements))
    cited_texts = ((statement.title, statement.heading, statement.cited_text) for statement in statements)
    own_texts = (
        (statement.title, statement.heading, statement.text)
        for statement in statements
        if statement.text not in _one_line(statement.cited_text)
    )
    return [
        QuotableStatement(
            text=_one_line(text[start:end]),
            source=titles.index(title),
            position=index,
            heading=heading,
            title=title,
            kind="row" if is_field(text[start:end]) else "prose",
        )
        for index, (title, heading, text) in enumerate(dict.fromkeys((*cited_texts, *own_texts)))
        for start, end in sentences(text)
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def differ_in_language(question: str, statements: Sequence[str]) -> bool:
    """True if question and sentences are clearly in two languages."""
    expected, actual = question_language(question), detect_language(" ".join(statements))
    return bool(expected and actual and expected != actual)


def grade_features(
    question: TopicQuestion, cited_sentences: Sequence[CitedSentence], rarity: Rarity | None = None
) -> list[Vector]:
    """The features of each sentence, in the order of `GRADE_NAMES`."""
    statements = [part for index, sentence in enumerate(cited_sentences) for part in _statement_pair(index, sentence)]
    features = Features(question, statements, rarity)
    matched_keys = {key for index in range(len(statements)) for key in features.matches(index)}
    rarest = max((features.weights[key] for key in matched_keys), default=0.0)
    return [
        _vector(features, 2 * index + 1, rarest, framed=sentence.framed)
        for index, sentence in enumerate(cited_sentences)
    ]


def _statement_pair(index: int, sentence: CitedSentence) -> tuple[QuotableStatement, QuotableStatement]:
    """What a sentence cites, and the sentence as its neighbour: a document of their own."""
    evidence = QuotableStatement(text=sentence.cited_text, source=index, position=0)
    return evidence, QuotableStatement(
        text=sentence.text, source=index, position=1, heading=sentence.heading, title=sentence.title
    )


def _vector(features: Features, index: int, rarest: float, *, framed: bool) -> Vector:
    """The features of a statement; `rarest` is the weight of the rarest of the question's words that any has."""
    vector = features.vector(index)
    matches, context_matches = features.matches(index), features.matches_around(index)
    rare = dict(sorted(features.weights.items(), key=lambda item: -item[1])[:MAX_QUESTION_KEYS])
    total = sum(rare.values()) or 1.0

    def share(key_matches: Mapping[str, float]) -> float:
        return min(1.0, sum(features.weights[key] * value for key, value in key_matches.items()) / total)

    text = features.statements[index].text
    amiss = features.denial_match(index) < 0 or is_question(text)
    missing_weight = max((weight * (1 - context_matches.get(key, 0.0)) for key, weight in rare.items()), default=0.0)
    return (
        share(matches),
        *(vector[position] for position in _PLACES[1:]),
        -1.0 if amiss else max(features.measure_match(index), features.measure_match(index - 1) if framed else -1.0),
        share(context_matches),
        missing_weight / (max(rare.values(), default=1.0) or 1.0),
        float(
            not framed
            and (_is_beside(features, context_matches, rarest) or _has_names_alone(features, context_matches, vector))
        ),
        min(1.0, sum(matches.values()) / MAX_QUESTION_KEYS),
        min(1.0, len(rare) / MAX_QUESTION_KEYS),
        float(features.question.answer_kind == "other"),
    )


def _is_beside(features: Features, context_matches: Mapping[str, float], rarest: float) -> bool:
    """True if a sentence, with what it cites, has nothing that the question names, or only its frequent words."""
    names = features.question.names
    frequent = max((features.weights[key] for key in context_matches), default=0.0) < FREQUENT_SHARE * rarest
    return frequent or (bool(names) and names.isdisjoint(context_matches))


def _has_names_alone(features: Features, context_matches: Mapping[str, float], vector: Vector) -> bool:
    """True if a sentence, with what it cites, has only names, and no kind of answer that is wanted.

    Where every noun is written as a name, half of what is asked is more than a name.
    """
    question = features.question
    question_keys = set(question.keys) - question.light
    has_half = question.capitalizes_nouns and 2 * sum(context_matches.get(key, 0.0) for key in question_keys) >= len(
        question_keys
    )
    return (
        features.topic_share(context_matches) == 0.0
        and not has_half
        and not any(vector[position] > 0 for position in _KINDS)
    )


def chance(band: Band, vector: Vector) -> float:
    """The chance by a logistic model."""
    total = band.bias + sum(
        band.weights.get(name, 0.0) * value for name, value in zip(GRADE_NAMES, vector, strict=True)
    )
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def _best_grade(vectors: Sequence[Vector], answer_flags: Sequence[bool]) -> Relevance:
    """The best grade of a sentence for any of the questions; `answer_flags` says of each whether an answer to it is
    told.

    A sentence does not answer without the measure asked for, if it affirms what the question denies, if it is about
    another version or year, or if it has only the names, none of them, or only frequent words.
    """
    bands = weights()
    answering = [
        has_answer
        for sentence_vector, has_answer in zip(vectors, answer_flags, strict=True)
        if sentence_vector[_MEASURE] >= 0 and sentence_vector[_FIGURES] > OTHER_VERSION and not sentence_vector[_BARE]
        if chance(bands.answers, sentence_vector) >= bands.answers.bound
    ]
    if any(answering):
        return "answers"
    if answering or any(chance(bands.related, vector) >= bands.related.bound for vector in vectors):
        return "related"
    return "unrelated"
