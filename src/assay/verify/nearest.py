"""The passage nearest to a claim, and what it lacks of it: where nothing is certain, a reader looks there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.claims import HOLDING, Check, Nearest
from assay.core.sources import Passage
from assay.core.text import sentences
from assay.verify.verifier.index import index, weight
from assay.verify.verifier.tokens import WordToken, tokens

_LISTED = 8


def with_nearest(check: Check, claim: str, passages: Sequence[Passage]) -> Check:
    """`check` with the nearest of `passages`, where the claim does not hold and there is one."""
    if check.verdict in HOLDING or check.nearest is not None:
        return check
    found = nearest(claim, passages)
    return msgspec.structs.replace(check, nearest=found) if found else check


def nearest(claim: str, passages: Sequence[Passage]) -> Nearest | None:
    """The passage which has most of the claim's words by weight, the first of equals; None where no word is shared."""
    telling = _telling(claim)
    best, most = None, 0.0
    for passage in passages:
        missing = _missing(telling, passage)
        said = sum(map(weight, telling)) - sum(map(weight, missing))
        if said > most:
            listed = tuple(token.text for token in missing[:_LISTED])
            best, most = Nearest(passage=passage.id, missing=listed), said
    return best


def _telling(claim: str) -> list[WordToken]:
    """The distinct words, numbers and names of a claim, in order."""
    found: dict[str, WordToken] = {}
    for start, end in sentences(claim):
        for token in tokens(claim[start:end]):
            if token.content:
                found.setdefault(token.stem, token)
    return list(found.values())


def _missing(telling: Sequence[WordToken], passage: Passage) -> list[WordToken]:
    read = index(" \n".join((passage.text, *passage.above)))
    return [
        token for token in telling if token.stem not in read.places and (token.number or not read.alike(token.stem))
    ]
