"""Checks whether the numbers, dates and the like of a claim are in the cited evidence, about the same thing.

Digits count strictly. Two kinds of token count as missing only if the evidence says something else in their place,
because their mere absence says nothing (measured on 9,000 claims with human labels, of which 67 % were unsupported:
absent digits 81 %, percentages 92 %, but small number words 64 % and names such as COVID-19 70 %). These are number
words, if the evidence counts the same thing differently, and names with digits, if it has the same letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.core.tables.cells import ReadTable
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Literal, Token
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.computed_figures import recompute
from assay.verify.evidence import (
    ClaimSlot,
    EvidenceSpan,
    Outcome,
    SlotContext,
    SlotFinding,
    SlotFit,
    bind_slot,
    conflict_finding,
    slot_context,
)
from assay.verify.figures import entails
from assay.verify.number_matches import could_replace, has_year, may_be_another_year, states

# Set with `bench mutations --part train` (docs/verification.md, Mutations).

FITS, RATIO = 0.7, 1.1
"""How well another value must fit its place, and how many times as well as the claim's, to be the one meant."""
OTHER_SUBJECT = 0.35
"""How well, if the passage of the other value names the claim's subject and that of the claim's value does not."""
EXCHANGED = 1.04
"""How many times as well two numbers of the claim must fit when exchanged."""
SAID = 0.5
"""How well a value must fit to be shown as what the evidence says, if the claim's value is not there at all."""
MAX_COMPARISONS = 1_000_000
"""The product of numbers in the claim, numbers in the evidence and words in the claim. Above it, which would take
seconds and is no sentence, only the presence of the numbers counts.
"""


class _ComparedNumbers(msgspec.Struct, frozen=True):
    """The things compared: the claim's numbers with the words around each, and the evidence's numbers."""

    claim: AnalyzedText
    texts: Texts
    tables: Callable[[], Sequence[ReadTable]]
    contexts: dict[int, SlotContext]
    evidence_tokens: dict[EvidenceSpan, Token]
    stating_spans: dict[int, frozenset[EvidenceSpan]]
    fits: dict[tuple[int, EvidenceSpan], float]
    is_weighed: bool

    def is_taken(self, span: EvidenceSpan, index: int) -> bool:
        """True if another number of the claim states the value at `span`, and fits there at least as well."""
        rivals = [rival for rival, spans in self.stating_spans.items() if rival != index and span in spans]
        return any(self.fit(rival, span) >= self.fit(index, span) for rival in rivals)

    def exchanged_place(self, index: int) -> EvidenceSpan | None:
        """The place of another slot's number, if the two fit better when exchanged; else None."""
        if not self.is_weighed:
            return None
        mine = self.best_place(index)
        for other in self.stating_spans:
            theirs = self.best_place(other)
            if (
                other == index
                or mine is None
                or theirs is None
                or self.stating_spans[other] & self.stating_spans[index]
            ):
                continue
            current_fit = self.fit(index, mine) + self.fit(other, theirs)
            exchanged_fit = self.fit(index, theirs) + self.fit(other, mine)
            if exchanged_fit > EXCHANGED * current_fit and exchanged_fit / 2 >= SAID and self._are_alike(index, other):
                return theirs
        return None

    def fit(self, index: int, span: EvidenceSpan) -> float:
        """How well the words around a slot fit a place."""
        value = self.fits.get((index, span))
        if value is None:
            value = self.fits[index, span] = self.contexts[index].fit(self.texts.readings, span)
        return value

    def best_place(self, index: int) -> EvidenceSpan | None:
        """The place of the slot's value that fits best."""
        return max(self.stating_spans[index], key=lambda place: self.fit(index, place), default=None)

    def _are_alike(self, index: int, other: int) -> bool:
        first, second = self.claim.words[index].token, self.claim.words[other].token
        return first is not None and second is not None and could_replace(first, second)


def find(claim: AnalyzedText, texts: Texts, tables: Callable[[], Sequence[ReadTable]] = tuple) -> Iterator[SlotFinding]:
    """A finding for each number, date, or token with digits in the claim; `tables` reads the whole cited tables."""
    indices = [index for index, word in enumerate(claim.words) if word.token and not _is_list_sign(claim, index)]
    if not indices:
        return
    evidence_tokens = {
        EvidenceSpan(passage, index): word.token
        for passage, reading in enumerate(texts.readings)
        for index, word in enumerate(reading.words)
        if word.token
    }
    every = tuple(evidence_tokens.values())
    stating_spans = {index: _places_stating(claim.words[index], evidence_tokens, every) for index in indices}
    is_weighed = len(indices) * len(evidence_tokens) * len(claim.words) <= MAX_COMPARISONS
    contexts = {index: slot_context(claim, (index,)) for index in indices}
    compared = _ComparedNumbers(claim, texts, tables, contexts, evidence_tokens, stating_spans, {}, is_weighed)
    for index in indices:
        yield _find(compared, index)


def _places_stating(
    word: Word, evidence_tokens: Mapping[EvidenceSpan, Token], every: Sequence[Token]
) -> frozenset[EvidenceSpan]:
    token = word.token
    return frozenset(
        span for span, evidence_token in evidence_tokens.items() if token and states(evidence_token, token, every)
    )


