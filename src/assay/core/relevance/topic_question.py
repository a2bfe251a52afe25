"""The topic of a question and what it denies, and the statements that may answer it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

import msgspec

from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.lexicon import analysis_of, clauses, denied_parts, plain_digits, stop_terms, terms, without_affix
from assay.core.periods import spell_periods
from assay.core.relevance.asking_words import (
    HOW_HIGH_ENDING,
    LIGHT_WORDS,
    MEASURE_FORMS,
    AnswerKind,
    MeasureKind,
    asking_forms,
    remove_asking_words,
)
from assay.core.relevance.relevance_constants import (
    ALIKE_PAIRS,
    COMMON_SHARE,
    COMMON_START,
    LANGUAGE_SAMPLE,
    MIN_NEAR_LETTERS,
    MIN_PART_LETTERS,
)

# Statements: what may answer a question, with its words as keys.

StatementKind = Literal["prose", "row"]
_UNSPACED = regex("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


class QuotableStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, a table row or a line with a key, as it would be quoted.

    `source` is the rank of its document among those found, 0 for the best; `position` is that of its passage in the
    document. `label` is the name it describes or the headers of its columns; `heading` is above it;
    `title` and `address` are those of the document. `entry` is what it gives a value of, if it is a field of an
    entry, and `key` names that value. `speaker` says it, in a conversation.
    """

    text: str
    source: int = 0
    position: int = 0
    label: str = ""
    heading: str = ""
    title: str = ""
    address: str = ""
    kind: StatementKind = "prose"
    entry: str = ""
    key: str = ""
    speaker: str = ""


def with_plain_digits(statements: Sequence[QuotableStatement]) -> Sequence[QuotableStatement]:
    """The same statements with all digits as in ASCII, in which numbers and years are compared."""
    plain = [plain_digits(statement.text) for statement in statements]
    pairs = zip(statements, plain, strict=True)
    return [
        statement if statement.text == text else msgspec.structs.replace(statement, text=text)
        for statement, text in pairs
    ]


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The language of a text, "" if unknown."""
    return question_language(text[:LANGUAGE_SAMPLE])


def analysis_for(text: str) -> str:
    """The analysis for the language of a text."""
    return analysis_of(language_of(text))


@lru_cache(maxsize=16384)
def keys(text: str, analysis: str) -> tuple[str, ...]:
    """The keys of the words of `text`, in order."""
    return tuple(terms(text, analysis))


def is_unspaced(text: str) -> bool:
    """True if a text has letters of a script without spaces, or of Korean."""
    return _UNSPACED.search(text) is not None


@lru_cache(maxsize=64)
def _asking_cues(languages: frozenset[str]) -> tuple[tuple[AnswerKind, re.Pattern[str]], ...]:
    # Compiled when a question is first read: two hundred patterns.
    return tuple((answer_kind, _compile_cue(form)) for answer_kind, form in asking_forms(sorted(languages)))


@cache
def _measure_cues() -> tuple[tuple[MeasureKind, re.Pattern[str]], ...]:
    return tuple((measure, _compile_cue(form)) for measure, forms in MEASURE_FORMS.items() for form in forms.split(","))


_MARKED = "\u0900-\u0963\u0966-\u0dff"
"""Indic scripts, whose vowel signs belong to a word but are not of Python's word class."""


def _compile_cue(form: str) -> re.Pattern[str]:
    form = unicodedata.normalize("NFKC", form.strip().casefold())
    return re.compile(form if is_unspaced(form) else rf"(?<![\w{_MARKED}]){form}(?![\w{_MARKED}])")


_NAME = regex(r"(?<![^\W_])(?<![¿¡])[^\W\d_][\w'’-]*")
"""A word, except one that begins a question in Spanish."""
CAPITALIZING = frozenset(("de", "lb"))
"""The languages that write every noun with a capital letter."""


class TopicQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question: `keys` of its topic words, in order, and the kind of answer, `answer_kind`.

    `names` are those keys that are written as names or contain digits, `name_keys` the keys of each name of one or more
    words, none if either language writes every noun with a capital letter. `measure` is what a number is wanted of.
    `language` is that of the documents, "" if unknown. A question is `elliptical` if no word of it has a topic ("How
    far?"): its keys are then those of all its words. `denied_keys` are the keys that a negation in it denies ("which
    providers need no key?"), found by the negations of `negation_language`. `light` are keys that only
    ask for the measure.
    """

    text: str
    analysis: str
    keys: tuple[str, ...]
    names: frozenset[str]
    answer_kind: AnswerKind
    measure: MeasureKind = ""
    elliptical: bool = False
    language: str = ""
    denied_keys: frozenset[str] = frozenset()
    negation_language: str = ""
    name_keys: tuple[frozenset[str], ...] = ()
    light: frozenset[str] = frozenset()

    @property
    def capitalizes_nouns(self) -> bool:
        """True if the question or the documents are in a language that writes every noun as it writes names."""
        return not CAPITALIZING.isdisjoint((self.language, self.negation_language))


@lru_cache(maxsize=512)
def read_question(text: str, context: str = "", document_text: str = "") -> TopicQuestion:
    """Analyze a question.

    `context` are words of the question it is part of, if it does not say enough. `document_text` is text of the
    documents, whose language is easier to detect than that of a few words.
    """
    text, context = _normalize(text), _normalize(context)
    full_text = f"{context} {text}".strip()
    asked_language = language_of(full_text)
    language = language_of(document_text) or asked_language
    analysis = analysis_of(language)
    stop = stop_terms(language) | stop_terms(asked_language)
    answer_kind, cue = _wanted_kind(text, frozenset((language, asked_language)))
    bare = text.casefold().replace(cue.removesuffix(HOW_HIGH_ENDING), " ", 1) if cue else text
    question_keys = (key for part in (bare, context) for key in _keys(part, analysis))
    topic = tuple(dict.fromkeys(key for key in question_keys if key not in stop))
    telling_keys = topic or keys(full_text, analysis)
    names = _names(text, analysis) | _names(context, analysis)
    negation_language = asked_language or language
    denied_keys = (frozenset(_keys(part, analysis)) & set(topic) for part in denied_parts(text, negation_language))
    measure = _measure_asked(text)
    return TopicQuestion(
        text=full_text,
        analysis=analysis,
        keys=telling_keys,
        names=names & set(telling_keys),
        answer_kind=answer_kind,
        measure=measure,
        elliptical=not topic,
        language=language,
        denied_keys=next(filter(None, denied_keys), frozenset()),
        negation_language=negation_language,
        name_keys=()
        if CAPITALIZING.intersection((language, negation_language))
        else _name_keys(full_text, analysis, topic),
        light=frozenset(
            keys(f"{LIGHT_WORDS.get(measure, '')} {HOW_HIGH_ENDING if cue.endswith(HOW_HIGH_ENDING) else ''}", analysis)
        )
        & set(topic),
    )


def _keys(text: str, analysis: str) -> tuple[str, ...]:
    """The keys of a question's words, without interrogative words in scripts where nothing separates them."""
    return keys(remove_asking_words(text) if is_unspaced(text) else text, analysis)


_POSSESSIVE = regex(r"(?<=\w)['’]s(?!\w)")


def _normalize(text: str) -> str:
    """A question with digits as in ASCII, names as they are without an owner's ending ("Kenya's"), and weeks, quarters
    and the like in one form.
    """
    return spell_periods(_POSSESSIVE.sub("", plain_digits(unicodedata.normalize("NFKC", text)))).strip()


def _wanted_kind(text: str, languages: frozenset[str]) -> tuple[AnswerKind, str]:
    """The kind asked for, and the words that ask for it: the first ones, the longer of two at one place."""
    folded = text.casefold()
    matches = [
        (match.start(), -len(match[0]), answer_kind, match[0])
        for answer_kind, cue in _asking_cues(languages)
        if (match := cue.search(folded))
    ]
    return min(matches)[2:] if matches else ("other", "")


def _measure_asked(text: str) -> MeasureKind:
    """The measure that a question asks for: the first of several, the longer of two at one place."""
    folded = text.casefold()
    matches = [
        (match.start(), -len(match[0]), measure) for measure, cue in _measure_cues() if (match := cue.search(folded))
    ]
    return min(matches)[2] if matches else ""


def _names(text: str, analysis: str) -> frozenset[str]:
    """Keys of words with a capital inside the question, or with digits. Letters that no space separates end a word."""
    text = _UNSPACED.sub(" ", text)
    names = [match[0] for match in _NAME.finditer(text) if match.start() and any(map(str.isupper, match[0]))]
    digits = [word for word in text.split() if any(map(str.isdigit, word))]
    return frozenset(key for word in (*names, *digits) for key in keys(word, analysis))


def _name_keys(text: str, analysis: str, topic: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The keys of each name inside a question: "Raspberry Pi" is one, of two words."""
    runs, end = list[list[str]](), -1
    for match in _NAME.finditer(text):
        if match.start() and len(match[0]) > 1 and any(map(str.isupper, match[0])):
            if runs and match.start() == end + 1 and text[end].isspace():
                runs[-1].append(match[0])
            else:
                runs.append([match[0]])
            end = match.end()
    key_sets = (frozenset(keys(" ".join(run), analysis)).intersection(topic) for run in runs)
    return tuple(filter(None, key_sets))


# Near keys: forms a stemmer keeps apart, parts of compounds, and words derived from one another.


def near_keys(wanted_keys: Iterable[str], other_keys: Iterable[str]) -> dict[str, frozenset[str]]:
    """For each wanted key, the other keys in `other_keys` that are near to it."""
    candidates = {key for key in wanted_keys if _is_word(key) and not is_unspaced(key)}
    near: dict[str, set[str]] = defaultdict(set)
    for other in filter(_is_word, set(other_keys)):
        for key in candidates:
            if key != other and _is_near(key, other):
                near[key].add(other)
    return {key: frozenset(others) for key, others in near.items()}


def _is_word(key: str) -> bool:
    """True if a key is long enough and has no digit. Vowel signs of Indic scripts are not letters, but belong to it."""
    return len(key) >= MIN_NEAR_LETTERS and (key.isalpha() or not any(map(str.isdigit, key)))


def _is_near(first: str, second: str) -> bool:
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    if len(short) >= MIN_PART_LETTERS and short in long:
        return True
    if first[0] != second[0] or 2 * len(short) < len(long):
        return False
    if first[:COMMON_START] == second[:COMMON_START] and _common_prefix_length(short, long) >= COMMON_SHARE * len(long):
        return True
    ours, theirs = _letter_pairs(first), _letter_pairs(second)
    return 2 * len(ours & theirs) >= ALIKE_PAIRS * (len(ours) + len(theirs))


@lru_cache(maxsize=65536)
def _letter_pairs(key: str) -> frozenset[str]:
    """The pairs of adjacent letters, or with one between them (Dice 1945; skip-grams after Keskustalo 2003)."""
    return frozenset(a + b for apart in (1, 2) for a, b in zip(key, key[apart:], strict=False))


def _common_prefix_length(short: str, long: str) -> int:
    return next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))


# What a question denies, and whether a statement denies it too.

NearKeys = Mapping[str, frozenset[str]]
"""The keys near to each key of a question."""
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")


def denial_score(question: TopicQuestion, statement: QuotableStatement, near: NearKeys) -> float:
    """1 if a statement denies what the question denies, -1 if it affirms at least half of it.

    0 if it does not speak of that, or denies something else. A statement that does not speak of it is under a heading
    that may.
    """
    texts = (f"{statement.label}: {statement.text}", statement.heading)
    return next(filter(None, (_text_denial_score(question, text, near) for text in texts)), 0.0)


def _text_denial_score(question: TopicQuestion, text: str, near: NearKeys) -> float:
    spoken = [
        (_denied_words(question, part, near), denies) for part, denies in clauses(text, question.negation_language)
    ]
    if any(words and (denies or _has_denying_affix(question, words, near)) for words, denies in spoken):
        return 1.0
    stated_keys = frozenset(key for words, _ in spoken for word in words for key in _denied_keys(question, word, near))
    is_affirmed = 2 * len(stated_keys) >= len(question.denied_keys) and not any(denies for _, denies in spoken)
    return -1.0 if stated_keys and is_affirmed else 0.0


def _denied_words(question: TopicQuestion, part: str, near: NearKeys) -> list[str]:
    """The words of a clause that speak of what the question denies; the clause, if nothing separates its words."""
    pieces = [part] if is_unspaced(part) else _WORD.findall(part)
    return [piece for piece in pieces if _denied_keys(question, piece, near)]


def _has_denying_affix(question: TopicQuestion, words: Sequence[str], near: NearKeys) -> bool:
    """True if one of these words denies by an affix: "unsupported"."""
    return any(_denied_keys(question, bare, near) for bare in map(without_affix, words) if bare)


def _denied_keys(question: TopicQuestion, text: str, near: NearKeys) -> frozenset[str]:
    """The keys that the question denies and a text has, exactly or nearly."""
    text_keys, empty = frozenset(keys(text, question.analysis)), frozenset[str]()
    return frozenset(key for key in question.denied_keys if key in text_keys or near.get(key, empty) & text_keys)
