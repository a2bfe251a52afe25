"""Converts a model's answers for fields into the values that their schema requires."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from math import inf

import msgspec

from assay.core import measures
from assay.core.citations.whole_source import WholeSource
from assay.core.claims import Check
from assay.core.clean import one_line
from assay.core.dimensions import dimension_of, unit_of
from assay.core.lazy import regex
from assay.core.lexicon import SCALES
from assay.core.markers import strip_markers
from assay.core.measures import split_label
from assay.core.sources import Passage, ordinal_of
from assay.core.text import words, words_of_name
from assay.core.translation import gettext as _
from assay.core.translation import label_text
from assay.core.typed_answers import REFUTED, Field, Scalar
from assay.evidence.ledger import Ledger
from assay.phases.fields.schema import FieldSlot, Leaf
from assay.verify.amounts import Amount, Day, tokens
from assay.verify.analyzed_text import fold_text
from assay.verify.checks import check_by_code
from assay.verify.evidence import ClaimEvidence, read_field

MAX_TEXT_CHARS = 2_000
"""The most code points of a text."""
MAX_VALUES = 200
"""The most values of a list."""
_GROUPED = regex(r"[+-]?\d{1,3}(?:[,_ \u00a0\u202f'’]\d{3})+(?:\.\d+)?")
_YES, _NO = frozenset(("true", "yes")), frozenset(("false", "no"))


class UnfitValue(ValueError):
    """A value that does not match the schema; the message says why."""


def convert_value(leaf: Leaf, value: object) -> Scalar:
    """`value` in the type of `leaf`; it also reads numbers and booleans written as text, and dates in any notation.

    Raises:
        Unfit: it cannot be, or lies outside its bounds.
    """
    result = _convert_type(leaf, value)
    if leaf.enum:
        result = _enum_member(leaf, result)
    _check_bounds(leaf, result)
    return result


def list_values(slot: FieldSlot, value: object) -> tuple[Scalar, ...]:
    """The values of a list, each once; a single value counts as a list of one.

    Raises:
        Unfit: one is not what its schema asks for, or there are too few or too many.
    """
    items = value if isinstance(value, list) else [value]
    values = tuple(dict.fromkeys(convert_value(slot.leaf, item) for item in items[: MAX_VALUES + 1]))
    max_count = MAX_VALUES if slot.max_count is None else min(slot.max_count, MAX_VALUES)
    if not slot.min_count <= len(values) <= max_count:
        raise UnfitValue(f"{len(values)} values are not from {slot.min_count} to {max_count}")
    return values


def _convert_type(leaf: Leaf, value: object) -> Scalar:
    if leaf.type == "boolean":
        return _boolean(value)
    if leaf.type in ("integer", "number"):
        return _number(leaf, value)
    text = (
        one_line(strip_markers(str(value)))
        if isinstance(value, str | int | float) and not isinstance(value, bool)
        else ""
    )
    if not text:
        raise UnfitValue(f"{_short_text(value)} is no text")
    if len(text) > MAX_TEXT_CHARS:
        raise UnfitValue(f"the text is longer than {MAX_TEXT_CHARS:,} characters")
    if leaf.format == "date":
        return _date(text)
    return _moment(text) if leaf.format == "date-time" else text


def _boolean(value: object) -> bool:
    word = value.strip().casefold() if isinstance(value, str) else ""
    if isinstance(value, bool):
        return value
    if word in _YES | _NO:
        return word in _YES
    raise UnfitValue(f"{_short_text(value)} is neither true nor false")


def _number(leaf: Leaf, value: object) -> int | float:
    number: object = value
    if isinstance(value, str):
        text = value.strip().replace("\u2212", "-")
        text = re.sub(r"[,_ \u00a0\u202f'’]", "", text) if _GROUPED.fullmatch(text) else text
        number = _parse_number(text)
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or number != number
        or abs(number) == float("inf")
    ):
        raise UnfitValue(f"{_short_text(value)} is no number")
    if leaf.type == "number":
        return number
    if number != int(number):
        raise UnfitValue(f"{_short_text(value)} is no whole number")
    return int(number)


def _parse_number(text: str) -> int | float | None:
    if len(text) > 60 or not text.isascii():
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _date(text: str) -> str:
    """An ISO date."""
    try:
        return date.fromisoformat(text[:10] if text[10:11] == "T" else text).isoformat()
    except ValueError:
        pass
    days = [token for token in tokens(fold_text(text).text) if isinstance(token, Day)]
    if len(days) == 1 and days[0].year and days[0].month and days[0].day:
        try:
            return date(days[0].year, days[0].month, days[0].day).isoformat()
        except ValueError:
            pass
    raise UnfitValue(f"{_short_text(text)} is no whole date")


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise UnfitValue(f"{_short_text(text)} is no date with a time") from None


def _enum_member(leaf: Leaf, value: Scalar) -> Scalar:
    folded_value = _fold_value(value)
    for member in leaf.enum:
        if member == value and isinstance(member, bool) == isinstance(value, bool):
            return member
    for member in leaf.enum:
        if isinstance(member, str) and _fold_value(member) == folded_value:
            return member
    raise UnfitValue(f"{_short_text(value)} is none of {', '.join(map(str, leaf.enum))[:200]}")


def _fold_value(value: Scalar) -> str:
    return " ".join(str(value).casefold().split())


def _check_bounds(leaf: Leaf, value: Scalar) -> None:
    if isinstance(value, str):
        if not leaf.bounds.get("minLength", 0) <= len(value) <= leaf.bounds.get("maxLength", MAX_TEXT_CHARS):
            raise UnfitValue(f"the text has {len(value)} characters, which its bounds do not allow")
    elif not isinstance(value, bool) and not _is_within_bounds(leaf, value):
        raise UnfitValue(f"{value} is outside its bounds")


def _is_within_bounds(leaf: Leaf, value: float) -> bool:
    bounds = leaf.bounds
    strictly = bounds.get("exclusiveMinimum", -inf) < value < bounds.get("exclusiveMaximum", inf)
    return strictly and bounds.get("minimum", -inf) <= value <= bounds.get("maximum", inf)


def _short_text(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:80]}…"


# A filled field as a sentence, cited and checked: `FIELD of SUBJECT: VALUE`, or `FIELD: VALUE` if nothing is named.

LABEL_WORDS, SUBJECT_LENGTH = 6, 200
MAX_SHORT_WORDS = 12
"""The most words of a text that must all occur in the cited passages, in any order."""
IDENTITY_PASSAGES = 6
"""How many passages at the beginning of a document may contain the field with its name or number."""
WHOLE_NUMBER_FROM = 100
"""A converted number this large may be stated without its decimals."""
_NAMING = frozenset(("title", "name"))


class FieldAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer for a field."""

    value: object = None
    passages: tuple[str, ...] = ()
    reason: str = ""


