"""Checks the small words that turn a sentence: negators, directions, quantifiers, and words that bound or soften.

Words are compared by sense: the word of the evidence that best fits the claim's other words counts (`verify.evidence`).
The thresholds were set with `bench mutations --part train` (docs/verification.md, Mutations).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from assay.core.lexicon import NEGATIONS
from assay.verify.amounts import Amount
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import (
    ClaimSlot,
    EvidenceSpan,
    SlotFinding,
    bind_slot,
    conflict_finding,
    slot_context,
    word_slot,
)
from assay.verify.figures import is_same_amount


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """The findings of all four: about negations, directions, quantifiers, qualifiers."""
    yield from negations(claim, texts)
    yield from oppositions(claim, texts)
    yield from qualifiers(claim, texts)


# Whether the claim denies what the evidence says, or says what it denies.

RATIO = 1.1
"""How many times as well as a place that agrees, or the claim's sense, another must fit to be a veto."""
NEGATION_FITS = 0.6
"""How well the other place must fit."""
_NEGATORS = frozenset(NEGATIONS["en"].split())
_REACH = 4
"""How many words after a negator it still governs. Chosen by hand."""
_TURNS = frozenset(
    """
    but although though however whereas while only merely until unless afraid hesitate necessarily where why how
    """.split()
)
"""Words that end a denial, or after which it denies nothing ("not afraid to")."""
_NOW = frozenset(("currently", "now", "longer", "today", "anymore", "presently"))
_PAST = frozenset(("was", "were", "had", "until", "formerly", "once"))


