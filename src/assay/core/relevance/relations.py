"""Who did what is asked: the verb of such a question, and which statements say who did it.

Only for questions that ask who did something ("who wrote …?"), not who somebody is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance.relevance_constants import DOER_WEIGHT
from assay.core.relevance.topic_question import CAPITALIZING, TopicQuestion, is_unspaced, keys, near_keys

_WHO = regex(
    r"(?<!\w)(?:who|wer|qui|quién|quiénes|chi|quem)\s+(?:(?:has|have|had|hat|hatte|haben|a|ont|avait|ha|han|había|"
    r"hanno|heeft)\s+)?(?:first\s+|originally\s+|zuerst\s+)?(?P<verb>[^\W\d_]{3,})",
    re.IGNORECASE,
)
_HAPPENED = regex(
    r"(?:when|where|why|how(?: much)?|by whom|(?:in )?(?:what|which) (?:year|month|day|date|city|town|country))\s+"
    r"(?:was|were|is|are|did|does|do|has|have|had)\s.+\s(?P<verb>[a-z]{3,})[?\s.]*",
    re.IGNORECASE,
)
"""A question about what was done or happened, with its verb at the end: "when was the bridge opened?"."""
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-Я][\w.'’-]+"
_BY = r"(?:by|par|por|pela|pelo|da|dal|dalla|door)"
_BY_SOMEBODY = regex(
    rf"(?<!\w){_BY}\s(?!\w+ing\b|(?:default|hand|means|far|now|then|itself|accident|chance|définition|defecto|"
    r"ejemplo|exemple|esempio)\b)"
)
"""A doer after a passive verb; "by default" and "by using" name nobody."""
_FULL_NAME = regex(rf"(?P<first>{_CAPITAL})\s+(?:(?:van|von|de|da|di|la|le|[A-Z]\.)\s+)?(?P<last>{_CAPITAL})")
_UNFINISHED = frozenset(
    "to please will can could may must should would shall might don't not never let zu para per de di pour à".split()
)
"""Words before a verb that nobody has done: "please write a test"."""
_DONE_BY = regex(
    rf"(?P<told>[^\W\d_]{{3,}})\s+{_BY}\s+(?:[^\W\d_A-Z]+\s+){{0,3}}?{_CAPITAL}"
    rf"|(?<![^\W_]){_CAPITAL}\s+(?:[a-z]+ly\s+|has\s+|had\s+|first\s+)?(?P<verb>[a-zß-ÿ]{{3,}})"
)
"""A verb with the name of who did it."""
_FORMS = (
    "pay paid payment payments, say said, lay laid, buy bought, bring brought, think thought, catch caught, "
    "teach taught, seek sought, fight fought, make made, go went gone, leave left, see saw seen, eat ate eaten, "
    "bringen brachte gebracht, denken dachte gedacht, gehen ging gegangen, stehen stand gestanden"
)
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS.split(", ") for form in forms.split()}
"""The infinitive of verbs whose forms have other consonants."""
_WORD = regex(r"[^\W\d_]{2,}(?:['’]t)?")
_VOWELS = regex(r"[aeiouyäöüéèê]")
_TELLING = regex(r'[:："“„«「『]')
"""What comes before a question that somebody else asked."""


_MARKED_QUESTION = regex(r"\A\W*[^\W\d_]\s?\d{0,3}\s?[:：]\s*")
"""What marks a question in a FAQ: "Q:", "Q 12:"."""


def asks(text: str) -> bool:
    """True if a text is a question and nothing else; one that tells what somebody asked is not."""
    asked = text.rstrip().endswith(("?", "？", "؟"))
    return asked and _TELLING.search(_MARKED_QUESTION.sub("", text, count=1)) is None


def tells_who(question: TopicQuestion, texts: Sequence[str]) -> bool:
    """True if one of the texts may say who did what a question asks: it has the verb as something done, a doer
    ("by"), or a full name.

    Also if the question does not ask that, or its language writes every noun with a capital letter.
    """
    verb = _asked_verb(question.text, question.analysis)
    if not verb or question.negating != question.language or question.language in CAPITALIZING:
        return True
    return is_unspaced(question.text) or any(_may_tell_who(text, verb, question.analysis) for text in texts)


def _may_tell_who(text: str, verb: str, analysis: str) -> bool:
    if _BY_SOMEBODY.search(text) or any(_is_name(name, analysis) for name in _FULL_NAME.finditer(text)):
        return True
    return any(is_done(text, word) for word in _WORD.finditer(text) if same_verb(verb, word[0].casefold(), analysis))


def is_done(text: str, verb: re.Match[str]) -> bool:
    """True if a verb is neither a request, with which a clause begins, nor what somebody is to do."""
    before = _WORD.findall(text[: verb.start()])
    begins = not before or (verb[0].islower() and text[: verb.start()].rstrip().endswith((",", ";", ":")))
    return not begins and before[-1].casefold() not in _UNFINISHED


def _is_name(found: re.Match[str], analysis: str) -> bool:
    """True if two words with a capital may be somebody's name: "SEE ALSO" and "TABLE The" are none."""
    parts = (found["first"], found["last"])
    return not all(map(str.isupper, parts)) and not any(
        stop_terms(analysis).issuperset(keys(w, analysis)) for w in parts
    )


