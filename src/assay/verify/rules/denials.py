"""Checks whether the claim says what a clause of the evidence denies, denies what one says, or says the contrary.

`polarity` weighs the words around one denied word; here whole clauses are compared, so that neither a few words ("the
machines damaged wool" against "none of the machines damaged wool") nor a second clause of the claim hides a denial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.verify.analyzed_text import AnalyzedText, Texts, Word, stem
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, conflict_finding, word_slot
from assay.verify.verifier.index import opposites, same_sense

_GENERAL = frozenset("no none never nobody nothing neither".split())
"""Negators that leave no exception."""
_NEGATORS = _GENERAL | {"not", "cannot"}
_ANY = frozenset("any either anyone anything ever".split())
"""After a negator they leave no exception either; what follows them need not be in the claim."""
_BREAKS = frozenset(
    """
    ; : ( ) but while whereas although though because before after until unless if where when which who that whether
    since as so than
    """.split()
)
"""Signs and words that begin another clause."""
_CONDITIONS = frozenset("before until unless if without because than as".split())
"""A clause before one of these is denied only under a condition: "not before 2028"."""
_SUPPOSED = frozenset("if unless whether when".split())
_LIMITS = frozenset(
    """
    only just necessarily merely until before longer more less fewer all every everyone always most much many doubt
    alone entirely completely fully exactly simply first second third last
    """.split()
)
"""Words after a negator with which it denies less than the clause: "not only", "no longer", "not all"."""
_DENYING = frozenset(
    """
    deny denies denied refuse refused reject rejected fail fails failed lack lacks lacked without hardly barely rarely
    seldom few little only unable
    """.split()
)
"""Other words that reverse or limit a clause. One that has them is left out."""
_LEAST, _LEAST_ADDED = 2, 3
"""How many words of a clause that the evidence denies, or the claim, the other must have at least. By hand."""
_FROM_OTHER_SIDE = frozenset(
    map(
        stem,
        """
        buy purchase acquire bought sell sold sale divest give gave donate lend offer take took receive received borrow
        send sent teach taught teacher learn learned student ask question answer reply win won beat lose lost defeat
        employer employee doctor patient buyer seller customer client supplier vendor import imported export exported
        """.split(),
    )
)
"""Words that may be said of one event from both sides: what one sells, another buys."""


class _Clause(msgspec.Struct, frozen=True):
    """The significant words of a clause by key, in their order, with their indices, and those the other side must have.

    `negator` is the index of the word that denies, None without; `denied` the first key after it. `is_general` says
    that it leaves no exception, `is_plain` that nothing else reverses or limits it.
    """

    keys: tuple[str, ...]
    indices: tuple[int, ...]
    required: tuple[str, ...]
    negator: int | None = None
    denied: str = ""
    is_general: bool = False
    is_plain: bool = True

    def place(self, key: str) -> tuple[int, int]:
        """The first and last index of the word with `key`, with its negator if it has one."""
        index = self.indices[self.keys.index(key)] if key in self.keys else self.indices[0]
        first, last = sorted((index, index if self.negator is None else self.negator))
        return first, last


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for each clause of the claim that a clause of the evidence denies, affirms or says the contrary of.

    In English only: elsewhere these words say other things ("no" in Portuguese: "in the").
    """
    if texts.language(claim) not in ("", "en"):
        return
    ours = list(_clauses(claim))
    distinct: dict[tuple[tuple[str, ...], bool], tuple[int, _Clause]] = {}
    for passage, reading in enumerate(texts.readings):
        for each in _clauses(reading):
            distinct.setdefault((each.keys, each.negator is None), (passage, each))
    theirs = list(distinct.values())
    for own in ours:
        if own.is_plain:
            other = _denying_clause(own, theirs) if own.negator is None else _affirming_clause(own, theirs)
            if other is not None:
                passage, each = other
                key = (each if own.negator is None else own).denied
                first, last = own.place(key)
                slot = ClaimSlot(
                    claim.plain.text[claim.words[first].start : claim.words[last].end], *claim.origin(first, last)
                )
                finding = conflict_finding("negation", slot, texts, EvidenceSpan(passage, *each.place(key)))
                yield msgspec.structs.replace(finding, certain=True)
            elif own.negator is None and len(own.keys) > _LEAST:
                yield from _contraries(claim, own, theirs, texts)