def negations(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each word that the claim negates and the evidence does not, or the other way round."""
    denied = denied_words(claim)
    theirs = [denied_words(reading) for reading in texts.readings]
    if not denied and not any(theirs):
        return
    for index, word in enumerate(claim.words):
        if word.kind in ("sign", "number") or word.common or _is_negator(word):
            continue
        if index in denied or any(
            position in passage_denied
            for reading, passage_denied in zip(texts.readings, theirs, strict=True)
            for position in reading.places.get(word.key, ())
        ):
            finding = _negation(claim, index, denied, texts, theirs)
            if finding is not None:
                yield finding


def _negation(
    claim: AnalyzedText, index: int, denied: dict[int, int], texts: Texts, theirs: list[dict[int, int]]
) -> SlotFinding | None:
    key, is_denied = claim.words[index].key, index in denied
    spans = [
        EvidenceSpan(passage, position)
        for passage, reading in enumerate(texts.readings)
        for position in reading.places.get(key, ())
    ]
    slot_fit = bind_slot(
        slot_context(claim, (index,)),
        texts.readings,
        spans,
        lambda span: (span.index in theirs[span.passage]) == is_denied,
    )
    if not spans:
        return None
    slot = word_slot(claim, index)
    if (
        slot_fit.other is None
        or not slot_fit.conflicts(at_least=NEGATION_FITS, ratio=RATIO)
        or _both_deny(claim, index, texts, slot_fit.other)
        or _denies_rank(claim, index, denied, texts, slot_fit.other)
        or _is_over(claim, index, texts, slot_fit.other)
    ):
        return SlotFinding(rule="negation", slot=slot, outcome="stated")
    negator = theirs[slot_fit.other.passage].get(slot_fit.other.index, slot_fit.other.index)
    return conflict_finding(
        "negation", slot, texts, EvidenceSpan(slot_fit.other.passage, negator, slot_fit.other.index)
    )


def _is_negator(word: Word) -> bool:
    return word.key == "not" or word.text.lower() in _NEGATORS


def _both_deny(claim: AnalyzedText, index: int, texts: Texts, other: EvidenceSpan) -> bool:
    """True if both sentences have a negator: it may only be in another place ("he was not seen", "nobody saw him")."""
    reading = texts.readings[other.passage]
    return all(
        any(_is_negator(word) and word.sentence == words[position].sentence for word in words)
        for words, position in ((claim.words, index), (reading.words, other.index))
    )


def _denies_rank(claim: AnalyzedText, index: int, denied: dict[int, int], texts: Texts, other: EvidenceSpan) -> bool:
    """True if only the rank is denied: "not the first woman to", if the evidence says "the second"."""
    negator = denied.get(index)
    ranks = {word.key for word in claim.words[negator:index] if _is_rank(word)} if negator is not None else set()
    return bool(ranks) and not any(word.key in ranks for word in _sentence(texts, other))


def _is_rank(word: Word) -> bool:
    return word.text.lower() in ("first", "last", "only", "second") or getattr(word.token, "ordinal", False)


def _is_over(claim: AnalyzedText, index: int, texts: Texts, other: EvidenceSpan) -> bool:
    """True if the claim denies that something is so now, and the evidence says that it was."""
    claim_words = {word.text.lower() for word in claim.words if word.sentence == claim.words[index].sentence}
    theirs = {word.text.lower() for word in _sentence(texts, other)}
    return bool(claim_words & _NOW and theirs & _PAST) and not theirs & _NOW


def _sentence(texts: Texts, span: EvidenceSpan) -> list[Word]:
    words = texts.readings[span.passage].words
    return [word for word in words if word.sentence == words[span.index].sentence]


def denied_words(reading: AnalyzedText) -> dict[int, int]:
    """The words a negator governs, each with its negator's index: those shortly after it in its clause."""
    negators: dict[int, int] = {}
    for index, word in enumerate(reading.words):
        if not _is_negator(word):
            continue
        content = 0
        for after in range(index + 1, len(reading.words)):
            next_word = reading.words[after]
            is_end = next_word.sentence != word.sentence or next_word.kind == "sign" or next_word.text.lower() in _TURNS
            if is_end or content == _REACH or _is_negator(next_word):
                break
            content += not next_word.common
            negators[after] = index
    return negators


# Whether the claim says up where the evidence says down, or all, first, most for some, last, least.

DIRECTION_FITS = 0.7
QUANTIFIER_FITS = 0.6
"""How well an opposing word must fit its place to be a veto.

Directions were made stricter after totals of the report part of the bench had been seen.
"""

RISES = """
rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbs climbed
climbing surge surges surged soar soared jump jumped expand expanded double doubled triple tripled
""".split()
FALLS = """
fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop drops
dropped dropping shrink shrinks shrank shrunk plunge plunged plummet plummeted slump slumped halve halved
""".split()
"""Verbs for the direction of a figure."""
_UP = """
growth gain gains gained expansion accelerate accelerated improve improved improvement higher upward upwards uptick
raise raised more warmer
""".split()
_DOWN = """
contract contracted contraction slow slowed lower downward downwards downturn reduce reduced reduction worsen worsened
dip dipped lose lost loss less fewer cooler
""".split()
_SENSES = {
    word: sense
    for sense, words in {
        "all": "all every each entire whole always everyone everything everywhere",
        "most": "most mostly majority usually generally often largely",
        "some": "some several sometimes partly certain occasionally",
        "few": "few rarely seldom minority hardly",
        "none": "none nobody never neither",
        "highest": "highest largest biggest greatest best longest oldest strongest fastest heaviest tallest maximum",
        "lowest": "lowest smallest least worst shortest youngest weakest slowest lightest minimum",
        "first": "first earliest",
        "last": "last latest final",
        "before": "before prior",
        "after": "after following",
    }.items()
    for word in words.split()
}
_EXCLUDED = {
    "all": frozenset({"some", "few", "none", "most"}),
    "most": frozenset({"few", "none", "all", "some"}),
    "some": frozenset({"all", "none", "most"}),
    "few": frozenset({"all", "most"}),
    "none": frozenset({"all", "most", "some"}),
    "highest": frozenset({"lowest"}),
    "lowest": frozenset({"highest"}),
    "first": frozenset({"last"}),
    "last": frozenset({"first"}),
    "before": frozenset({"after"}),
    "after": frozenset({"before"}),
}


class OpposedWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words one rule compares.

    `senses` has the sense of each relevant word, in lower case; `excluding` the senses that exclude a sense; `at_least`
    is how well an excluding word must fit its place to be a veto.
    """

    rule: str
    senses: Mapping[str, str]
    excluding: Mapping[str, frozenset[str]]
    at_least: float


_DIRECTIONS = OpposedWords(
    rule="direction",
    senses=dict.fromkeys((*RISES, *_UP), "up") | dict.fromkeys((*FALLS, *_DOWN), "down"),
    excluding={"up": frozenset({"down"}), "down": frozenset({"up"})},
    at_least=DIRECTION_FITS,
)
_QUANTIFIERS = OpposedWords(rule="quantifier", senses=_SENSES, excluding=_EXCLUDED, at_least=QUANTIFIER_FITS)


def oppositions(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each word that says that something rose or fell, then for each quantifier and superlative."""
    denied = denied_words(claim)  # "it did not rise" says nothing against "it fell"
    for opposed in (_DIRECTIONS, _QUANTIFIERS):
        yield from _opposition_findings(opposed, claim, texts, denied)


def _opposition_findings(
    opposed: OpposedWords, claim: AnalyzedText, texts: Texts, denied: Collection[int]
) -> Iterator[SlotFinding]:
    """A finding for each word of the claim, except negated ones, if the evidence has a comparable word."""
    senses = opposed.senses
    slots = [
        (index, sense)
        for index in range(len(claim.words))
        if index not in denied and (sense := _sense(claim, index, senses))
    ]
    if not slots:
        return
    span_senses = [
        (EvidenceSpan(passage, index), sense)
        for passage, reading in enumerate(texts.readings)
        for index in range(len(reading.words))
        if (sense := _sense(reading, index, senses))
    ]
    for index, sense in slots:
        agrees = {
            span: other_sense == sense
            for span, other_sense in span_senses
            if other_sense == sense or other_sense in opposed.excluding[sense]
        }
        if agrees:
            yield _opposition_finding(opposed, claim, index, texts, agrees)


def _sense(reading: AnalyzedText, index: int, senses: Mapping[str, str]) -> str:
    word = reading.words[index]
    return senses.get(word.text.lower(), "") if word.kind in ("word", "name") else ""


def _opposition_finding(
    opposed: OpposedWords, claim: AnalyzedText, index: int, texts: Texts, agrees: dict[EvidenceSpan, bool]
) -> SlotFinding:
    """The finding for a word; `agrees` says of each place whether it has the word's sense, or an opposing one."""
    slot_fit = bind_slot(slot_context(claim, (index,)), texts.readings, agrees, agrees.__getitem__)
    slot = word_slot(claim, index)
    if slot_fit.other is None or not slot_fit.conflicts(at_least=opposed.at_least, ratio=RATIO):
        return SlotFinding(rule=opposed.rule, slot=slot, outcome="stated" if slot_fit.same else "absent")
    return conflict_finding(opposed.rule, slot, texts, slot_fit.other)


# Whether the claim leaves out, or reverses, a word that bounds or softens the evidence: "up to 30 %" is not "30 %",
# "some patients" not "patients", "may cause" not "causes".

_SOFTENING = {
    word: sense
    for sense, words in {
        "possible": "may might could possibly potentially perhaps",
        "told": "reportedly allegedly supposedly",
        "part": "some sometimes partly partially occasionally most mostly usually often generally",
        "only": "only solely exclusively",
    }.items()
    for word in words.split()
}
_AGAINST = {
    "": frozenset(("most", "under", "nearly")),
    "over": frozenset(("most", "under", "nearly")),
    "least": frozenset(("most", "under", "nearly")),
    "under": frozenset(("over", "least")),
    "most": frozenset(("over", "least")),
    "nearly": frozenset(("over", "least")),
    "about": frozenset(("most", "under")),
}
"""Bounds of the evidence that conflict with a bound of the claim: "up to 30" is neither 30 nor over 30."""
QUALIFIER_FITS = 0.7
"""How well a bound of the evidence must fit the place of the claim's."""


def qualifiers(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each bounded number stated differently, and each softening word that the claim leaves out."""
    for index, word in enumerate(claim.words):
        if isinstance(word.token, Amount):
            yield from _bounded_findings(claim, index, word.token, texts)
    yield from _unsoftened_findings(claim, texts)


def _bounded_findings(claim: AnalyzedText, index: int, amount: Amount, texts: Texts) -> Iterator[SlotFinding]:
    evidence_amounts = {
        EvidenceSpan(passage, word_index): word.token
        for passage, reading in enumerate(texts.readings)
        for word_index, word in enumerate(reading.words)
        if isinstance(word.token, Amount) and is_same_amount(amount, word.token)
    }
    if all(not token.bound for token in evidence_amounts.values()):
        return
    slot_fit = bind_slot(
        slot_context(claim, (index,)),
        texts.readings,
        evidence_amounts,
        lambda span: evidence_amounts[span].bound not in _AGAINST[amount.bound],
    )
    if slot_fit.other is None or not slot_fit.conflicts(at_least=QUALIFIER_FITS, ratio=1.0):
        return
    conflict_span = EvidenceSpan(slot_fit.other.passage, max(0, slot_fit.other.index - 2), slot_fit.other.index)
    yield conflict_finding("quantifier", ClaimSlot(amount.text, *claim.origin(index, index)), texts, conflict_span)


def _unsoftened_findings(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    claim_senses = {_SOFTENING[word.text.lower()] for word in claim.words if word.text.lower() in _SOFTENING}
    claim_senses |= {"possible" for word in claim.words if word.text.lower() == "can"}
    for passage, reading in enumerate(texts.readings):
        for index, word in enumerate(reading.words):
            sense = _SOFTENING.get(word.text.lower())
            if sense is None or sense in claim_senses or (sense != "only" and "possible" in claim_senses):
                continue
            if _is_no_limit(reading, index):
                continue
            finding = _omitted_qualifier(claim, texts, passage, index)
            if finding is not None:
                yield finding


def _is_no_limit(reading: AnalyzedText, index: int) -> bool:
    """True if the word does not soften there: "not only", and the request "could you"."""
    before = reading.words[index - 1].key if index else ""
    after = reading.words[index + 1].text.lower() if index + 1 < len(reading.words) else ""
    return before == "not" or after in ("you", "we", "i", "they", "he", "she")


def _omitted_qualifier(claim: AnalyzedText, texts: Texts, passage: int, index: int) -> SlotFinding | None:
    """A finding if the word after the softening one is in the claim, with everything around it."""
    reading = texts.readings[passage]
    after = next(
        (
            position
            for position in range(index + 1, min(index + 4, len(reading.words)))
            if not reading.words[position].common
        ),
        None,
    )
    slots = claim.places.get(reading.words[after].key, ()) if after is not None else ()
    if after is None or not slots or reading.words[after].kind == "sign":
        return None
    slot_fit = bind_slot(
        slot_context(claim, slots[:1]), texts.readings, [EvidenceSpan(passage, after)], lambda _: False
    )
    if not slot_fit.conflicts(at_least=QUALIFIER_FITS, ratio=1.0):
        return None
    return conflict_finding("quantifier", word_slot(claim, slots[0]), texts, EvidenceSpan(passage, index, after))
