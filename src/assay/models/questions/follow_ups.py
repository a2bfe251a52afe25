"""Reads a question by what was said before it: what its pronoun stands for, and what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core.brief import ConversationMessage
from assay.core.lazy import regex
from assay.core.lexicon import stem
from assay.core.text import words
from assay.models.questions.question import ParsedQuestion, analyze, has_pronoun, question_parts
from assay.models.questions.words import OPENERS, carries_topic, stems

MAX_SUBJECT_WORDS = 4
"""The most words of an earlier question that stand for a pronoun, if it names nothing."""
MAX_OWN_WORDS = 1
"""The number of own words from which a question without a personal pronoun needs no context."""
LONGEST_FRAGMENT = 6
"""The most words of a question without a verb: "and in 2019?"."""

_CAPITAL = r"[A-ZÀ-ÖØ-ÞА-ЯЁ]"
_NAME = regex(rf"(?<![\w’'-]){_CAPITAL}[\w-]*(?:[\w’'.&-]*\s+(?:(?:de|la|van|von|of|du|der)\s+)?{_CAPITAL}[\w-]*)*")
"""Words with capitals in a row."""
_FIRST_WORD = regex(r"\W*\w+")
_ARTICLE = r"(?:the|an?|der|die|das|den|dem|des|eine?[rnms]?)"
_DETERMINED = regex(rf"\b{_ARTICLE}\s+$", re.IGNORECASE)
_PHRASE = regex(r"\b(?:the|der|die|das)\s+(?:[a-zß-öø-ÿ-]+\s+){0,3}$")
"""The beginning of a phrase that ends with a name: "the bridge of"."""
_GERMAN = regex(r"\b(?:wer|wen|wem|wann|wo|wie|was|warum|wieso|welche[rsmn]?|und|der|die|das)\b", re.IGNORECASE)
_WHO = regex(r"\b(?:who|whom|wer|wen|wem|кто|кого)\b", re.IGNORECASE)
_WHO_IS = regex(
    rf"\W*(?:who|wer)\s+(?:is|was|are|were|ist|war|sind|waren)\s+(?!{_ARTICLE}\s)(?:\S+\s*){{1,4}}", re.IGNORECASE
)
_INVERTED = frozenset("do does did is are was were has have had can could will would should may must".split())
"""English verbs that stand before the subject of a question: its last word is then a verb too."""

_PERSONAL = regex(
    r"\b(?:(?P<owner>(?:his|its|their|(?i:sein|ihr)(?:e[rsmn]?)?(?=\s+[A-ZÄÖÜ])|her(?=\s+(?!in\b|at\b|on\b|as\b|by\b)[a-z])))"
    r"|he|him|she|her|hers|it|they|them|er|ihn|ihm|sie|ihr|ihnen)\b",
    re.IGNORECASE,
)
_POLITE = frozenset(("Sie", "Ihr", "Ihnen", "Ihre", "Ihren", "Ihrer", "Ihrem", "Ihres"))
_OF_PERSONS = frozenset(
    "he him his she her hers er ihn ihm sie ihr sein seine seinen seiner seinem ihre ihren ihrer".split()
)
_EMPTY_IT = regex(r"\bit\b[^?]*?\b(?:that|to|if|whether|when)\b", re.IGNORECASE)
"""An "it" that stands for what follows: "is it true that …", "how long does it take to …"."""

_LINK = regex(
    r"^\W*(?:(?:and|but|or|und|aber|oder|et|y|и|а)\b\s*)?"
    r"(?:(?:what|how)\s+about\b|was\s+ist\s+mit\b|wie\s+(?:ist|sieht)\s+es\s+(?:mit|bei)\b)?\s*",
    re.IGNORECASE,
)
"""What joins a question to the one before it."""
_LEADING = regex(
    rf"^(?:(?:in|on|at|for|of|by|from|im|am|bei|beim|für|von|vom|mit|zu)\s+)?(?:{_ARTICLE}\s+)?", re.IGNORECASE
)
_ASKING = OPENERS - {"in"}
_NUMBER = regex(r"\d[\d.,/-]*(?<=\d)")


def subject_words(question: ParsedQuestion) -> list[str]:
    """The words that carry the topic, without those that ask for a field."""
    numbering = {key for mention in question.numbered_mentions for key in stems(mention.text)}
    asking = question.concept_terms | numbering
    return list(dict.fromkeys(w for w in question.words if carries_topic(w) and stem(w) not in asking))


def restate_follow_up(text: str, said: Sequence[ConversationMessage]) -> str:
    """The question with what its pronoun stands for, or with what it leaves out of the question before it ("and in
    2019?"); empty if it needs no context.

    A question with several parts is not changed: a pronoun in one part may stand for something in another.
    """
    question = analyze(text)
    if not said or question.mentions or len(question_parts(text)) > 1:
        return ""
    if whole := _fill_in_previous(text, said):
        return whole
    if pronoun := _find_pronoun(text):
        subject = _antecedent(pronoun[0].casefold(), said)
        return _replace_pronoun(text, pronoun, subject) if subject else ""
    if len(subject_words(question)) > MAX_OWN_WORDS or not (has_pronoun(question) or not subject_words(question)):
        return ""
    subject = _antecedent("", said)
    return f"{text.strip().rstrip('?？؟ ')} ({subject})?" if subject else ""


# What a question leaves out: "how many passengers does the Otter carry?" "and the Beaver?"


def _fill_in_previous(text: str, said: Sequence[ConversationMessage]) -> str:
    """The question before with its number or last name replaced by this one's; empty if this is a whole question."""
    link = _LINK.match(text)
    own = text[link.end() if link else 0 :].strip(" ?？؟.!")
    if not own or len(own.split()) > LONGEST_FRAGMENT or _ASKING.intersection(words(own)) or _find_pronoun(own):
        return ""
    joined = link is not None and bool(link[0].strip())
    before = _previous_question(said)
    numbers, here = list(_NUMBER.finditer(before)), _NUMBER.search(own)
    if here and numbers and not _names(own, first=True):
        return before[: numbers[-1].start()] + here[0] + before[numbers[-1].end() :]
    names = _names(before)
    if not (joined and names):
        return ""
    thing = own[match.end() :] if (match := _LEADING.match(own)) else own
    if not thing or (here and not _names(own, first=True)):
        return ""
    at = next((name for name in reversed(names) if _DETERMINED.search(before[: name.start()])), names[-1])
    article = _DETERMINED.search(before[: at.start()])
    own_article = re.search(rf"\b{_ARTICLE}\s+(?={re.escape(thing)}$)", own, re.IGNORECASE)
    start = article.start() if article and own_article else at.start()
    return before[:start] + (own_article[0] if article and own_article else "") + thing + before[at.end() :]


def _previous_question(said: Sequence[ConversationMessage]) -> str:
    """The last question of the user, itself read by what was said before it."""
    at = next((at for at in range(len(said) - 1, -1, -1) if said[at].by == "user"), None)
    if at is None:
        return ""
    return restate_follow_up(said[at].text, said[:at]) or said[at].text


# What a pronoun stands for


def _find_pronoun(text: str) -> re.Match[str] | None:
    """The first personal pronoun with nothing in the question that it may stand for."""
    for match in _PERSONAL.finditer(text):
        if match[0] in _POLITE and match.start():
            continue
        if match[0].casefold() == "it" and _EMPTY_IT.match(text, match.start()):
            continue
        german = _GERMAN.match(text.strip()) is not None
        named = [name for name in _names(text) if name.start() < match.start() and not german]
        return None if named else match
    return None


def _antecedent(pronoun: str, said: Sequence[ConversationMessage]) -> str:
    """What a pronoun stands for: what the user last named, else the topic words of the last question that has any."""
    asked: list[str] = []
    for at in range(len(said) - 1, -1, -1):
        if said[at].by != "user":
            continue
        asked.append(restate_follow_up(said[at].text, said[:at]) or said[at].text)
        reply = next((each.text for each in said[at + 1 :] if each.by == "assistant" and not each.questions), "")
        if found := (pronoun in _OF_PERSONS and _person_asked(asked[-1], reply)) or _thing_asked(asked[-1]):
            return found
    told = (" ".join(subject_words(analyze(each))[:MAX_SUBJECT_WORDS]) for each in asked)
    return next(filter(None, told), "")


def _person_asked(asked: str, reply: str) -> str:
    """Who is meant: the one whom "who …?" was answered with, else the one whom the question names."""
    told = [name[0] for name in _names(reply.strip().split("\n", 1)[0], first=True) if len(name[0].split()) > 1]
    known = set(words(asked))
    if _WHO.search(asked) and not _WHO_IS.fullmatch(asked.rstrip("?？ ")):
        return next((name for name in told if known.isdisjoint(words(name))), "")
    return next((name for name in told if words(name)[-1] in known), "")  # this one, in full or in short


def _thing_asked(asked: str) -> str:
    """What a question asks about: the documents or quotations in it, else its last name; "" if it has none."""
    question = analyze(asked)
    if exact := [*(mention.text for mention in question.mentions), *question.quoted]:
        return ", ".join(exact)
    names = _names(asked)
    if not names:
        return ""
    determined = [name for name in names if _PHRASE.search(asked[: name.start()])] or names
    name = determined[-1]
    phrase = _PHRASE.search(asked[: name.start()])
    found = (phrase[0] if phrase else "") + name[0]
    more = asked[name.end() :].strip(" ?？.!")
    if more and len(more.split()) == 1 and _INVERTED.isdisjoint(question.words) and not _GERMAN.match(asked.strip()):
        return f"{found} {more}"
    return found


def _names(text: str, *, first: bool = False) -> list[re.Match[str]]:
    """The names in a text; without its first word, which has a capital anyway."""
    opening = None if first else _FIRST_WORD.match(text)
    start = opening.end() if opening else 0
    return list(_NAME.finditer(text, start))


def _replace_pronoun(text: str, pronoun: re.Match[str], subject: str) -> str:
    """The question with a name for its pronoun; one that says whose it is keeps its place in German."""
    whole = text.strip().rstrip("?？؟ ")
    if not pronoun["owner"]:
        return text[: pronoun.start()] + subject + text[pronoun.end() :]
    if pronoun[0].casefold().startswith(("sein", "ihr")):
        return f"{whole} ({subject})?"
    return f"{text[: pronoun.start()]}{subject}’s{text[pronoun.end() :]}"
