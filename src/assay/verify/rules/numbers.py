"""Checks whether the numbers, dates and the like of a claim are in the cited evidence, about the same thing.

Digits count strictly. Two kinds of token count as missing only if the evidence says something else in their place,
because their mere absence says nothing (measured on 9,000 claims with human labels, of which 67 % were unsupported:
absent digits 81 %, percentages 92 %, but small number words 64 % and names such as COVID-19 70 %). These are number
words, if the evidence counts the same thing differently, and names with digits, if it has the same letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Literal, Token
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import (
    Bound,
    ClaimSlot,
    EvidenceSpan,
    Outcome,
    SlotContext,
    SlotFinding,
    bind_slot,
    slot_context,
)
from assay.verify.figures import entails, explain_column_sum, recompute
from assay.verify.number_matches import could_replace, has_year, states

# Set with `bench mutations --part train` (docs/verification.md, Mutations).

FITS, RATIO = 0.7, 1.1
"""How well another value must fit its place, and how many times as well as the claim's, to be the one meant."""
OTHER_SUBJECT = 0.35
"""How well, if the passage of the other value names the claim's subject and that of the claim's value does not."""
EXCHANGED = 1.04
"""How many times as well two numbers of the claim must fit when exchanged."""
SAID = 0.5
"""How well a value must fit to be shown as what the evidence says, if the claim's value is not there at all."""
MOST_WEIGHED = 1_000_000
"""The product of numbers in the claim, numbers in the evidence and words in the claim. Above it, which would take
seconds and is no sentence, only the presence of the numbers counts.
"""


class _ComparedNumbers(msgspec.Struct, frozen=True):
    """The things compared: the claim's numbers with the words around each, and the evidence's numbers."""

    claim: AnalyzedText
    texts: Texts
    around: dict[int, SlotContext]
    places: dict[EvidenceSpan, Token]
    holding: dict[int, frozenset[EvidenceSpan]]
    fits: dict[tuple[int, EvidenceSpan], float]
    weighed: bool

    def is_taken(self, place: EvidenceSpan, index: int) -> bool:
        """True if another number of the claim states the value at `place`, and fits there at least as well."""
        others = [other for other, places in self.holding.items() if other != index and place in places]
        return any(self.fit(other, place) >= self.fit(index, place) for other in others)

    def exchanged_place(self, index: int) -> EvidenceSpan | None:
        """The place of another slot's number, if the two fit better when exchanged; else None."""
        if not self.weighed:
            return None
        mine = self.best_place(index)
        for other in self.holding:
            theirs = self.best_place(other)
            if other == index or mine is None or theirs is None or self.holding[other] & self.holding[index]:
                continue
            straight = self.fit(index, mine) + self.fit(other, theirs)
            crossed = self.fit(index, theirs) + self.fit(other, mine)
            if crossed > EXCHANGED * straight and crossed / 2 >= SAID and self._are_alike(index, other):
                return theirs
        return None

    def fit(self, index: int, place: EvidenceSpan) -> float:
        """How well the words around a slot fit a place."""
        known = self.fits.get((index, place))
        if known is None:
            known = self.fits[index, place] = self.around[index].fit(self.texts.readings, place)
        return known

    def best_place(self, index: int) -> EvidenceSpan | None:
        """The place of the slot's value that fits best."""
        return max(self.holding[index], key=lambda place: self.fit(index, place), default=None)

    def _are_alike(self, one: int, other: int) -> bool:
        first, second = self.claim.words[one].token, self.claim.words[other].token
        return first is not None and second is not None and could_replace(first, second)


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each number, date, or token with digits in the claim."""
    indices = [index for index, word in enumerate(claim.words) if word.token and not _is_list_sign(claim, index)]
    if not indices:
        return
    places = {
        EvidenceSpan(passage, index): word.token
        for passage, reading in enumerate(texts.readings)
        for index, word in enumerate(reading.words)
        if word.token
    }
    every = tuple(places.values())
    holding = {index: _places_stating(claim.words[index], places, every) for index in indices}
    weighed = len(indices) * len(places) * len(claim.words) <= MOST_WEIGHED
    around = {index: slot_context(claim, (index,)) for index in indices}
    stated = _ComparedNumbers(claim, texts, around, places, holding, {}, weighed)
    for index in indices:
        yield _find(stated, index)


def _places_stating(
    word: Word, places: Mapping[EvidenceSpan, Token], every: Sequence[Token]
) -> frozenset[EvidenceSpan]:
    token = word.token
    return frozenset(place for place, other in places.items() if token and states(other, token, every))


def _find(stated: _ComparedNumbers, index: int) -> SlotFinding:
    claim, texts, holding = stated.claim, stated.texts, stated.holding[index]
    token = claim.words[index].token
    assert token is not None  # only words with a token get here
    if not holding and _is_written_otherwise(claim.plain.text, token, texts):
        return _finding(claim, index, texts, "stated", None, veto=False)
    others = (
        place
        for place, other in (stated.places.items() if stated.weighed else ())
        if place not in holding and could_replace(token, other) and not stated.is_taken(place, index)
    )
    bound = bind_slot(stated.around[index], texts.readings, (*holding, *others), holding.__contains__)
    if holding:
        misfit = bound.conflicts(at_least=_required_fit(stated, bound), ratio=RATIO)
        other = bound.other if misfit else stated.exchanged_place(index)
        outcome: Outcome = "conflict" if other else "stated"
        return _finding(claim, index, texts, outcome, other or bound.same, veto=other is not None)
    computed = ""
    if isinstance(token, Amount):
        computed = recompute(claim, token, tuple(stated.places.values())) or explain_column_sum(claim, token, texts)
    if computed:
        slot = ClaimSlot(token.text, *claim.origin(index, index))
        return SlotFinding(rule="derived", slot=slot, outcome="stated", said=computed)
    instead = bound.other if bound.misfits >= SAID else None
    spared = _is_spared(claim, index, texts) or (instead is None and _is_loose(claim, index, texts))
    veto = not (spared or _is_entailed(stated, token, instead))
    place = instead if veto else None
    return _finding(claim, index, texts, "conflict" if place else "absent", place, veto=veto)


def _is_entailed(stated: _ComparedNumbers, token: Token, instead: EvidenceSpan | None) -> bool:
    """True if the value in its place is beyond its bound: "over 100,000" if it says 757,000."""
    other = stated.places[instead] if instead else None
    return isinstance(token, Amount) and isinstance(other, Amount) and entails(token, other)


def _required_fit(stated: _ComparedNumbers, bound: Bound) -> float:
    """How well another value must fit: less if only its passage names the claim's subject."""
    if bound.same is None or bound.other is None or bound.same.passage == bound.other.passage:
        return FITS
    subjects = {word.key for word in stated.claim.words if word.kind == "name"}
    same, other = (stated.texts.readings[place.passage].places.keys() for place in (bound.same, bound.other))
    return OTHER_SUBJECT if subjects & other and not subjects & same else FITS