def supported_field(
    path: tuple[str | int, ...], slot: FieldSlot, answer: FieldAnswer, subject: str, ledger: Ledger
) -> Field:
    """The field with its value if the cited passages support it; else empty, with the reason."""
    empty = Field(path=path, reason=one_line(answer.reason)[:300] or _("no passage says it"))
    if answer.value is None or answer.value in ([], ""):
        return empty
    cited_passages = _cited_passages(answer, f"{' '.join(words_of_name(slot.name))} {value_text(answer.value)}", ledger)
    if not cited_passages:
        return msgspec.structs.replace(
            empty, reason=label_text(_uncited_reason(answer, ledger), value_text(answer.value))
        )
    try:
        value = list_values(slot, answer.value) if slot.is_list else convert_value(slot.leaf, answer.value)
    except UnfitValue as unfit:
        return msgspec.structs.replace(empty, reason=str(unfit))
    return _check_field(Field(path=path, value=value), slot, subject, cited_passages, ledger)


def _cited_passages(answer: FieldAnswer, statement: str, ledger: Ledger) -> tuple[Passage, ...]:
    """The cited passages of an answer; of a source cited as a whole, those that `statement` means."""
    citations = ledger.resolve(answer.passages)
    best_passages = (
        p for source in citations.sources for p in WholeSource(ledger.passages(source.id)).best_passages(statement)
    )
    return tuple({passage.id: passage for passage in (*citations.passages, *best_passages)}.values())


