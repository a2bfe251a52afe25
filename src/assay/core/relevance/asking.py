"""What a question asks for: the keys of its words, and the kind of thing which answers it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

import msgspec

from assay.core.relevance.statements import analysis_for, is_unspaced, keys
from assay.core.relevance.stopwords import stop_terms

Wanted = Literal["number", "date", "name", "reason", "other"]

ASKING: dict[Wanted, str] = {
    "number": "number of, anzahl der, anzahl von, количество, число, número de, nombre de, "
    "how many, how much, how long, how old, how often, how far, what percentage, what percent, wie viele, "
    "wie viel, wieviel, wieviele, wie lange, wie hoch, wie alt, wie oft, сколько, как долго, 多少, 几, 幾, 多大, 多久, "
    "いくつ, いくら, كم, cuántos, cuántas, cuánto, cuánta, combien, quanti, quante, quanto, quantos, quantas, hoeveel",
    "date": "when, what year, which year, what date, what day, which day, what month, what century, wann, "
    "welchem jahr, welches jahr, "
    "welchem tag, когда, каком году, какого года, 什么时候, 什麼時候, 何时, 何時, 哪一年, 哪年, いつ, "
    "何年, متى, أي عام, "
    "أي سنة, cuándo, qué año, quand, quelle année, quando, che anno, que ano, wanneer, welk jaar",
    "name": "who, whom, whose, where, wer, wem, wen, wessen, wo, wohin, кто, кого, кем, кому, чей, где, куда, 谁, 誰, "
    "哪里, 哪裡, 哪儿, どこ, だれ, أين, quién, quiénes, dónde, qui, où, chi, dove, quem, onde, waar",
    "reason": "why, warum, weshalb, wieso, почему, зачем, 为什么, 為什麼, なぜ, لماذا, por qué, "
    "pourquoi, perché, por que, "
    "waarom",
}
"""By which words each kind is asked for, in the languages of the segmenter; in others a question asks for `other`."""
_CJK_ASKING = re.compile(
    "什么时候|什麼時候|多少|什么|什麼|哪一年|哪年|哪里|哪裡|哪个|哪個|哪些|哪|何时|何時|いくつ|いくら|どこ|だれ|どの|いつ|怎么|怎麼"
    "|如何|为什么|為什麼|なぜ|几|幾|谁|誰|吗|嗎|呢|的|了|是|在|被|和|与|與"
)
_FORMS = [(wanted, form.strip()) for wanted, forms in ASKING.items() for form in forms.split(",")]
_CUES: list[tuple[Wanted, re.Pattern[str]]] = [
    (wanted, re.compile(form if is_unspaced(form) else rf"(?<!\w){form}(?!\w)")) for wanted, form in _FORMS
]
_NAME = re.compile(r"(?<![^\W_])[^\W\d_][\w'’-]*")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question: `keys` of the words which carry its topic, in order, and the `wanted` kind of answer.

    `names` are those of the keys which are written as names or hold digits.
    """

    text: str
    analysis: str
    keys: tuple[str, ...]
    names: frozenset[str]
    wanted: Wanted


@lru_cache(maxsize=512)
def read_question(text: str, about: str = "", beside: str = "") -> Question:
    """Take a question apart.

    `about` are words of the question it is part of, for one which does not say enough. `beside` is a text of the
    documents: their language is told more surely than that of a few words.
    """
    text, about = _plain(text), _plain(about)
    whole = f"{about} {text}".strip()
    analysis = analysis_for(beside or whole)
    stop = stop_terms(analysis) | stop_terms(analysis_for(whole))
    wanted, cue = _wanted(text)
    bare = text.casefold().replace(cue, " ", 1) if cue else text
    said = (key for part in (bare, about) for key in _keys(part, analysis))
    telling = tuple(dict.fromkeys(key for key in said if key not in stop)) or keys(whole, analysis)
    names = _names(text, analysis) | _names(about, analysis)
    return Question(text=whole, analysis=analysis, keys=telling, names=names & set(telling), wanted=wanted)


def _keys(text: str, analysis: str) -> tuple[str, ...]:
    """The keys of a question's words, without those which ask in scripts where nothing parts them from the rest."""
    return keys(_CJK_ASKING.sub(" ", text) if is_unspaced(text) else text, analysis)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _wanted(text: str) -> tuple[Wanted, str]:
    """The kind asked for, and the words which ask for it: the first of such, the longer of two at one place."""
    folded = text.casefold()
    found = [
        (match.start(), -len(match[0]), wanted, match[0]) for wanted, cue in _CUES if (match := cue.search(folded))
    ]
    return min(found)[2:] if found else ("other", "")


def _names(text: str, analysis: str) -> frozenset[str]:
    """Keys of words written with a capital inside the question, or with digits."""
    found = [match[0] for match in _NAME.finditer(text) if match.start() and any(map(str.isupper, match[0]))]
    digits = [word for word in text.split() if any(map(str.isdigit, word))]
    return frozenset(key for word in (*found, *digits) for key in keys(word, analysis))
