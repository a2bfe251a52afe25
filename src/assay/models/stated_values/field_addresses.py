"""Fields for an e-mail or web address or a DOI: the only one in passages with the field's other words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core.dois import DOI, find_doi
from assay.core.lexicon import stop_terms
from assay.core.patterns import regex
from assay.core.relevance import read_question
from assay.core.relevance.topic_question import keys
from assay.core.text import words
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_words import FieldAsked, StatedValue

_EMAIL = regex(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?!\w)")
_WEB = regex(r"https?://[^\s<>\"'`|]{3,300}")
_OF_MAIL = frozenset(("email", "mail"))
_OF_WEB = frozenset(("url", "uri", "website", "homepage", "webpage"))
_OF_DOI = frozenset(("doi",))
_GENERIC = _OF_MAIL | _OF_WEB | _OF_DOI | frozenset("e address contact web site page online official link".split())
"""Words that only say what kind of address is meant."""
_TAIL = ".,;:!?)]}*_»”’"


def address_kind(asked: FieldAsked) -> re.Pattern[str] | None:
    """The form of the address that a field asks for by its name; None if it asks for none."""
    said = frozenset(words(asked.label))
    if asked.schema.get("type") != "string" or "enum" in asked.schema:
        return None
    forms = ((_OF_DOI, DOI), (_OF_MAIL, _EMAIL), (_OF_WEB, _WEB))
    return next((form for names, form in forms if said & names), None)


def address(asked: FieldAsked, form: re.Pattern[str], books: Sequence[SourcePassages]) -> StatedValue | None:
    """The address; None if the documents have none, or several that may be meant."""
    analysis = read_question(asked.text).analysis
    subject = frozenset(keys(" ".join(asked.names), analysis))
    wanted = frozenset(key for word in words(asked.label) if word not in _GENERIC for key in keys(word, analysis))
    wanted -= stop_terms(analysis) | subject
    found: dict[str, str] = {}
    for book in books:
        for passage in book.passages:
            if wanted <= frozenset(keys(" ".join((passage.under, passage.text)), analysis)):
                for match in form.finditer(passage.text):
                    whole = find_doi(match[0], "") if form is DOI else match[0].rstrip(_TAIL)
                    found.setdefault(whole, passage.id)
    return StatedValue(*next(iter(found.items()))) if len(found) == 1 else None