def _find(compared: _ComparedNumbers, index: int) -> SlotFinding:
    claim, texts, stating_spans = compared.claim, compared.texts, compared.stating_spans[index]
    token = claim.words[index].token
    assert token is not None  # only words with a token get here
    if not stating_spans and _is_written_otherwise(claim.plain.text, token, texts):
        return _finding(claim, index, texts, "stated", None, veto=False)
    other_spans = (
        span
        for span, evidence_token in (compared.evidence_tokens.items() if compared.is_weighed else ())
        if span not in stating_spans and could_replace(token, evidence_token) and not compared.is_taken(span, index)
    )
    slot_fit = bind_slot(
        compared.contexts[index], texts.readings, (*stating_spans, *other_spans), stating_spans.__contains__
    )
    if stating_spans:
        misfit = slot_fit.conflicts(at_least=_required_fit(compared, slot_fit), ratio=RATIO)
        conflicting_span = slot_fit.other if misfit else compared.exchanged_place(index)
        if conflicting_span is None and (unclear_span := _unclear_year(compared, index)):
            word = claim.words[index]
            slot = ClaimSlot(claim.plain.text[word.start : word.end], *claim.origin(index, index))
            return replace(conflict_finding("date", slot, texts, unclear_span), veto=False)
        outcome: Outcome = "conflict" if conflicting_span else "stated"
        return _finding(
            claim, index, texts, outcome, conflicting_span or slot_fit.same, veto=conflicting_span is not None
        )
    if isinstance(token, Amount) and (formula := recompute(claim, token, texts, compared.tables)):
        slot = ClaimSlot(token.text, *claim.origin(index, index))
        return SlotFinding(rule="derived", slot=slot, outcome="stated", said=formula)
    instead = slot_fit.other if slot_fit.misfits >= SAID else None
    is_spared = _is_spared(claim, index, texts) or (instead is None and _is_loose(claim, index, texts))
    veto = not (is_spared or _is_entailed(compared, token, instead))
    span = instead if veto else None
    return _finding(claim, index, texts, "conflict" if span else "absent", span, veto=veto)


def _unclear_year(compared: _ComparedNumbers, index: int) -> EvidenceSpan | None:
    """The place of a fiscal year for a calendar year of that number, or the reverse, if no other place fits as well."""
    token, readings = compared.claim.words[index].token, compared.texts.readings
    assert token is not None  # only words with a token get here
    is_unclear = {
        span: may_be_another_year(token, compared.evidence_tokens[span]) for span in compared.stating_spans[index]
    }
    if not any(is_unclear.values()):
        return None
    slot_fit = bind_slot(compared.contexts[index], readings, is_unclear, lambda span: not is_unclear[span])
    return slot_fit.other if slot_fit.same is None or slot_fit.misfits > RATIO * slot_fit.fits else None


def _is_entailed(compared: _ComparedNumbers, token: Token, instead: EvidenceSpan | None) -> bool:
    """True if the value in its place is beyond its bound: "over 100,000" if it says 757,000."""
    evidence_token = compared.evidence_tokens[instead] if instead else None
    return isinstance(token, Amount) and isinstance(evidence_token, Amount) and entails(token, evidence_token)


def _required_fit(compared: _ComparedNumbers, slot_fit: SlotFit) -> float:
    """How well another value must fit: less if only its passage names the claim's subject."""
    if slot_fit.same is None or slot_fit.other is None or slot_fit.same.passage == slot_fit.other.passage:
        return FITS
    subjects = {word.key for word in compared.claim.words if word.kind == "name"}
    same_keys, other_keys = (
        compared.texts.readings[span.passage].places.keys() for span in (slot_fit.same, slot_fit.other)
    )
    return OTHER_SUBJECT if subjects & other_keys and not subjects & same_keys else FITS


def _finding(
    claim: AnalyzedText, index: int, texts: Texts, outcome: Outcome, span: EvidenceSpan | None, *, veto: bool
) -> SlotFinding:
    """The finding for a slot; `span` is about it, with the same value or another."""
    token = claim.words[index].token
    assert token is not None  # only words with a token get here
    start, end = claim.origin(index, index)
    text = texts.readings[span.passage].words[span.index].text if span else ""
    return SlotFinding(
        rule="date" if isinstance(token, Day) or (isinstance(token, Amount) and token.year) else "number",
        slot=ClaimSlot(token.text, start, end),
        outcome=outcome,
        said=text if text != token.text else "",
        passage=texts.passages[span.passage] if span else "",
        veto=veto,
    )


def _is_list_sign(claim: AnalyzedText, index: int) -> bool:
    """True if the number only counts a list item: "1." at the start of the text, or after a colon."""
    word = claim.words[index]
    after = claim.plain.text[word.end : word.end + 2]
    first = index == 0 or claim.words[index - 1].text in {":", ";"} or claim.words[index - 1].sentence != word.sentence
    return first and word.text.isdecimal() and len(word.text) <= 2 and after in {". ", ") "}


