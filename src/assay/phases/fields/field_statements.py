"""A filled field as a sentence of the report: `FIELD of SUBJECT: VALUE`, cited, and checked before it stands there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from assay.core.clean import one_line
from assay.core.markers import strip
from assay.core.sources import Passage, ordinal_of
from assay.core.text import words
from assay.core.translation import gettext as _
from assay.core.translation import labelled
from assay.core.typed_answers import REFUTED, Field
from assay.evidence.ledger import Ledger
from assay.phases.fields.schema import FieldSlot
from assay.phases.fields.values import Unfit, convert, listed
from assay.verify.amounts import Amount, tokens
from assay.verify.checks import check
from assay.verify.evidence import ClaimEvidence, field_of
from assay.verify.number_words import SCALES
from assay.verify.plain import plain

LABEL_WORDS, SUBJECT_LENGTH = 6, 200
SHORT = 12
"""Words up to which a text has to stand in what it cites, word for word, in whatever order."""
IDENTITY = 6
"""A field which says what a document is called or numbered is among its first so many passages."""
_NAMING = frozenset(("title", "name"))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")


class FieldAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model gave for a field."""

    value: object = None
    passages: tuple[str, ...] = ()
    reason: str = ""


def stated(path: tuple[str | int, ...], slot: FieldSlot, given: FieldAnswer, subject: str, ledger: Ledger) -> Field:
    """The field, where what it cites bears its value; else empty, with the reason."""
    empty = Field(path=path, reason=one_line(given.reason)[:300] or _("no passage says it"))
    if given.value is None or given.value in ([], ""):
        return empty
    cited = ledger.resolve(given.passages).passages
    if not cited:
        why = _("what it cites does not exist") if given.passages else _("it cites no passage")
        return msgspec.structs.replace(empty, reason=labelled(why, shown(given.value)))
    try:
        value = listed(slot, given.value) if slot.many else convert(slot.leaf, given.value)
    except Unfit as unfit:
        return msgspec.structs.replace(empty, reason=str(unfit))
    return _checked(Field(path=path, value=value), slot, subject, cited, ledger)


def _checked(field: Field, slot: FieldSlot, subject: str, cited: Sequence[Passage], ledger: Ledger) -> Field:
    empty = Field(path=field.path)
    passages = (*cited, *_identity(cited, ledger))
    sources = {id: source for id in dict.fromkeys(p.source for p in passages) if (source := ledger.source(id))}
    evidence = ClaimEvidence(passages=passages, sources=sources)
    if slot.leaf.type == "string" and not slot.leaf.enum and not slot.leaf.format:
        missing = [text for text in _texts(field.value) if not _borne(text, evidence)]
        if missing:
            return msgspec.structs.replace(
                empty, reason=_("{value} is not in what it cites").format(value=repr(missing[0][:200]))
            )
    key = _label(slot, field.value, cited)
    sentence = f"{key} of {_subject(subject)}: {shown(field.value)}"
    found = check(sentence, evidence, True, off=("lexical",))  # words alone are weighed when the report is verified
    if found.rule == "number" and (said := _as_written(field.value, slot, cited)):
        # As it is written; and without the subject, where another figure stands nearer to its name than this one.
        for frame in (f"{key} of {_subject(subject)}", key):
            if found.verdict in REFUTED:
                sentence = f"{frame}: {said}"
                found = check(sentence, evidence, True, off=("lexical",))
    if found.verdict in REFUTED:
        return msgspec.structs.replace(empty, reason=found.reason)
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    return msgspec.structs.replace(field, sentence=sentence, passages=ids)


def line(field: Field) -> str:
    """The field as an item of the report, with its citation."""
    return f"- {field.sentence} [{', '.join(field.passages)}]"


def _as_written(value: object, slot: FieldSlot, cited: Sequence[Passage]) -> str:
    """A number as a cited passage writes it: with its zeros, its scale and its unit; "" where none has it.

    Where the field is counted in millions, 84.5 is what stands there as 84.5 million.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    wanted = Decimal(str(value))
    counted = any(word in SCALES for word in words(f"{_CAMEL.sub(' ', slot.name)} {slot.description}"))
    for passage in cited:
        for amount in tokens(plain(passage.text).text):
            if isinstance(amount, Amount) and not (amount.ordinal or amount.word):
                bare = counted and amount.scaled and amount.literal == f"{wanted:f}"
                if wanted in amount.values or bare:
                    return amount.text
    return ""


def label(name: str) -> str:
    """A property's name in words: `createdAt` and `created_at` as "Created at"."""
    found = [part for part in _CAMEL.split(name) if part][:LABEL_WORDS]
    text = " ".join(part if part.isupper() else part.lower() for part in found) or "Field"
    return text[:1].upper() + text[1:]


def shown(value: object) -> str:
    """A value on one line, as people write it."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return one_line(strip(str(value)))


def _label(slot: FieldSlot, value: object, cited: Sequence[Passage]) -> str:
    """The key of the header field which is cited and holds the value, else the field's own name."""
    wanted = set(words(shown(value)))
    for passage in cited:
        header = field_of(passage)
        if header is not None and wanted <= set(words(header.value)):
            text = passage.text.partition(":")[0].strip(" \t-*+_")
            return text[:1].upper() + text[1:]
    return label(slot.name)


def _subject(subject: str) -> str:
    text = one_line(strip(subject)).strip(" .:*_`[]#")
    return text[:SUBJECT_LENGTH].rstrip() or "this question"


def _identity(cited: Sequence[Passage], ledger: Ledger) -> list[Passage]:
    """Fields which say what the documents of the header fields cited are called or numbered, as far as shown."""
    own = {passage.id for passage in cited}
    sources = dict.fromkeys(passage.source for passage in cited if field_of(passage) is not None)
    first = (p for id in sources for p in ledger.passages(id) if ordinal_of(p.id) < IDENTITY)
    return [passage for passage in first if passage.id not in own and _names(passage)][:2]


def _names(passage: Passage) -> bool:
    header = field_of(passage)
    if header is None:
        return False
    return bool(set(header.name) & _NAMING) or (len(header.name) == 1 and header.value.isdecimal())


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]


def _borne(text: str, evidence: ClaimEvidence) -> bool:
    wanted = words(text)
    if len(wanted) > SHORT:
        return True  # a summary: its numbers and quotations are checked, its words are the verifier's
    held = {word for each in (*evidence.texts, *evidence.names()) for word in words(each)}
    return set(wanted) <= held and bool(wanted)
