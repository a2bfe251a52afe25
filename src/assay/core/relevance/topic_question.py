"""The topic of a question and what it denies, and the statements that may answer it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

import msgspec

from assay.core.languages import of_question
from assay.core.lexicon import analysis_of, clauses, denied_parts, stop_terms, terms, without_affix
from assay.core.patterns import regex
from assay.core.relevance.relevance_constants import (
    ALIKE_PAIRS,
    COMMON_SHARE,
    COMMON_START,
    LANGUAGE_SAMPLE,
    LEAST_LETTERS,
    LEAST_PART,
)

# Statements: what may answer a question, with its words as keys.

Kind = Literal["prose", "row", "code"]
_UNSPACED = regex("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


class QuotableStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, a table row or a line with a key, as it would be quoted.

    `source` is the rank of its document among those found, 0 for the best; `place` is that of its passage in the
    document. `label` is the name it describes or the headers of its columns; `heading` is above it.
    """

    text: str
    source: int = 0
    place: int = 0
    label: str = ""
    heading: str = ""
    title: str = ""
    kind: Kind = "prose"


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The language of a text, "" if unknown."""
    return of_question(text[:LANGUAGE_SAMPLE])


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


Wanted = Literal["number", "date", "name", "reason", "other"]
Measure = Literal["", "age", "extent", "money", "share"]
"""The kind of number asked for, if the question says so: an age, a length or time, a price, a share."""
ASKING: dict[Wanted, str] = {
    "number": "number of, anzahl der, anzahl von, количество, число, número de, nombre de, "
    "how many, how much, how long, how old, how often, how far, what percentage, what percent, wie viele, "
    "wie viel, wieviel, wieviele, wie lange, wie hoch, wie alt, wie oft, сколько, как долго, 多少, 几, 幾, 多大, 多久, "
    "いくつ, いくら, كم, cuántos, cuántas, cuánto, cuánta, combien, quanti, quante, quanto, quantos, quantas, hoeveel, "
    "कितने, कितना, कितनी, กี่, เท่าไร, เท่าไหร่, เท่าใด",
    "date": "when, what year, which year, what date, what day, which day, what month, what century, wann, "
    "welchem jahr, welches jahr, "
    "welchem tag, когда, каком году, какого года, 什么时候, 什麼時候, 何时, 何時, 哪一年, 哪年, いつ, "
    "何年, متى, أي عام, "
    "أي سنة, cuándo, qué año, quand, quelle année, quando, che anno, que ano, wanneer, welk jaar, कब, किस वर्ष, किस साल"
    ", เมื่อไร, เมื่อไหร่, เมื่อใด, ปีใด, ปีไหน, วันใด, วันไหน",
    "name": "who, whom, whose, where, wer, wem, wen, wessen, wo, wohin, кто, кого, кем, кому, чей, где, куда, 谁, 誰, "
    "哪里, 哪裡, 哪儿, どこ, だれ, أين, quién, quiénes, dónde, qui, où, chi, dove, quem, onde, waar, "
    "कौन, किसने, किसे, किसका, किसकी, कहाँ, कहां, ใคร, ผู้ใด, ที่ไหน, ที่ใด",
    "reason": "why, warum, weshalb, wieso, почему, зачем, 为什么, 為什麼, なぜ, لماذا, por qué, "
    "pourquoi, perché, por que, "
    "waarom, क्यों, ทำไม, เหตุใด, เพราะอะไร",
}
"""The words that ask for each kind, in the languages of the segmenter; in others a question asks for `other`."""
SAID = "hoch"
"""The end of "wie hoch", which the answer has too ("26 Meter hoch"); "how tall" and the like are no cue at all."""
MEASURED: dict[Measure, str] = {
    "age": "how old, wie alt, сколько лет, какого возраста, 几岁, 幾歲, 多大年纪, 何歳, كم عمر, qué edad, quel âge, "
    "quanti anni ha, che età, quantos anos tem, que idade, hoe oud",
    "extent": "how long, how far, how tall, how high, how deep, how wide, wie lange, wie lang, wie hoch, wie weit, "
    "wie tief, wie breit, как долго, как далеко, какой высоты, какой длины, 多久, 多长, 多長, 多高, 多远, 多遠, "
    "cuánto tiempo, cuánto mide, combien de temps, hoe lang, hoe hoog, hoe ver",
    "money": r"how much (?:do|does|did|will|would|has|have|had)\b[^?]*(?<!\bthe )\bcost(?! of), what price, wie teuer, "
    r"was kostet, was kostete, wie viel [^?]*\b(?:ge)?koste\w+, сколько сто(?:ит|ят|ил[аио]?), 多少钱, 多少錢, いくら, "
    r"cuánto [^?]*(?<!\bel )\bc(?:uest|ost)\w+, combien [^?]*\bcoût\w+, quanto [^?]*\bcost\w+, hoeveel [^?]*\bkost\w*",
    "share": "what percentage, what percent, which percentage, wie viel prozent, welcher prozentsatz, какой процент, "
    "сколько процентов, 百分之几, 百分比, qué porcentaje, quel pourcentage, che percentuale, que percentagem",
}
"""The words that ask for a measure."""
LIGHT: dict[Measure, str] = {
    "extent": "take takes took dauern dauert dauerte prendre prend durer dure tardar tarda durar dura занимать "
    "занимает длиться длится",
    "money": "cost costs kosten kostet kostete gekostet coûter coûte coûté costar cuesta costó costare costa "
    "стоить стоит",
}
"""Words that only ask for a measure: a price is also what is "paid", and what takes a week is done "within" it."""
CJK_ASKING = regex(
    "什么时候|什麼時候|多少|什么|什麼|哪一年|哪年|哪里|哪裡|哪个|哪個|哪些|哪|何时|何時|いくつ|いくら|どこ|だれ|どの|いつ|怎么|怎麼"
    "|如何|为什么|為什麼|なぜ|几|幾|谁|誰|吗|嗎|呢|的|了|是|在|被|和|与|與"
    "|เมื่อ(?:ไร|ไหร่|ใด)|เท่า(?:ไร|ไหร่|ใด)|อะไร|ใคร|ที่ไหน|ไหน|ใด|กี่|อย่างไร|ยังไง|หรือไม่|คือ"
)
"""Words which ask in unspaced scripts, cut out before keys are made of a question."""


@cache
def _cues() -> tuple[tuple[Wanted, re.Pattern[str]], ...]:
    # Compiled when a question is first read: two hundred patterns.
    return tuple((wanted, _cue(form)) for wanted, forms in ASKING.items() for form in forms.split(","))


@cache
def _measuring() -> tuple[tuple[Measure, re.Pattern[str]], ...]:
    return tuple((measure, _cue(form)) for measure, forms in MEASURED.items() for form in forms.split(","))


def _cue(form: str) -> re.Pattern[str]:
    form = _plain(form)
    return re.compile(form if is_unspaced(form) else rf"(?<!\w){form}(?!\w)")


_NAME = regex(r"(?<![^\W_])[^\W\d_][\w'’-]*")
CAPITALIZING = frozenset(("de", "lb"))
"""The languages that write every noun with a capital letter."""


class TopicQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question: `keys` of its topic words, in order, and the `wanted` kind of answer.

    `names` are those keys that are written as names or contain digits, `named` the keys of each name of one or more
    words, none if either language writes every noun with a capital letter. `measure` is what a number is wanted of.
    `language` is that of the documents, "" if unknown. A question is `elliptical` if no word of it has a topic ("How
    far?"): its keys are then those of all its words. `denied` are the keys that a negation in it denies ("which
    providers need no key?"), found by the negations of `negating`, a language. `light` are keys that only ask for the
    measure.
    """

    text: str
    analysis: str
    keys: tuple[str, ...]
    names: frozenset[str]
    wanted: Wanted
    measure: Measure = ""
    elliptical: bool = False
    language: str = ""
    denied: frozenset[str] = frozenset()
    negating: str = ""
    named: tuple[frozenset[str], ...] = ()
    light: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def read_question(text: str, about: str = "", beside: str = "") -> TopicQuestion:
    """Analyze a question.

    `about` are words of the question it is part of, if it does not say enough. `beside` is text of the documents, whose
    language is easier to detect than that of a few words.
    """
    text, about = _plain(text), _plain(about)
    whole = f"{about} {text}".strip()
    language = language_of(beside or whole)
    analysis = analysis_of(language)
    stop = stop_terms(analysis) | stop_terms(analysis_for(whole))
    wanted, cue = _wanted_kind(text)
    bare = text.casefold().replace(cue.removesuffix(SAID), " ", 1) if cue else text
    stated = (key for part in (bare, about) for key in _keys(part, analysis))
    topic = tuple(dict.fromkeys(key for key in stated if key not in stop))
    telling = topic or keys(whole, analysis)
    names = _names(text, analysis) | _names(about, analysis)
    negating = language_of(whole) or language
    denied = (frozenset(_keys(part, analysis)) & set(topic) for part in denied_parts(text, negating))
    measure = _measure(text)
    return TopicQuestion(
        text=whole,
        analysis=analysis,
        keys=telling,
        names=names & set(telling),
        wanted=wanted,
        measure=measure,
        elliptical=not topic,
        language=language,
        denied=next(filter(None, denied), frozenset()),
        negating=negating,
        named=() if CAPITALIZING.intersection((language, negating)) else _named(whole, analysis, topic),
        light=frozenset(keys(LIGHT.get(measure, ""), analysis)) & set(topic),
    )


