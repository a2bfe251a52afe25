"""Hides the values of a claim, so that a judge must find them in the evidence instead of agreeing.

Hidden are figures and measures; if there are none, dates; and names, of which one is always left to say what the claim
is about. A number in a name ("PEP 8") stays, and so does a spelled-out number without a unit ("one of the first"),
since a claim without them says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from string import ascii_uppercase
from typing import Literal

import msgspec

from assay.core.languages import detect_language
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.core.relevance.topic_question import CAPITALIZING
from assay.core.text import words
from assay.verify.amounts import Amount, Day, Token, tokens
from assay.verify.amounts import Literal as Written
from assay.verify.analyzed_text import COMMON, AnalyzedText, analyze_text, fold_text
from assay.verify.evidence import SlotFinding
from assay.verify.judge.answers import JudgedValue
from assay.verify.number_matches import states

Kind = Literal["number", "date", "name"]
NameScope = Literal["all", "stated", "none"]
"""Which names are hidden: all, only those that the evidence has too, or none."""
MAX_HIDDEN_VALUES = 12
"""Values hidden in one claim; a row with more is mostly figures, and the rest stays."""
MAX_NAMES = 2

_NUMBERED = regex(r"[ -]?\d")
"""The text after a name that continues with a number."""


class HiddenValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the claim: code points `[start, end)`; `token` is a number or date in the form for comparison."""

    letter: str
    kind: Kind
    text: str
    start: int
    end: int
    token: Token | None = None


class MaskedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """`text` is the claim with `{A}`, `{B}` … in place of its `hidden` values, which are in order."""

    text: str
    hidden: tuple[HiddenValue, ...] = ()


def name_scope(claim_language: str, evidence: Sequence[str]) -> NameScope:
    """Which names to hide in a claim of this language, beside these texts.

    A capitalized word that the evidence lacks is a name to look for only if both are in the same language, and not
    every noun has a capital there; else it is mostly a noun in other words, and asking for it costs a second question.
    """
    evidence_language = detect_language(" ".join(evidence))
    is_translated = bool(claim_language and evidence_language) and claim_language != evidence_language
    return "stated" if is_translated or claim_language in CAPITALIZING else "all"


def mask_values(claim: str, findings: Sequence[SlotFinding], *, names: NameScope = "all") -> MaskedClaim:
    """Hide the values of `claim` that `findings` report, with the names in scope."""
    reading = analyze_text(claim)
    candidates = sorted(_values_to_hide(claim, reading, findings, names), key=lambda value: (value.start, -value.end))
    letters = [letter for letter in ascii_uppercase if _placeholder(letter) not in claim]
    hidden: list[HiddenValue] = []
    for value in candidates:
        if len(hidden) == min(MAX_HIDDEN_VALUES, len(letters)) or (hidden and value.start < hidden[-1].end):
            continue
        hidden.append(msgspec.structs.replace(value, letter=letters[len(hidden)]))
    text, position = "", 0
    for value in hidden:
        text += claim[position : value.start] + _placeholder(value.letter)
        position = value.end
    return MaskedClaim(text=text + claim[position:], hidden=tuple(hidden))


def _placeholder(letter: str) -> str:
    return f"{{{letter}}}"


def _values_to_hide(
    claim: str, reading: AnalyzedText, findings: Sequence[SlotFinding], names: NameScope
) -> list[HiddenValue]:
    quotes = [finding.slot for finding in findings if finding.rule == "quote"]
    eligible = [
        finding
        for finding in findings
        if 0 <= finding.slot.start < finding.slot.end <= len(claim)
        and not any(quote.start <= finding.slot.start < quote.end for quote in quotes)
    ]
    values = list(_hidden_values(claim, reading, eligible))
    numbers = [value for value in values if value.kind == "number"] or values
    if names == "none":
        return numbers
    in_scope = [finding for finding in eligible if names == "all" or finding.outcome == "stated"]
    return [*numbers, *_names(claim, in_scope, alone=not numbers)]


def _hidden_values(claim: str, reading: AnalyzedText, findings: Sequence[SlotFinding]) -> Iterator[HiddenValue]:
    """Numbers and dates, each once."""
    indices = {reading.origin(index, index): index for index, word in enumerate(reading.words) if word.token}
    seen: set[int] = set()
    for finding in findings:
        index = indices.get((finding.slot.start, finding.slot.end))
        if finding.rule not in ("number", "date") or index is None or index in seen:
            continue
        kind = _kind(reading, index)
        if kind is not None:
            seen.add(index)
            yield _hidden(claim, finding, kind, reading.words[index].token)


def _kind(reading: AnalyzedText, index: int) -> Kind | None:
    """The kind of a token's value; None if it is not hidden."""
    token = reading.words[index].token
    if isinstance(token, Day) or (isinstance(token, Amount) and token.year):
        return "date"
    if isinstance(token, Written):
        return "number" if ":" in token.text else None
    if isinstance(token, Amount) and not token.ordinal:
        if _is_counter(reading, index):
            return None
        has_measure = token.units != ("",) or token.currency or token.scaled
        if has_measure or not (token.word or _is_in_name(reading, index)):
            return "number"
    return None