def _finding(
    claim: AnalyzedText, index: int, texts: Texts, outcome: Outcome, place: EvidenceSpan | None, *, veto: bool
) -> SlotFinding:
    """The finding for a slot; `place` is about it, with the same value or another."""
    token = claim.words[index].token
    assert token is not None  # only words with a token get here
    start, end = claim.origin(index, index)
    text = texts.readings[place.passage].words[place.index].text if place else ""
    return SlotFinding(
        rule="date" if isinstance(token, Day) or (isinstance(token, Amount) and token.year) else "number",
        slot=ClaimSlot(token.text, start, end),
        outcome=outcome,
        said=text if text != token.text else "",
        passage=texts.passages[place.passage] if place else "",
        veto=veto,
    )


def _is_list_sign(claim: AnalyzedText, index: int) -> bool:
    """True if the number only counts a list item: "1." at the start of the text, or after a colon."""
    word = claim.words[index]
    after = claim.plain.text[word.end : word.end + 2]
    first = index == 0 or claim.words[index - 1].text in {":", ";"} or claim.words[index - 1].sentence != word.sentence
    return first and word.text.isdecimal() and len(word.text) <= 2 and after in {". ", ") "}


def _is_spared(read: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if the absence of a token says nothing: see above."""
    token, claim = read.words[index].token, read.plain.text
    assert token is not None  # only words with a token get here
    if isinstance(token, Amount) and token.word and not (token.ordinal or token.terms):
        return not _counts_same_thing(claim, token, texts)
    letters = _letters(claim, token)
    return letters != "" and not any(
        re.fullmatch(rf"{letters}s?\d*", word) for reading in texts.readings for word in _vocabulary(reading.plain.text)
    )


_TELLS_APART = regex(r" ?[^\W\d_]{3,15} ?\)")


def _is_loose(read: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if a number may be missing without a replacement: a fraction, or a part of a name."""
    token = read.words[index].token
    return (isinstance(token, Amount) and token.terms != ()) or _is_part_of_name(read, index, texts)


def _is_part_of_name(read: AnalyzedText, index: int, texts: Texts) -> bool:
    """True if a number only distinguishes things with the same name: "the 14th Dalai Lama", "Australia (2008 film)".

    It does if the evidence has another ordinal before that name, or any before what an ordinal in words counts.
    """
    token, claim = read.words[index].token, read.plain.text
    if not isinstance(token, Amount):
        return False
    if not token.ordinal:
        return claim[: token.start].rstrip().endswith("(") and _TELLS_APART.match(claim, token.end) is not None
    after = read.words[index + 1] if index + 1 < len(read.words) else None
    named = after is not None and after.kind == "name" and texts.has(after.key)
    return (named or token.word) and not any(
        isinstance(one.token, Amount) and one.token.ordinal and (token.word or (after and two.key == after.key))
        for reading in texts.readings
        for one, two in _neighbours(reading)
    )


def _counts_same_thing(claim: str, token: Amount, texts: Texts) -> bool:
    """True if the evidence counts what `token` counts: another number before the same word."""
    noun = re.match(r"[ -]([^\W\d_]{3,})", claim[token.end :])
    if noun is None:
        return token.units != ("",)
    stem = noun[1].removesuffix("s").lower()
    return any(
        one.token is not None and isinstance(one.token, Amount) and two.text.lower().startswith(stem)
        for reading in texts.readings
        for one, two in _neighbours(reading)
    )


def _neighbours(reading: AnalyzedText) -> Iterator[tuple[Word, Word]]:
    return ((one, two) for one, two in pairwise(word for word in reading.words if word.text != "-"))


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
    written = letters + "".join(words(token.text)).lower()
    return any(written in _vocabulary(reading.plain.text) for reading in texts.readings)


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
    found = words(text)
    return frozenset((*found, *(one + other for one, other in pairwise(found))))


def _is_named(claim: str, token: Token, names: Sequence[Sequence[str]]) -> bool:
    """True if `token`, with the word before it if it is a number, is a part of one of `names`."""
    if isinstance(token, Day):
        return False
    wanted = words(token.text)
    if isinstance(token, Amount):
        before = words(claim[max(0, token.start - 40) : token.start])
        if not before or token.word or not re.search(r"\w[ -]?$", claim[: token.start]):
            return False
        wanted = [before[-1], *wanted]
    wanted = [part.lstrip("0") or part for part in wanted]
    return any(
        [part.lstrip("0") or part for part in name[at : at + len(wanted)]] == wanted
        for name in names
        for at in range(len(name))
    )