def _is_spared(analyzed_claim: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if the absence of a token says nothing: see above."""
    token, claim = analyzed_claim.words[index].token, analyzed_claim.plain.text
    assert token is not None  # only words with a token get here
    if isinstance(token, Amount) and token.word and not (token.ordinal or token.terms):
        return not _counts_same_thing(claim, token, texts)
    letters = _letters(claim, token)
    return letters != "" and not any(
        re.fullmatch(rf"{letters}s?\d*", word) for reading in texts.readings for word in _vocabulary(reading.plain.text)
    )


_TELLS_APART = regex(r" ?[^\W\d_]{3,15} ?\)")


def _is_loose(analyzed_claim: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if a number may be missing without a replacement: a fraction, or a part of a name."""
    token = analyzed_claim.words[index].token
    return (isinstance(token, Amount) and token.terms != ()) or _is_part_of_name(analyzed_claim, index, texts)


def _is_part_of_name(analyzed_claim: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if a number only distinguishes things with the same name: "the 14th Dalai Lama", "Australia (2008 film)".

    It does if the evidence has another ordinal before that name, or any before what an ordinal in words counts.
    """
    token, claim = analyzed_claim.words[index].token, analyzed_claim.plain.text
    if not isinstance(token, Amount):
        return False
    if not token.ordinal:
        return claim[: token.start].rstrip().endswith("(") and _TELLS_APART.match(claim, token.end) is not None
    after = analyzed_claim.words[index + 1] if index + 1 < len(analyzed_claim.words) else None
    is_name = after is not None and after.kind == "name" and texts.has(after.key)
    return (is_name or token.word) and not any(
        isinstance(word.token, Amount) and word.token.ordinal and (token.word or (after and next_word.key == after.key))
        for reading in texts.readings
        for word, next_word in _neighbours(reading)
    )


def _counts_same_thing(claim: str, token: Amount, texts: Texts) -> bool:
    """True if the evidence counts what `token` counts: another number before the same word."""
    noun = re.match(r"[ -]([^\W\d_]{3,})", claim[token.end :])
    if noun is None:
        return token.units != ("",)
    stem = noun[1].removesuffix("s").lower()
    return any(
        word.token is not None and isinstance(word.token, Amount) and next_word.text.lower().startswith(stem)
        for reading in texts.readings
        for word, next_word in _neighbours(reading)
    )


def _neighbours(reading: AnalyzedText) -> Iterator[tuple[Word, Word]]:
    return ((first, second) for first, second in pairwise(word for word in reading.words if word.text != "-"))


def _letters(claim: str, token: Token) -> str:
    """The letters of a name with digits: "covid" of COVID-19, "sha" of SHA256; empty if it is not such a name."""
    if isinstance(token, Literal):
        match = re.match(r"(?!v\d)[^\W\d_]+", token.text)
    elif isinstance(token, Amount):
        match = re.search(r"[^\W\d_]{2,}(?=-$)", claim[: token.start])
    else:
        match = None
    return match[0].lower() if match else ""


def _is_written_otherwise(claim: str, token: Token, texts: Texts) -> bool:
    return _is_written(claim, token, texts) or _is_named(claim, token, texts.names) or _has_month_and_year(token, texts)


def _is_written(claim: str, token: Token, texts: Texts) -> bool:
    """True if a token such as ERC20 is there in parts ("ERC-20"), or the other way round."""
    if isinstance(token, Day):
        return False
    letters = _letters(claim, token) if isinstance(token, Amount) else ""
    if isinstance(token, Amount) and not letters:
        return False
    joined = letters + "".join(words(token.text)).lower()
    return any(joined in _vocabulary(reading.plain.text) for reading in texts.readings)


def _has_month_and_year(token: Token, texts: Texts) -> bool:
    """True if month and year of a date without a day are in one text, apart: "through October", and 2007."""
    if not isinstance(token, Day) or token.day or not (token.month and token.year):
        return False
    return any(
        any(MONTHS.get(word.text.lower()) == token.month and word.text[0].isupper() for word in reading.words)
        and has_year(token.year, [word.token for word in reading.words if word.token])
        for reading in texts.readings
    )


@lru_cache(maxsize=64)
def _vocabulary(text: str) -> frozenset[str]:
    """Words, and pairs of neighbours joined: "ERC-20" counts as "ERC20" too. Cached, since every token needs it."""
    word_list = words(text)
    return frozenset((*word_list, *(first + second for first, second in pairwise(word_list))))


def _is_named(claim: str, token: Token, names: Sequence[Sequence[str]]) -> bool:
    """True if `token`, with the word before it if it is a number, is a part of one of `names`."""
    if isinstance(token, Day):
        return False
    token_words = words(token.text)
    if isinstance(token, Amount):
        before = words(claim[max(0, token.start - 40) : token.start])
        if not before or token.word or not re.search(r"\w[ -]?$", claim[: token.start]):
            return False
        token_words = [before[-1], *token_words]
    token_words = [part.lstrip("0") or part for part in token_words]
    return any(
        [part.lstrip("0") or part for part in name[index : index + len(token_words)]] == token_words
        for name in names
        for index in range(len(name))
    )