def _is_counter(reading: AnalyzedText, index: int) -> bool:
    """True if the number counts an item ("and 2) the other") or a reference ("[17]")."""
    word, text = reading.words[index], reading.plain.text
    before, after = text[max(0, word.start - 1) : word.start], text[word.end : word.end + 1]
    return (after == ")" and "(" not in text) or (before == "[" and after == "]")


def _is_in_name(reading: AnalyzedText, index: int) -> bool:
    """True if the number follows a name or a hyphen directly: "PEP 8", "COVID-19"."""
    if index == 0:
        return False
    word, before = reading.words[index], reading.words[index - 1]
    if before.text.lower() in MONTHS:
        return False
    return word.start - before.end <= 1 and (before.kind == "name" or before.text == "-")


def _names(claim: str, findings: Sequence[SlotFinding], *, alone: bool) -> list[HiddenValue]:
    """Names, those missing in the evidence first; all but one, and if values are hidden too, only missing ones."""
    name_findings = [entry for entry in findings if entry.rule == "name" and not _NUMBERED.match(claim, entry.slot.end)]
    if len(name_findings) < 2:
        return []
    anchor = next((finding for finding in name_findings if finding.outcome == "stated"), name_findings[0])
    candidates = [
        finding for finding in name_findings if finding is not anchor and (alone or finding.outcome != "stated")
    ]
    candidates.sort(key=lambda finding: (finding.outcome == "stated", -finding.slot.start))
    return [_hidden(claim, finding, "name", None) for finding in candidates[:MAX_NAMES]]


def _hidden(claim: str, finding: SlotFinding, kind: Kind, token: Token | None) -> HiddenValue:
    start = finding.slot.start
    end = start + len(claim[start : finding.slot.end].rstrip(" ."))
    return HiddenValue(letter="", kind=kind, text=claim[start:end], start=start, end=end, token=token)


# Compares, in code, the judge's value for each hidden one with the claim's.

Outcome = Literal["same", "other", "not stated", "invented", "missing"]
_NOT_STATED = frozenset(
    (
        *("", "not stated", "none", "n/a", "na", "null", "unknown", "not given", "not mentioned", "not specified"),
        *("not in the evidence", "not provided", "unspecified", "unstated", "nothing", "-", "not found", "no value"),
    )
)


class ComparedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the claim, and the one the judge found in the evidence, empty for none."""

    text: str
    kind: Kind
    outcome: Outcome
    said: str = ""


def compare_values(
    hidden: Sequence[HiddenValue], judged_values: Sequence[JudgedValue], texts: Sequence[str]
) -> tuple[ComparedValue, ...]:
    """A slot for each hidden value, in order; `texts` are those the judge was shown."""
    evidence = _Evidence(texts)
    return tuple(
        _compare_value(
            hidden_value, [entry.value for entry in judged_values if entry.slot == hidden_value.letter], evidence
        )
        for hidden_value in hidden
    )


class _Evidence:
    """The texts shown, analyzed when first needed."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.plain = [fold_text(text).text for text in texts]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(token for text in self.plain for token in tokens(text))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for text in self.plain for word in words(text))


_ORDER: tuple[Outcome, ...] = ("same", "other", "not stated", "invented", "missing")
"""Of several values for one slot the best counts: the evidence may give more than one that fits."""


def _compare_value(hidden: HiddenValue, values: Sequence[str], evidence: _Evidence) -> ComparedValue:
    outcomes = [(_outcome(hidden, value, evidence), value) for value in values] or [("missing", "")]
    outcome, answer = min(outcomes, key=lambda each: _ORDER.index(each[0]))
    evidence_value = answer if outcome in ("same", "other", "invented") else ""
    return ComparedValue(text=hidden.text, kind=hidden.kind, outcome=outcome, said=evidence_value)


def _outcome(hidden: HiddenValue, value: str, evidence: _Evidence) -> Outcome:
    folded = fold_text(value).text
    if folded.strip(" .'\"").lower() in _NOT_STATED:
        return "not stated"
    if hidden.token is None:
        return _compare_names(hidden.text, folded, evidence)
    stated_tokens = [
        token
        for token in tokens(folded)
        if any(states(evidence_token, token, evidence.tokens) for evidence_token in evidence.tokens)
    ]
    if stated_tokens:
        # A value the judge shortened counts as it is in the evidence too: "1.5 million" for 1,523,400.
        candidates = [
            *stated_tokens,
            *(
                evidence_token
                for evidence_token in evidence.tokens
                for token in stated_tokens
                if states(evidence_token, token, evidence.tokens)
            ),
        ]
        return "same" if any(states(token, hidden.token, evidence.tokens) for token in candidates) else "other"
    return "not stated" if any(folded in text for text in evidence.plain) and not tokens(folded) else "invented"


def _compare_names(name: str, value: str, evidence: _Evidence) -> Outcome:
    """Names are equal if one contains all words of the other, or is its initials."""
    ours, theirs = _significant_words(name), _significant_words(value)
    if not theirs or not set(theirs) <= evidence.words:
        return "invented"
    if set(ours) <= set(theirs) or set(theirs) <= set(ours):
        return "same"
    initials = ("".join(word[0] for word in ours), "".join(word[0] for word in theirs))
    return "same" if initials[0] in theirs or initials[1] in ours else "other"


def _significant_words(name: str) -> list[str]:
    name_words = words(fold_text(name).text)
    return [word for word in name_words if word not in COMMON] or name_words
