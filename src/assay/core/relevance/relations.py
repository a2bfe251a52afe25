"""What a statement says that people did: "directed by Anna Berg" does not say who wrote something, and "the screenplay
of the novel was written by Anna Berg" does not say who wrote the novel.

Read where a language marks who did it: "by", "par", "por", "da", "door", "von … gedreht", or in English a name before
a verb in the past. Only for questions that ask who did something ("who wrote …?"), not who somebody is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from assay.core.lexicon import MONTHS, stop_terms
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
_NAME = rf"(?P<name>{_CAPITAL})(?:\s+(?:(?:van|von|der|den|de|du|da|di|la|le)\s+)?{_CAPITAL})*"
_BE = r"(?:is|are|was|were|be|been|being|est|sont|était|fut|été|es|son|fue|fueron|era|sido|è|fu|stato|stata|é|foi|werd)"
_BY = r"(?:by|par|por|pela|pelo|da|dal|dalla|door)"
_PASSIVE = regex(
    rf"(?:(?<!\w)(?i:{_BE})\s+(?:\w+\s+)?(?P<told>[^\W\d_]{{3,}})"
    rf"|(?<!\w)(?P<reduced>[^\W\d_]+(?:ed|é|ée|és|ées|[ai]do|[ai]da|[aiu]to|[aiu]ta)))"
    rf"\s+{_BY}\s+(?:[^\W\d_A-Z]+\s+){{0,2}}{_NAME}"
)
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
_AFTER = regex(
    rf"\b(?:wurden?|worden|werden|wird)\b[^,;:]*?\bvon\s+(?:[a-zäöüß]+\s+)?{_NAME}\s+(?P<verb>[a-zäöüß]{{3,}}(?:t|en))\b"
)
_ACTIVE = regex(rf"^(?P<name>{_CAPITAL})\s+{_CAPITAL}\s+(?:\w+ly\s+)?(?P<verb>[a-z]{{2,}}ed)\b")
_FORMS = (
    "pay paid payment payments, say said, lay laid, buy bought, bring brought, think thought, catch caught, "
    "teach taught, seek sought, fight fought, make made, go went gone, leave left, see saw seen, eat ate eaten, "
    "bringen brachte gebracht, denken dachte gedacht, gehen ging gegangen, stehen stand gestanden"
)
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS.split(", ") for form in forms.split()}
"""The infinitive of verbs whose forms have other consonants."""
_WORD = regex(r"[^\W\d_]{2,}(?:['’]t)?")
_VOWELS = regex(r"[aeiouyäöüéèê]")
_SUBJECT = regex(
    r"(?<!\w)(?i:the|its|his|her|their|der|die|das|el|la|los|las|le|les|il|lo|gli|os?|as?)\s+(?:[a-zß-ÿ]+\s+){0,2}?"
    rf"(?P<noun>[^\W\d_]{{3,}})\s+(?:(?:(?:has|have|had|a|ont|avait|ha|han)\s+)?(?i:{_BE})\s+(?:\w+\s+)?"
    rf"(?P<told>[^\W\d_]{{3,}})\s+{_BY}\b"
    r"|wurden?\s+von\s[^,;:]*?\s(?P<verb>[a-zäöüß]{3,}(?:t|en))\b)"
)
"""What something was done to: "the screenplay was written by …"."""
_CREDITED = regex(rf"(?<!\w)([^\W\d_]{{3,}})\s+(?:{_BY}|von|de|di|van)\s+{_NAME}")
"""A thing with the name of somebody whose it is: "the novel by Carl Dorn"."""
_TELLING = regex(r'[:："“„«「『]')
"""What comes before a question that somebody else asked."""


_MARKED_QUESTION = regex(r"\A\W*[^\W\d_]\s?\d{0,3}\s?[:：]\s*")
"""What marks a question in a FAQ: "Q:", "Q 12:"."""


def asks(text: str) -> bool:
    """True if a text is a question and nothing else; one that tells what somebody asked is not."""
    asked = text.rstrip().endswith(("?", "？", "؟"))
    return asked and _TELLING.search(_MARKED_QUESTION.sub("", text, count=1)) is None


def says_other(question: TopicQuestion, text: str) -> bool:
    """True if a text says that people did something, and nowhere has the verb that the question asks for, or says it of
    something else.

    False if the question does not ask who did something, or is in another language than the text.
    """
    verb = _asked_verb(question.text, question.analysis) if question.negating == question.language else ""
    said = sum(same_verb(verb, word, question.analysis) for word in _words(text)) if verb else 0
    if said:
        return said == 1 and _of_another(question, verb, text)
    return bool(verb) and any(_done(text))


def of_other_things(question: TopicQuestion, texts: Sequence[str], documents: Sequence[Collection[str]]) -> list[bool]:
    """True for each text that says the question's verb in a document with nothing else of the question, while another
    document has some of it: "it was opened in 2010" of a shop, if a bridge is asked about.

    `documents` are the keys of the question that the document of each text has.
    """
    verb = _verb(question)
    own = set(keys(verb, question.analysis)) if verb and question.negating == question.language else set[str]()
    rest = set(question.keys) - own if own else set[str]()
    if all(rest.isdisjoint(each) for each in documents):
        return [False] * len(texts)
    return [
        rest.isdisjoint(known) and any(same_verb(verb, word, question.analysis) for word in _words(text))
        for text, known in zip(texts, documents, strict=True)
    ]


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


def _of_another(question: TopicQuestion, verb: str, text: str) -> bool:
    """True if a text says the verb of one thing, and names the thing that the question asks about as another.

    "The screenplay was written by A, after the novel" does not say who wrote the novel, "…, the novel by B" does. If
    the text does not name it, "the book" may be the novel in another word.
    """
    analysis = question.analysis
    wanted = _asked_object(question.text, analysis)
    found = _SUBJECT.search(text)
    if not wanted or found is None or not same_verb(verb, found["told"] or found["verb"], analysis):
        return False
    own = set(keys(found["noun"], analysis))
    name = found["noun"][0].isupper() and not found["verb"]
    if name or own & wanted or near_keys(own, wanted):
        return False
    rest = text[: found.start("noun")] + text[found.end("noun") :]
    credited = (keys(match[1], analysis) for match in _CREDITED.finditer(rest))
    return wanted <= set(keys(rest, analysis)) and wanted.isdisjoint(key for each in credited for key in each)


@lru_cache(maxsize=512)
def _asked_object(question: str, analysis: str) -> frozenset[str]:
    """The keys of what somebody did something to, without what describes it further: "the novel" on which a film …."""
    match = _WHO.search(question)
    stop, wanted = stop_terms(analysis), list[str]()
    for word in re.findall(r"[^\W_]+|[^\w\s]", question[match.end() :] if match else ""):
        own = keys(word, analysis)
        if not stop.issuperset(own) and own and not word[0].isdigit():
            wanted += own
        elif wanted:
            break
    return frozenset(wanted)


@lru_cache(maxsize=512)
def _asked_verb(question: str, analysis: str) -> str:
    """The verb of a question that asks who did something; "" for any other."""
    match = _WHO.search(question)
    verb = match["verb"] if match and match["verb"].islower() else ""
    return "" if stop_terms(analysis).issuperset(keys(verb, analysis)) else verb


def _done(text: str) -> Iterator[str]:
    """The verbs that a text says of people."""
    for match in _PASSIVE.finditer(text):
        if match["name"].casefold() not in MONTHS:
            yield match["told"] or match["reduced"]
    for pattern in (_AFTER, _ACTIVE):
        for match in pattern.finditer(text):
            yield match["verb"]


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
