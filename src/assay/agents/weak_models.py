"""What weak models do: they copy their instructions, repeat their calls, and overlook what they are shown.

No rule here concerns a reply in the model's own words about the question.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.core.languages import detect_language
from assay.core.lexicon import clauses, stop_terms, terms
from assay.core.messages import ToolCall
from assay.core.relevance.scores import judge
from assay.core.relevance.topic_question import QuotableStatement, analysis_for, read_question
from assay.core.text import sentences, words
from assay.evidence.ledger import Ledger

COPIED_RUN = 4
"""Words in a row that count as copied. By hand: shorter rows ("each with its date") are in honest tasks too."""
COPIED_SHARE = 0.5
"""The share of a text's words in such rows that makes it a copy. By hand."""


def is_copied(text: str, prompt: str, topic: str) -> bool:
    """True if at least half of `text` is word for word from `prompt`, and the text is not about `topic`.

    It is if it has words of `topic` that are not in `prompt`, or if most of what it copies is in `topic` too.
    """
    text_words, topic_words = words(text), set(words(topic))
    copied = _positions_in_runs(text_words, _runs_of(prompt))
    if not copied or len(copied) < COPIED_SHARE * len(text_words):
        return False
    analysis = analysis_for(topic)
    own_terms = set(terms(text, analysis)) - stop_terms(analysis) - set(terms(prompt, analysis))
    if own_terms.intersection(terms(topic, analysis)):
        return False
    return sum(text_words[position] in topic_words for position in copied) < COPIED_SHARE * len(copied)


def is_copied_query(call: ToolCall, prompt: str, topic: str) -> bool:
    """True if a call's query is copied from `prompt`."""
    return is_copied(str(call.arguments.get("query", "")), prompt, topic)


def is_copied_statement(text: str, prompt: str, topic: str) -> bool:
    """True if what `text` states is copied; `prompt` also says how to word that nothing was found."""
    return is_copied(" ".join(stated_sentences(text)), prompt, topic)


def _positions_in_runs(text_words: Sequence[str], runs: frozenset[tuple[str, ...]]) -> set[int]:
    return {
        position
        for start, run in enumerate(_every_run(text_words))
        if run in runs
        for position in range(start, start + COPIED_RUN)
    }


@functools.lru_cache(maxsize=32)
def _runs_of(prompt: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_every_run(words(prompt)))


def _every_run(text_words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(text_words[offset:] for offset in range(COPIED_RUN)), strict=False)


MAX_REPEATED_TURNS = 2
"""Turns of an agent that only repeat calls, with the answers they had; the first may be another try."""


class CallRecord:
    """The calls of an agent so far with their answers, and how many turns in a row only repeated earlier ones."""

    def __init__(self) -> None:
        self._calls: set[bytes] = set()
        self.repeated_turns = 0

    def add_turn(self, calls: Iterable[tuple[ToolCall, str]]) -> None:
        """Add the calls of a turn, each with its answer: a service that failed may have another."""
        turn_calls = {
            msgspec.json.encode((call.name, call.arguments, answer), order="deterministic") for call, answer in calls
        }
        self.repeated_turns = self.repeated_turns + 1 if turn_calls <= self._calls else 0
        self._calls |= turn_calls

    @property
    def is_stuck(self) -> bool:
        """True if the last turns only repeated calls."""
        return self.repeated_turns >= MAX_REPEATED_TURNS


MIN_NEW_WORDS, SHARED_WORDS_SHARE = 2, 0.6
"""Words a sentence must have beyond its task, and the share of them that must be in one passage. By hand."""


def mentions_passages(text: str, topic: str, ledger: Ledger) -> bool:
    """True if a text says something about the passages shown: words of a sentence, beyond `topic`, are in one."""
    topic_words = set(words(topic))
    return any(_is_in_passages(set(words(text[start:end])) - topic_words, ledger) for start, end in sentences(text))


def _is_in_passages(new: set[str], ledger: Ledger) -> bool:
    if len(new) < MIN_NEW_WORDS:
        return False
    nearest = ledger.recall(" ".join(new), 3)
    return any(len(new & set(words(passage.text))) >= len(new) * SHARED_WORDS_SHARE for passage in nearest)


def states(text: str) -> bool:
    """True if a text states something: it has words, and no negation, as one that says that nothing was found."""
    return bool(words(text)) and not any(denied for _clause, denied in clauses(text, detect_language(text)))


def stated_sentences(text: str) -> list[str]:
    """The sentences of a text that state something."""
    return [text[start:end] for start, end in sentences(text) if states(text[start:end])]


MAX_JUDGED_PASSAGES = 8
"""The nearest passages in which an answer is looked for."""


def may_answer(question: str, ledger: Ledger) -> bool:
    """True if a passage in `ledger` answers `question`, judging by its words."""
    passages = ledger.recall(question, MAX_JUDGED_PASSAGES)
    statements = [
        QuotableStatement(
            text=passage.text[start:end],
            source=rank,
            label=passage.label,
            heading=" ".join((*passage.heading[-1:], passage.lead)),
        )
        for rank, passage in enumerate(passages)
        for start, end in sentences(passage.text)
    ]
    document_text = "\n".join(passage.text for passage in passages)
    return judge(read_question(question, document_text=document_text), statements).is_answered()