def doers(question: TopicQuestion, texts: Sequence[str]) -> list[float]:
    """What each text gains since it says who did what a question asks: "coined by Anna Berg", "Anna Berg coined"."""
    verb = _asked_verb(question.text, question.analysis) if question.negating == question.language else ""
    return [DOER_WEIGHT if verb and _says_who(text, verb, question.analysis) else 0.0 for text in texts]


def _says_who(text: str, verb: str, analysis: str) -> bool:
    return any(same_verb(verb, match["verb"] or match["told"], analysis) for match in _DONE_BY.finditer(text))


def verb_keys(question: TopicQuestion, text: str) -> frozenset[str]:
    """The key of the question's verb, if a text has another form of it: "written" for "wrote"."""
    verb = _verb(question)
    told = bool(verb) and any(same_verb(verb, word, question.analysis) for word in _words(text))
    return frozenset(keys(verb, question.analysis)) if told else frozenset()


def _verb(question: TopicQuestion) -> str:
    """The verb of a question that asks who did something, or when, where, why or how something happened; else ""."""
    return _asked_verb(question.text, question.analysis) or _happened(question.text, question.analysis)


@lru_cache(maxsize=512)
def _happened(question: str, analysis: str) -> str:
    """The last word of a question when, where, why or how something happened; "" for any other."""
    match = _HAPPENED.fullmatch(question)
    verb = match["verb"] if match and match["verb"].islower() else ""
    return "" if stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


@lru_cache(maxsize=512)
def _asked_verb(question: str, analysis: str) -> str:
    """The verb of a question that asks who did something; "" for any other."""
    match = _WHO.search(question)
    verb = match["verb"] if match and match["verb"].islower() else ""
    return "" if stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


def _words(text: str) -> Iterator[str]:
    return (match[0].casefold() for match in _WORD.finditer(text))


@lru_cache(maxsize=65536)
def same_verb(verb: str, word: str, analysis: str) -> bool:
    """True if a word is a form of a verb, or is made of it: "wrote", "written", "writer"."""
    ours, theirs = keys(verb, analysis), keys(word, analysis)
    if set(ours) & set(theirs) or near_keys(ours, theirs) or _ablaut(verb, word):
        return True
    return _IRREGULAR.get(word, word) == _IRREGULAR.get(verb, verb)


def _ablaut(one: str, other: str) -> bool:
    """True if two words have the same consonants, but for an ending: "sang" and "sung", "schrieb" and "geschrieben".

    They begin alike: "opened" is not "painted".
    """
    first = {_VOWELS.sub("", _bare(word)[:1]) for word in (one, other)}
    if len(first) > 1:
        return False
    short, long = sorted((_consonants(one), _consonants(other)), key=len)
    return len(short) > 1 and long.startswith(short) and set(long[len(short) :]) <= set("nrst")


def _consonants(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", _VOWELS.sub("", _bare(word)).replace("d", "t"))


def _bare(word: str) -> str:
    return word.removeprefix("ge") if len(word) > 5 else word
