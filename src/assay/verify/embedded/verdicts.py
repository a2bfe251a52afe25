"""The embedded verifier's verdict on a claim, with the probability behind it and what a reader can check of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.claims import Verdict
from assay.core.translation import enumerated, labelled
from assay.core.translation import gettext as _
from assay.verify.embedded.features import features, opposed
from assay.verify.embedded.index import Index, index
from assay.verify.embedded.lexicon import ABSOLUTES, FUNCTION, HEDGES, NEGATORS, NEUTRAL, QUALIFIERS
from assay.verify.embedded.model import model
from assay.verify.embedded.sight import Sight, sights
from assay.verify.embedded.tokens import Token

_LISTED = 6
_ENGLISH = 8
"""Words; a claim of so many without an English function word is in another language."""


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is the probability that the evidence supports the claim, for as many supported claims as others.

    `verdict` is supported, unsupported or unchecked (undecided). `reasons` are what speaks for and against.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]

    @property
    def is_likely(self) -> bool:
        """Whether the evidence supports the claim more likely than not."""
        return self.score >= LIKELY


LIKELY = 0.5
"""The score from which a claim is likely supported. That is no verdict: about one in three such claims is not."""


def weigh(claim: str, evidence: str, *, doubted: bool = False) -> Weighed:
    """Weigh `claim` against `evidence`, both plain text; in English, which the model knows.

    With `doubted`, a rule objects which is too often wrong to decide alone: the score is lowered, and nothing
    supported.
    """
    read = index(evidence)
    seen = sights(claim, read)
    if not seen:
        return Weighed(verdict="unchecked", score=0.5, reasons=(_("the claim has no words to compare"),))
    if not _is_english(seen):
        return Weighed(verdict="unchecked", score=0.5, reasons=(_("not in English, which alone can be weighed"),))
    found = features(seen, read)
    score = model().probability(found)
    score = model().vetoed(score) if doubted else score
    edits, others = _edits(seen, read, found), _others(seen, read)
    said = sum(sight.row * len(sight.words) for sight in seen) / sum(len(sight.words) for sight in seen)
    share = _("the nearest sentences say {share} of it by weight of words").format(share=f"{said:.0%}")
    reasons = (share, *others, *edits)
    return Weighed(verdict=_verdict(score, edited=doubted or bool(edits)), score=score, reasons=reasons)


def edited(claim: str, evidence: str) -> bool:
    """Whether the claim has a sign of an edit: then no score calls it supported."""
    read = index(evidence)
    seen = sights(claim, read)
    return bool(seen) and bool(_edits(seen, read, features(seen, read)))


def _verdict(score: float, *, edited: bool) -> Verdict:
    shipped = model()
    if score >= shipped.supported and not edited:
        return "supported"
    return "unsupported" if score < shipped.unsupported else "unchecked"


def _is_english(seen: Sequence[Sight]) -> bool:
    words = [token for sight in seen for token in sight.words]
    letters = [sign for token in words for sign in token.text if sign.isalpha()]
    latin = sum(unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    if latin < len(letters) / 2:
        return False
    return len(words) < _ENGLISH or any(token.text.lower() in FUNCTION for token in words)


def _others(seen: Sequence[Sight], read: Index) -> list[str]:
    """The claim's words which the evidence, or its nearest sentences, do not have, as a reader is told them."""
    new = list(dict.fromkeys(token for sight in seen for token in _new(sight)))
    signs = _listed(_("not in the evidence"), (token.text for token in new if not _said(token, read)))
    return signs + _listed(_("not in the nearest sentences"), (token.text for token in new if _said(token, read)))


def _edits(seen: Sequence[Sight], read: Index, found: Mapping[str, float]) -> list[str]:
    """Signs of an edit, with which no score calls a claim supported, as a reader is told them.

    Words which stand the other way round or apart, a word replaced by its opposite or denied, a limit put in or left
    out, a name or number which the nearest sentences do not have: nearly all words of a false sentence may be there.
    Ordinary words which they do not have are none: whoever says a thing in other words needs them.
    """
    new = dict.fromkeys(token.text for sight in seen for token in _new(sight) if token.name or token.number)
    signs = _listed(_("a name or number the nearest sentences lack"), new)
    for sight in seen:
        told = _("the claim says {claimed}, the evidence {said}")
        signs += [told.format(claimed=repr(ours.text), said=repr(theirs.text)) for ours, theirs in opposed(sight)]
        signs += [*_denial(sight), *_listed(_("said by only one of both"), sorted(_limits(sight)))]
    if found["turned"] > 0 or found["names_turned"] > 0:
        signs.append(_("its words stand in another order in the evidence"))
    if found["same_part"] < 1:
        signs.append(_("words beside each other here stand in different sentences of the evidence"))
    return list(dict.fromkeys(signs))


def _listed(what: str, words: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(words))
    return [labelled(what, enumerated(every, _LISTED))] if every else []


def _limits(sight: Sight) -> set[str]:
    """The words of "all", "only", "may" and the like which claim and best part do not share."""
    ours, theirs = ({token.text.lower() for token in each} for each in (sight.words, sight.best))
    return ((ours ^ theirs) & ABSOLUTES) | ((theirs - ours) & HEDGES) | (_qualified(sight) - ours)


def _qualified(sight: Sight) -> set[str]:
    """Words of the best part which limit one of the claim's words within the next three."""
    stems = {token.stem for token in sight.content}
    return {
        token.text.lower()
        for at, token in enumerate(sight.best)
        if token.text.lower() in QUALIFIERS and any(next.stem in stems for next in sight.best[at + 1 : at + 4])
    }


def _new(sight: Sight) -> list[Token]:
    """The claim's words which the nearest sentences lack; the commonest function words do not count."""
    stems, spelt = {token.stem for token in sight.near}, {token.text.lower() for token in sight.near}
    return [
        token
        for token in sight.words
        if (token.text.lower() not in NEUTRAL | spelt if token.function else token.stem not in stems)
    ]


def _said(token: Token, read: Index) -> bool:
    return token.stem in read.places or (not token.number and read.alike(token.stem) > 0)


def _denial(sight: Sight) -> list[str]:
    ours, best = _denials(sight.words), _denials(sight.best)
    if ours > best:
        return [_("the claim denies more than the evidence")]
    return [_("the evidence denies more than the claim")] if ours < best else []


def _denials(words: Sequence[Token]) -> int:
    return sum(token.text.lower() in NEGATORS for token in words)
