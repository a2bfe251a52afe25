"""The name of what a document is about, where only its title says it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.text import words
from assay.models.questions.words import carries_topic, stems
from assay.models.shown_documents.passages import one_line
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_words import FieldAsked, StatedValue

_NAMING = frozenset(("name", "title"))
_JOINING = frozenset("a an the of de du la le di da del van von der den zu and und et y & v v. vs vs. at in".split())
_GENRES = frozenset(
    """
    notes note report minutes history guide introduction overview manual handbook readme changelog about release
    press news letter summary review appendix annex draft memo agenda index contents page document file
""".split()
)
"""A title that begins with one of these names a text about the thing."""


def name_in_title(asked: FieldAsked, books: Sequence[SourcePassages], shown: int) -> StatedValue | None:
    """The title of the only document that can be meant, if the field asks for a name and the title is one.

    The field is called "name" or "title", is described as one ("name of the product"), or its name is the kind of thing
    that the title ends with ("bridge": "Rotne Bridge"). `books` are the documents that the question names.
    """
    found = [value for book in books if (value := _title(asked, book, alone=shown == 1)) is not None]
    return found[0] if len(found) == 1 else None


def _title(asked: FieldAsked, book: SourcePassages, *, alone: bool) -> StatedValue | None:
    first = next((each for each in book.passages if each.id == book.heading), None)
    if asked.schema.get("type") != "string" or "enum" in asked.schema or asked.schema.get("format") or first is None:
        return None
    title = one_line(first.text)
    if not _is_name(title) or not _asks_for_it(asked, title):
        return None
    topics = {stem for word in words(title) if carries_topic(word) for stem in stems(word)}
    said = set(stems(asked.topics))
    meant = topics <= said or (alone and not topics.isdisjoint(said | set(stems(f"{asked.label} {asked.description}"))))
    return StatedValue(title, first.id) if meant else None


def _asks_for_it(asked: FieldAsked, title: str) -> bool:
    label, told, own = words(asked.label), words(asked.description), stems(title)
    if label[-1:] and label[-1] in _NAMING and all(stem in own for word in label[:-1] for stem in stems(word)):
        return True
    named = bool(_NAMING & set(told[:2])) and "of" in told[1:4]
    kind = len(label) == 1 and len(own) > 1 and stems(asked.label) == own[-1:]
    return (named and len(label) == 1) or kind


def _is_name(title: str) -> bool:
    """True if every word of a title begins like a name, and the first is no kind of text."""
    parts = title.split()
    first = words(parts[0]) if parts else []
    capital = all(part[:1].isupper() or part[:1].isdigit() or part.casefold() in _JOINING for part in parts)
    return bool(first) and first[0] not in _GENRES and capital and not title.endswith((".", "?", "!", ":"))
