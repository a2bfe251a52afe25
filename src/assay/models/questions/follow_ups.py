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
MAX_FRAGMENT_WORDS = 6
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
    number_keys = {key for mention in question.numbered_mentions for key in stems(mention.text)}
    field_keys = question.concept_terms | number_keys
    return list(dict.fromkeys(w for w in question.words if carries_topic(w) and stem(w) not in field_keys))


def restate_follow_up(text: str, earlier_messages: Sequence[ConversationMessage]) -> str:
    """The question with what its pronoun stands for, or with what it leaves out of the question before it ("and in
    2019?"); empty if it needs no context.

    A question with several parts is not changed: a pronoun in one part may stand for something in another.
    """
    question = analyze(text)
    if not earlier_messages or question.mentions or len(question_parts(text)) > 1:
        return ""
    if completed := _fill_in_previous(text, earlier_messages):
        return completed
    if pronoun := _find_pronoun(text):
        subject = _antecedent(pronoun[0].casefold(), earlier_messages)
        return _replace_pronoun(text, pronoun, subject) if subject else ""
    if len(subject_words(question)) > MAX_OWN_WORDS or not (has_pronoun(question) or not subject_words(question)):
        return ""
    subject = _antecedent("", earlier_messages)
    return f"{text.strip().rstrip('?？؟ ')} ({subject})?" if subject else ""


# What a question leaves out: "how many passengers does the Otter carry?" "and the Beaver?"


def _fill_in_previous(text: str, earlier_messages: Sequence[ConversationMessage]) -> str:
    """The question before with its number or last name replaced by this one's; empty if this is a whole question."""
    link = _LINK.match(text)
    fragment = text[link.end() if link else 0 :].strip(" ?？؟.!")
    if (
        not fragment
        or len(fragment.split()) > MAX_FRAGMENT_WORDS
        or _ASKING.intersection(words(fragment))
        or _find_pronoun(fragment)
    ):
        return ""
    has_link = link is not None and bool(link[0].strip())
    before = _previous_question(earlier_messages)
    numbers, own_number = list(_NUMBER.finditer(before)), _NUMBER.search(fragment)
    if own_number and numbers and not _names(fragment, first=True):
        return before[: numbers[-1].start()] + own_number[0] + before[numbers[-1].end() :]
    names = _names(before)
    if not (has_link and names):
        return ""
    thing = fragment[match.end() :] if (match := _LEADING.match(fragment)) else fragment
    if not thing or (own_number and not _names(fragment, first=True)):
        return ""
    target = next((name for name in reversed(names) if _DETERMINED.search(before[: name.start()])), names[-1])
    article = _DETERMINED.search(before[: target.start()])
    own_article = re.search(rf"\b{_ARTICLE}\s+(?={re.escape(thing)}$)", fragment, re.IGNORECASE)
    start = article.start() if article and own_article else target.start()
    return before[:start] + (own_article[0] if article and own_article else "") + thing + before[target.end() :]


def _previous_question(earlier_messages: Sequence[ConversationMessage]) -> str:
    """The last question of the user, itself read by what was said before it."""
    index = next(
        (index for index in range(len(earlier_messages) - 1, -1, -1) if earlier_messages[index].by == "user"), None
    )
    if index is None:
        return ""
    return restate_follow_up(earlier_messages[index].text, earlier_messages[:index]) or earlier_messages[index].text


# What a pronoun stands for


def _find_pronoun(text: str) -> re.Match[str] | None:
    """The first personal pronoun with nothing in the question that it may stand for."""
    for match in _PERSONAL.finditer(text):
        if match[0] in _POLITE and match.start():
            continue
        if match[0].casefold() == "it" and _EMPTY_IT.match(text, match.start()):
            continue
        german = _GERMAN.match(text.strip()) is not None
        earlier_names = [name for name in _names(text) if name.start() < match.start() and not german]
        return None if earlier_names else match
    return None


def _antecedent(pronoun: str, earlier_messages: Sequence[ConversationMessage]) -> str:
    """What a pronoun stands for: what the user last named, else the topic words of the last question that has any."""
    questions: list[str] = []
    for index in range(len(earlier_messages) - 1, -1, -1):
        if earlier_messages[index].by != "user":
            continue
        questions.append(
            restate_follow_up(earlier_messages[index].text, earlier_messages[:index]) or earlier_messages[index].text
        )
        reply = next(
            (
                message.text
                for message in earlier_messages[index + 1 :]
                if message.by == "assistant" and not message.questions
            ),
            "",
        )
        if subject := (pronoun in _OF_PERSONS and _person_asked(questions[-1], reply)) or _thing_asked(questions[-1]):
            return subject
    topics = (" ".join(subject_words(analyze(question))[:MAX_SUBJECT_WORDS]) for question in questions)
    return next(filter(None, topics), "")


def _person_asked(question: str, reply: str) -> str:
    """Who is meant: the one whom "who …?" was answered with, else the one whom the question names."""
    reply_names = [name[0] for name in _names(reply.strip().split("\n", 1)[0], first=True) if len(name[0].split()) > 1]
    question_words = set(words(question))
    if _WHO.search(question) and not _WHO_IS.fullmatch(question.rstrip("?？ ")):
        return next((name for name in reply_names if question_words.isdisjoint(words(name))), "")
    return next(
        (name for name in reply_names if words(name)[-1] in question_words), ""
    )  # this one, in full or in short


def _thing_asked(text: str) -> str:
    """What a question asks about: the documents or quotations in it, else its last name; "" if it has none."""
    question = analyze(text)
    if exact := [*(mention.text for mention in question.mentions), *question.quotations]:
        return ", ".join(exact)
    names = _names(text)
    if not names:
        return ""
    with_article = [name for name in names if _PHRASE.search(text[: name.start()])] or names
    name = with_article[-1]
    phrase = _PHRASE.search(text[: name.start()])
    thing = (phrase[0] if phrase else "") + name[0]
    remainder = text[name.end() :].strip(" ?？.!")
    if (
        remainder
        and len(remainder.split()) == 1
        and _INVERTED.isdisjoint(question.words)
        and not _GERMAN.match(text.strip())
    ):
        return f"{thing} {remainder}"
    return thing


def _names(text: str, *, first: bool = False) -> list[re.Match[str]]:
    """The names in a text; without its first word, which has a capital anyway."""
    opening = None if first else _FIRST_WORD.match(text)
    start = opening.end() if opening else 0
    return list(_NAME.finditer(text, start))


def _replace_pronoun(text: str, pronoun: re.Match[str], subject: str) -> str:
    """The question with a name for its pronoun; one that says whose it is keeps its place in German."""
    stripped = text.strip().rstrip("?？؟ ")
    if not pronoun["owner"]:
        return text[: pronoun.start()] + subject + text[pronoun.end() :]
    if pronoun[0].casefold().startswith(("sein", "ihr")):
        return f"{stripped} ({subject})?"
    return f"{text[: pronoun.start()]}{subject}’s{text[pronoun.end() :]}"
