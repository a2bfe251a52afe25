"""Checks whether the claim leaves out, or reverses, a word that bounds or softens the evidence.

"Up to 30 %" is not "30 %", "some patients" not "patients", "may cause" not "causes".
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.verify.amounts import Amount
from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, bind, context
from assay.verify.figures import same

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
FITS = 0.7
"""How well a bound of the evidence must fit the place of the claim's.

Set with `bench mutations --part train` (docs/verification.md, Mutations).
"""


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each bounded number stated differently, and each softening word that the claim leaves out."""
    for index, word in enumerate(claim.words):
        if isinstance(word.token, Amount):
            yield from _bounded(claim, index, word.token, texts)
    yield from _unsoftened(claim, texts)


def _bounded(claim: AnalyzedText, index: int, amount: Amount, texts: Texts) -> Iterator[SlotFinding]:
    places = {
        EvidenceSpan(at, other): word.token
        for at, reading in enumerate(texts.readings)
        for other, word in enumerate(reading.words)
        if isinstance(word.token, Amount) and same(amount, word.token)
    }
    if all(not token.bound for token in places.values()):
        return
    bound = bind(
        context(claim, (index,)),
        texts.readings,
        places,
        lambda place: places[place].bound not in _AGAINST[amount.bound],
    )
    if bound.other is None or not bound.conflicts(at_least=FITS, ratio=1.0):
        return
    reading = texts.readings[bound.other.passage]
    start = reading.words[max(0, bound.other.index - 2)].start
    yield SlotFinding(
        rule="quantifier",
        slot=ClaimSlot(amount.text, *claim.origin(index, index)),
        outcome="conflict",
        said=reading.plain.text[start : reading.words[bound.other.index].end],
        passage=texts.passages[bound.other.passage],
        veto=True,
    )


def _unsoftened(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    kept = {_SOFTENING[word.text.lower()] for word in claim.words if word.text.lower() in _SOFTENING}
    kept |= {"possible" for word in claim.words if word.text.lower() == "can"}
    for at, reading in enumerate(texts.readings):
        for index, word in enumerate(reading.words):
            sense = _SOFTENING.get(word.text.lower())
            if sense is None or sense in kept or (sense != "only" and "possible" in kept):
                continue
            if _is_no_limit(reading, index):
                continue
            finding = _omitted_qualifier(claim, texts, at, index)
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
        (at for at in range(index + 1, min(index + 4, len(reading.words))) if not reading.words[at].common), None
    )
    slots = claim.places.get(reading.words[after].key, ()) if after is not None else ()
    if after is None or not slots or reading.words[after].kind == "sign":
        return None
    bound = bind(context(claim, slots[:1]), texts.readings, [EvidenceSpan(passage, after)], lambda _: False)
    if not bound.conflicts(at_least=FITS, ratio=1.0):
        return None
    return SlotFinding(
        rule="quantifier",
        slot=ClaimSlot(claim.words[slots[0]].text, *claim.origin(slots[0], slots[0])),
        outcome="conflict",
        said=reading.plain.text[reading.words[index].start : reading.words[after].end],
        passage=texts.passages[passage],
        veto=True,
    )