def _keys(text: str, analysis: str) -> tuple[str, ...]:
    """The keys of a question's words, without interrogative words in scripts where nothing separates them."""
    return keys(CJK_ASKING.sub(" ", text) if is_unspaced(text) else text, analysis)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _wanted_kind(text: str) -> tuple[Wanted, str]:
    """The kind asked for, and the words that ask for it: the first ones, the longer of two at one place."""
    folded = text.casefold()
    found = [
        (match.start(), -len(match[0]), wanted, match[0]) for wanted, cue in _cues() if (match := cue.search(folded))
    ]
    return min(found)[2:] if found else ("other", "")


def _measure(text: str) -> Measure:
    """The measure that a question asks for, the first of several."""
    folded = text.casefold()
    found = [(match.start(), measure) for measure, cue in _measuring() if (match := cue.search(folded))]
    return min(found)[1] if found else ""


def _names(text: str, analysis: str) -> frozenset[str]:
    """Keys of words with a capital inside the question, or with digits."""
    found = [match[0] for match in _NAME.finditer(text) if match.start() and any(map(str.isupper, match[0]))]
    digits = [word for word in text.split() if any(map(str.isdigit, word))]
    return frozenset(key for word in (*found, *digits) for key in keys(word, analysis))


def _named(text: str, analysis: str, topic: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The keys of each name inside a question: "Raspberry Pi" is one, of two words."""
    runs, end = list[list[str]](), -1
    for match in _NAME.finditer(text):
        if match.start() and len(match[0]) > 1 and any(map(str.isupper, match[0])):
            if runs and match.start() == end + 1 and text[end].isspace():
                runs[-1].append(match[0])
            else:
                runs.append([match[0]])
            end = match.end()
    found = (frozenset(keys(" ".join(run), analysis)).intersection(topic) for run in runs)
    return tuple(filter(None, found))


# Near keys: forms a stemmer keeps apart, parts of compounds, and words derived from one another.


def near_keys(wanted: Iterable[str], held: Iterable[str]) -> dict[str, frozenset[str]]:
    """For each wanted key, the other keys in `held` that are near to it."""
    asked = {key for key in wanted if _is_word(key) and not is_unspaced(key)}
    found: dict[str, set[str]] = defaultdict(set)
    for other in filter(_is_word, set(held)):
        for key in asked:
            if key != other and _is_near(key, other):
                found[key].add(other)
    return {key: frozenset(others) for key, others in found.items()}


def _is_word(key: str) -> bool:
    """True if a key is long enough and has no digit. Vowel signs of Indic scripts are not letters, but belong to it."""
    return len(key) >= LEAST_LETTERS and (key.isalpha() or not any(map(str.isdigit, key)))


def _is_near(one: str, other: str) -> bool:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) >= LEAST_PART and short in long:
        return True
    if one[0] != other[0] or 2 * len(short) < len(long):
        return False
    if one[:COMMON_START] == other[:COMMON_START] and _common(short, long) >= COMMON_SHARE * len(long):
        return True
    ours, theirs = _letter_pairs(one), _letter_pairs(other)
    return 2 * len(ours & theirs) >= ALIKE_PAIRS * (len(ours) + len(theirs))


@lru_cache(maxsize=65536)
def _letter_pairs(key: str) -> frozenset[str]:
    """The pairs of adjacent letters, or with one between them (Dice 1945; skip-grams after Keskustalo 2003)."""
    return frozenset(a + b for apart in (1, 2) for a, b in zip(key, key[apart:], strict=False))


def _common(short: str, long: str) -> int:
    """The length of the common beginning."""
    return next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))


# What a question denies, and whether a statement denies it too.

Near = Mapping[str, frozenset[str]]
"""The keys near to each key of a question."""
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")


def denial(question: TopicQuestion, statement: QuotableStatement, near: Near) -> float:
    """1 if a statement denies what the question denies, -1 if it affirms at least half of it.

    0 if it does not speak of that, or denies something else. A statement that does not speak of it is under a heading
    that may.
    """
    texts = (f"{statement.label}: {statement.text}", statement.heading)
    return next(filter(None, (_polarity(question, text, near) for text in texts)), 0.0)


def _polarity(question: TopicQuestion, text: str, near: Near) -> float:
    spoken = [(_spoken(question, part, near), denies) for part, denies in clauses(text, question.negating)]
    if any(words and (denies or _affixed(question, words, near)) for words, denies in spoken):
        return 1.0
    said = frozenset(key for words, _ in spoken for word in words for key in _denied_keys(question, word, near))
    affirmed = 2 * len(said) >= len(question.denied) and not any(denies for _, denies in spoken)
    return -1.0 if said and affirmed else 0.0


def _spoken(question: TopicQuestion, part: str, near: Near) -> list[str]:
    """The words of a clause that speak of what the question denies; the clause, if nothing separates its words."""
    pieces = [part] if is_unspaced(part) else _WORD.findall(part)
    return [piece for piece in pieces if _denied_keys(question, piece, near)]


def _affixed(question: TopicQuestion, words: Sequence[str], near: Near) -> bool:
    """True if one of these words denies by an affix: "unsupported"."""
    return any(bare and _denied_keys(question, bare, near) for bare in map(without_affix, words))


def _denied_keys(question: TopicQuestion, text: str, near: Near) -> frozenset[str]:
    """The keys that the question denies and a text has, exactly or nearly."""
    found, none = frozenset(keys(text, question.analysis)), frozenset[str]()
    return frozenset(key for key in question.denied if key in found or near.get(key, none) & found)