def _denying_clause(own: _Clause, theirs: Sequence[tuple[int, _Clause]]) -> tuple[int, _Clause] | None:
    """The clause of the evidence that denies all `own` says, if no other says it."""
    keys = set(own.keys)
    for passage, each in theirs:
        if (
            each.negator is None
            or not each.is_plain
            or len(each.required) < _LEAST
            or not keys.issuperset(each.required)
        ):
            continue
        if not each.is_general and not keys.issubset(each.keys):
            continue
        shared = len(keys & set(each.keys))
        if not any(
            len(keys & set(other.keys)) > shared or set(each.required) <= set(other.keys)
            for _, other in theirs
            if other.negator is None
        ):
            return passage, each
    return None


def _affirming_clause(own: _Clause, theirs: Sequence[tuple[int, _Clause]]) -> tuple[int, _Clause] | None:
    """The clause of the evidence that says what `own` denies, in its order, if none about it denies anything."""
    if len(own.required) < _LEAST_ADDED:
        return None
    if any(each.negator is not None or not each.is_plain for _, each in theirs if set(own.keys) & set(each.keys)):
        return None
    return next(((passage, each) for passage, each in theirs if _follow(own.required, each.keys)), None)


def _follow(keys: Sequence[str], others: Sequence[str]) -> bool:
    """True if `keys` stand among `others` in their order."""
    rest = iter(others)
    return all(key in rest for key in keys)


def _contraries(
    claim: AnalyzedText, own: _Clause, theirs: Sequence[tuple[int, _Clause]], texts: Texts
) -> Iterator[SlotFinding]:
    """A conflict for a word whose contrary a clause of the evidence has, with all others, if none about them has it."""
    for key, index in zip(own.keys, own.indices, strict=True):
        contraries, rest = opposites(key) - _FROM_OTHER_SIDE, set(own.keys) - {key}
        if key in _FROM_OTHER_SIDE or claim.words[index].kind != "word" or contraries & rest:
            continue
        alike = same_sense(key) | {key}
        if any(alike & set(each.keys) and rest & set(each.keys) for _, each in theirs):
            continue
        for passage, each in theirs:
            instead = [
                theirs_index
                for their_key, theirs_index in zip(each.keys, each.indices, strict=True)
                if their_key in contraries
            ]
            if instead and each.negator is None and each.is_plain and rest.issubset(each.keys):
                yield conflict_finding("negation", word_slot(claim, index), texts, EvidenceSpan(passage, instead[0]))
                break


def _clauses(reading: AnalyzedText) -> Iterator[_Clause]:
    """The clauses of a text, except those of questions."""
    words = reading.words
    asked = {word.sentence for word in words if word.text == "?"}
    start = 0
    for index in range(1, len(words) + 1):
        if index == len(words) or _begins_clause(words, index):
            clause = _clause(words, start, index) if words[start].sentence not in asked else None
            if clause is not None:
                yield clause
            start = index


def _begins_clause(words: Sequence[Word], index: int) -> bool:
    word, before = words[index], words[index - 1]
    text = word.text.lower()
    is_joined = before.text == "," and text in ("and", "or", "nor")
    return word.sentence != before.sentence or text in _BREAKS or is_joined


def _clause(words: Sequence[Word], start: int, end: int) -> _Clause | None:
    spelt = [word.text.lower() for word in words[start:end]]
    negators = [index for index in range(start, end) if _is_negator(words[index])]
    telling = [index for index in range(start, end) if index not in negators and _is_telling(words[index])]
    if not telling:
        return None
    keys, is_plain = tuple(words[index].key for index in telling), _DENYING.isdisjoint(spelt)
    if not negators:
        return _Clause(keys, tuple(telling), keys, is_plain=is_plain)
    negator = negators[0]
    any_of = next((index for index in range(negator, end) if words[index].text.lower() in _ANY), end)
    follows = words[end].text.lower() if end < len(words) else ""
    return _Clause(
        keys,
        tuple(telling),
        tuple(words[index].key for index in telling if index < any_of),
        negator=negator,
        denied=next((words[index].key for index in telling if index > negator), ""),
        is_general=any_of < end or words[negator].text.lower() in _GENERAL,
        is_plain=is_plain
        and len(negators) == 1
        and telling[-1] > negator
        and _LIMITS.isdisjoint(spelt[negator - start + 1 : negator - start + 3])
        and follows not in _CONDITIONS
        and spelt[0] not in _SUPPOSED,
    )


def _is_negator(word: Word) -> bool:
    """True for a word that denies; not in a title ("Never Say Never")."""
    return word.key == "not" or (word.text.lower() in _NEGATORS and word.kind != "name")


def _is_telling(word: Word) -> bool:
    return word.kind != "sign" and not word.common and word.text.lower() not in _ANY