def _uncited_reason(answer: FieldAnswer, ledger: Ledger) -> str:
    """Why an answer has no passages."""
    if ledger.resolve(answer.passages).sources:
        return _("the cited document shares no word with it")
    return _("what it cites does not exist") if answer.passages else _("it cites no passage")


def _check_field(
    field: Field, slot: FieldSlot, subject: str, cited_passages: Sequence[Passage], ledger: Ledger
) -> Field:
    empty = Field(path=field.path)
    passages = (*cited_passages, *_identifying_passages(cited_passages, ledger))
    sources = {id: source for id in dict.fromkeys(p.source for p in passages) if (source := ledger.source(id))}
    evidence = ClaimEvidence(passages=passages, sources=sources)
    if slot.leaf.type == "string" and not slot.leaf.enum and not slot.leaf.format:
        missing = [text for text in _value_texts(field.value) if not _is_in_evidence(text, evidence)]
        if missing:
            return msgspec.structs.replace(
                empty, reason=_("{value} is not in what it cites").format(value=repr(missing[0][:200]))
            )
    key = _cited_label(slot, field.value, cited_passages)
    sentence, check = _check_sentence(key, subject, slot, field.value, evidence)
    if check.verdict in REFUTED:
        return msgspec.structs.replace(empty, reason=check.reason)
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    return msgspec.structs.replace(field, sentence=sentence, passages=ids)


def _check_sentence(
    key: str, subject: str, slot: FieldSlot, value: object, evidence: ClaimEvidence
) -> tuple[str, Check]:
    """The sentence that states a value, and its check: with the unit of the field's label, if it names one.

    A converted number is stated with what it is converted from, and with no more digits than that can have. If a number
    is not written so, it is stated as the passage writes it; and without the subject, if another figure is nearer to
    its name than this one.
    """
    about, plain_value = _subject(subject), value_text(value)
    subject_label = f"{key} of {about}" if about else key
    unit = split_label(slot.name).unit if isinstance(value, int | float) and not isinstance(value, bool) else ""
    sentence = f"{subject_label}: {plain_value} {unit}".rstrip()
    check = check_by_code(
        sentence, evidence, True, checks_off=("lexical",)
    )  # words alone are weighed when the report is verified
    amount_text = _written_amount(value, slot, evidence.passages) if unit or check.rule == "number" else ""
    other_amount = amount_text if _has_unit_other_than(amount_text, unit) else ""
    digits = [plain_value, *([f"{value:.0f}"] if isinstance(value, float) and abs(value) >= WHOLE_NUMBER_FROM else [])]
    variants = [f"{subject_label}: {text} {unit} ({other_amount})" for text in digits] if other_amount else []
    variants += [f"{frame}: {amount_text}" for frame in dict.fromkeys((subject_label, key))] if amount_text else []
    for text in variants if check.verdict in REFUTED or other_amount else ():
        variant_check = check_by_code(text, evidence, True, checks_off=("lexical",))
        if variant_check.verdict not in REFUTED:
            return text, variant_check
    return sentence, check


def _has_unit_other_than(amount_text: str, unit: str) -> bool:
    """True if an amount as written has a unit, and another one than this."""
    amounts = [token for token in tokens(amount_text) if isinstance(token, Amount)] if amount_text and unit else []
    return any(
        amount_unit and amount_unit != measures.UNIT_NAMES[unit.lower()]
        for amount in amounts
        for amount_unit in amount.units
    )


