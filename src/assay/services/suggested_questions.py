"""Questions that a sentence may answer: "What did the board approve?" of "The board approved the budget"."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.core.clean import one_line
from assay.core.document_dates import DATED_ENTRY
from assay.core.function_words import MORE_STOP_WORDS, STOP_WORDS
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.core.text import sentences

MAX_HEADING_CHARS = 120
ARTICLES = frozenset(("the", "a", "an"))
_NO_TERMS = MORE_STOP_WORDS.union(STOP_WORDS["en"].split()) - ARTICLES
"""Words that begin no term: pronouns, and those that begin a clause ("Since this reservation is a …")."""

_DEFINED = regex(r"(?P<what>(?:(?:The|An?) )?[A-Z][\w-]*(?: [\w-]+){0,3}?) (?P<verb>is|are) (?:an?|the) \w")
_DATED = regex(r"(?P<what>The [\w-]+(?: [\w-]+){0,4}?) was (?P<done>\w+(?:ed|ilt|und|lit|un)) (?:in|on) [^.]*\d{4}")
_MONTH = "|".join(sorted({name.capitalize() for name in MONTHS}, key=len, reverse=True))
_TIMED = regex(
    rf"(?P<what>The [\w-]+(?: [\w-]+){{0,3}}?) (?P<verb>is|are|was|were) (?:on|at) (?:\w+day,? )?(?:\d|(?:{_MONTH})\b)"
)
_VALUED = regex(
    r"(?P<what>The [\w-]+(?: [\w-]+){0,3}?) (?P<verb>is|are|was|were) (?:about |at least |up to )?(?:[$€£]?\d|[A-Z])"
)
_VERBS = "accept adopt announce appoint approve elect order present propose recommend reject report request".split()
_DONE = {"agreed": "agree on", **{f"{verb}{'d' if verb.endswith('e') else 'ed'}": verb for verb in _VERBS}}
"""What minutes and letters say that somebody did, with the form it has behind "did"."""
_ACTED = regex(
    rf"(?P<who>The [\w-]+(?: [\w-]+)?|[A-Z]\w+(?: [A-Z]\w+)?) (?P<done>{'|'.join(_DONE)})"
    r" (?:that|the|an?|to|[\d$€£A-Z])"
)
_DECIDED = regex(r"(?:Decision|Decided|Resolved|Resolution|Action|Agreed)(?:: | that )")
_NUMBER = regex(r"\A(?:\d{1,3}(?:\.\d{1,3})*[.)]?|[a-zA-Z][.)])\s+")
_MESSAGE = regex(
    r"[\[(]?[\d/.:, T-]{5,25}(?:[ap]m)?[\])]?(?:\s*[-–])?\s+(?P<who>[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2}): (?P<text>.+)"
)
_NAMED = regex(
    r"\b[Tt]he (?P<what>[a-z]{3,}(?: [a-z]{3,})??)"
    r"(?= (?:is|was|are|were|has|had|in|at|on|from|for|to|by|[a-z]+ed)\b|[.,;:!?]|$)"
)


def passage_questions(text: str, heading: str, *, in_english: bool, is_amount: Callable[[str], bool]) -> Iterator[str]:
    """Questions that a passage may answer; `is_amount` tells words that count and date, and define nothing."""
    if heading.endswith("?") and len(heading) < MAX_HEADING_CHARS:
        yield one_line(heading)
    if not in_english:
        return
    text = one_line(text)
    if DATED_ENTRY.match(text) and (message := _MESSAGE.match(text)):
        if named := _NAMED.search(message["text"]):
            yield f"What did {message['who']} say about the {named['what']}?"
        return
    for sentence in (text[start:end] for start, end in sentences(text)):
        yield from _sentence_questions(sentence, _NUMBER.sub("", heading, count=1), is_amount)


def _sentence_questions(sentence: str, heading: str, is_amount: Callable[[str], bool]) -> Iterator[str]:
    if date_match := _DATED.match(sentence):
        yield f"When was {_lowercase_article(date_match['what'])} {date_match['done']}?"
    elif time_match := _TIMED.match(sentence):
        yield f"When {time_match['verb']} {_lowercase_article(time_match['what'])}?"
    elif (match := _DEFINED.match(sentence) or _VALUED.match(sentence)) and _is_term(match["what"], is_amount):
        yield f"What {match['verb']} {_lowercase_article(match['what'])}?"
    elif act := _ACTED.match(sentence):
        yield f"What did {_lowercase_article(act['who'])} {_DONE[act['done']]}?"
    elif heading and len(heading) < MAX_HEADING_CHARS and _DECIDED.match(sentence):
        yield f"What was decided about “{heading}”?"


def _is_term(term: str, is_amount: Callable[[str], bool]) -> bool:
    """True for what a sentence may define: no pronoun, no beginning of a clause, no amount ("Eleven years are a …")."""
    words = [word for word in term.split() if word.lower() not in ARTICLES]
    return term.split()[0].lower() not in _NO_TERMS and not all(map(is_amount, words))


def _lowercase_article(term: str) -> str:
    """A term as written within a sentence."""
    article, _, noun = term.partition(" ")
    return f"{article.lower()} {noun}" if article in ("The", "A", "An") and noun else term