def field_line(field: Field) -> str:
    """The field as a list item of the report, with its citation."""
    return f"- {field.sentence} [{', '.join(field.passages)}]"


def _written_amount(value: object, slot: FieldSlot, cited_passages: Sequence[Passage]) -> str:
    """A number as a cited passage writes it, with its zeros, scale and unit; "" if no passage has it.

    If the field is counted in millions, 84.5 matches "84.5 million" in the passage; if it is in metres, 1500 matches
    "1.5 kilometres".
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    number = Decimal(str(value))
    name, label_unit = split_label(slot.name)
    label = f"{' '.join(words_of_name(name))} {slot.description}"
    is_scaled = any(word in SCALES for word in words(label))
    described_unit = unit_of(label, dimension_of(label)) if dimension_of(label) else ""
    unit = measures.UNIT_NAMES.get((label_unit or described_unit).lower(), "")
    for passage in cited_passages:
        for amount in tokens(fold_text(passage.text).text):
            if isinstance(amount, Amount) and not (amount.ordinal or amount.word):
                matches_scaled = is_scaled and amount.scaled and amount.literal == f"{number:f}"
                if number in amount.values or matches_scaled or _equals_converted(amount, number, unit):
                    return amount.text
    return ""


def _equals_converted(amount: Amount, number: Decimal, unit: str) -> bool:
    """True if an amount in another unit is `number` in this one."""
    other_units = [other_unit for other_unit in amount.units if measures.are_comparable(other_unit, unit)]
    return any(
        measures.round_converted(measures.convert(value, other_unit, unit)) == number
        for other_unit in other_units
        for value in amount.values
    )


def field_label(name: str) -> str:
    """A property's name in words, without its unit: `createdAt` as "Created at"; words set apart keep their case."""
    name_words, is_text = words_of_name(split_label(name).label)[:LABEL_WORDS], " " in name.strip()
    text = " ".join(part if is_text or part.isupper() else part.lower() for part in name_words) or "Field"
    return text[:1].upper() + text[1:]


def value_text(value: object) -> str:
    """A value on one line, as people write it."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value))
    return one_line(strip_markers(str(value)))


def _cited_label(slot: FieldSlot, value: object, cited_passages: Sequence[Passage]) -> str:
    """The key of the cited header field with the value, else the field's own name."""
    value_words = set(words(value_text(value)))
    for passage in cited_passages:
        header = read_field(passage)
        if header is not None and value_words <= set(words(header.value)):
            text = passage.text.partition(":")[0].strip(" \t-*+_")
            return text[:1].upper() + text[1:]
    return field_label(slot.name)


def _subject(subject: str) -> str:
    text = one_line(strip_markers(subject)).strip(" .:*_`[]#")
    return text[:SUBJECT_LENGTH].rstrip()


def _identifying_passages(cited_passages: Sequence[Passage], ledger: Ledger) -> list[Passage]:
    """The fields with the names or numbers of the cited documents, as far as they are shown."""
    cited_ids = {passage.id for passage in cited_passages}
    sources = dict.fromkeys(passage.source for passage in cited_passages if read_field(passage) is not None)
    first = (p for id in sources for p in ledger.passages(id) if ordinal_of(p.id) < IDENTITY_PASSAGES)
    return [passage for passage in first if passage.id not in cited_ids and _is_naming_field(passage)][:2]


def _is_naming_field(passage: Passage) -> bool:
    header = read_field(passage)
    if header is None:
        return False
    return bool(set(header.name) & _NAMING) or (len(header.name) == 1 and header.value.isdecimal())


def _value_texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, tuple) else [str(value)]


def _is_in_evidence(text: str, evidence: ClaimEvidence) -> bool:
    text_words = words(text)
    if len(text_words) > MAX_SHORT_WORDS:
        return True  # a summary: its numbers and quotations are checked, its words are the verifier's
    evidence_words = {word for evidence_text in (*evidence.texts, *evidence.names()) for word in words(evidence_text)}
    return set(text_words) <= evidence_words and bool(text_words)
