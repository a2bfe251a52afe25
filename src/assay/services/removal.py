"""Removes documents from collections: only what is named whole, since a part of a name may be that of others too."""

from __future__ import annotations

import asyncio
import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from assay.core.errors import UnknownName, UsageError
from assay.core.lazy import regex
from assay.core.ports import Library, Origin
from assay.core.sources import Document
from assay.core.ways import suggest_command
from assay.services import places
from assay.services.context import Context
from assay.services.places import FILES
from assay.services.shelves import MAX_NAMED, check_collection, forget_pages, is_exact_reference, single_document

HASH_PREFIX = 8
"""Fewer characters are no number of a document."""


async def remove(context: Context, references: Sequence[str], collection: str) -> list[Document]:
    """Take documents out of a collection, by hash, name, address, title or path; see `DocumentLibrary.remove`."""
    await check_collection(context, collection)
    removed = await asyncio.to_thread(_remove, context, references, collection)
    await asyncio.to_thread(forget_pages, context, removed)
    return removed


async def documents_to_remove(context: Context, references: Sequence[str], collection: str) -> list[Document]:
    """The documents `remove` would take out; see `DocumentLibrary.meant`."""
    await check_collection(context, collection)
    documents, _ = await asyncio.to_thread(_documents_and_origins, context.store.library, references, collection)
    return documents


def _remove(context: Context, references: Sequence[str], collection: str) -> list[Document]:
    library = context.store.library
    documents, whole_origins = _documents_and_origins(library, references, collection)
    urls = {document.sha256: document.url for document in documents}
    library.remove(urls, collection)
    library.forget_origins(collection, [origin.place for origin in whole_origins])
    changed = [places.exclude_documents(origin, urls) for origin in library.origins(collection)]
    library.add_origins(collection, changed)
    return documents


def _documents_and_origins(
    library: Library, references: Sequence[str], collection: str
) -> tuple[list[Document], list[Origin]]:
    """The documents that are meant, and the origins that are meant completely."""
    origins = library.origins(collection)
    origins_by_place = {origin.place: origin for origin in origins}
    documents: dict[str, Document] = {}
    whole_origins = []
    for reference in references:
        if not reference.strip():  # as a path it would be the current folder, as the start of a hash any document
            raise UsageError("a name of a document is empty: write one")
        named_origin = origins_by_place.get(reference) or origins_by_place.get(places.absolute_path(reference))
        if named_origin is None:
            inside, lying = _find_by_name(library, reference, collection, origins)
        else:
            inside, lying = (
                _find_in_folder(library, named_origin.place, collection, origins)
                if named_origin.kind == FILES
                else ([], [])
            )
            inside = [named_origin, *inside]
        whole_origins += inside
        documents |= {document.sha256: document for document in lying}
        other_hashes = {sha for origin in origins if origin not in whole_origins for sha in origin.documents}
        mine = library.documents_by_hash(
            [sha for origin in inside for sha in origin.documents if sha not in other_hashes]
        )
        documents |= {document.sha256: document for document in mine}
    return list(documents.values()), whole_origins


def _find_by_name(
    library: Library, reference: str, collection: str, origins: Sequence[Origin]
) -> tuple[list[Origin], list[Document]]:
    """The origins and the documents meant by what is no origin itself: a document, a file, or a folder.

    Raises:
        UnknownName: there is no such document.
        UsageError: there are several.
    """
    similar = library.find(reference, [collection])
    matches = [document for document in similar if _is_named(document, reference)]
    if not any(is_exact_reference(document, reference) for document in matches):
        inside, lying = _find_in_folder(library, reference, collection, origins)
        lying = lying or _file_documents(library, reference, collection)
        if inside or lying:
            return inside, lying
    matches = matches or [document for document in similar if _file_name(document) == reference]
    if not matches and similar:
        examples = ", ".join(
            f"{document.sha256[:8]} ({document.title or document.name})" for document in similar[:MAX_NAMED]
        )
        ellipsis = ", …" if len(similar) > MAX_NAMED else ""
        command = suggest_command("name documents", "")
        hint = f"in {collection}, only documents with this in their names: {examples}{ellipsis}; {command}"
        raise UnknownName("document", reference, hint=hint)
    return [], [single_document(matches, reference, [collection])]


def _is_named(document: Document, reference: str) -> bool:
    """True if a reference is all of a document's name, address or title in any case, or the start of its hash."""
    folded = _fold(reference)
    if len(folded) >= HASH_PREFIX and document.sha256.startswith(folded):
        return True
    return folded in map(_fold, (document.name, document.url, document.title))


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _file_name(document: Document) -> str:
    return PurePosixPath(document.name).name


def _find_in_folder(
    library: Library, reference: str, collection: str, origins: Sequence[Origin]
) -> tuple[list[Origin], list[Document]]:
    """The origins within a folder (or an archive), and the documents from it, however they were added, without those
    that a place outside it gave too.
    """
    folder = places.absolute_path(reference)
    try:
        folders = dict.fromkeys((folder, os.path.realpath(folder)))  # documents have the address behind a link
        bases = [Path(path).as_uri().rstrip("/") for path in folders]
    except ValueError:  # no path
        return [], []
    below = tuple(f"{path.rstrip(os.sep)}{os.sep}" for path in folders)
    inside = [origin for origin in origins if origin.kind == FILES and origin.place.startswith(below)]
    if not inside and os.sep not in reference and not os.path.isdir(folder):
        return [], []
    starts = tuple(f"{base}{end}" for base in bases for end in ("/", places.MEMBER))
    other_origins = [origin for origin in origins if origin not in inside and not places.may_contain(origin, folders)]
    elsewhere = {sha for origin in other_origins for sha in origin.documents}
    lying = (document for document in library.documents([collection]) if document.url.startswith(starts))
    return inside, [document for document in lying if document.sha256 not in elsewhere]


def _file_documents(library: Library, reference: str, collection: str) -> list[Document]:
    """The documents of the file at a path: by its address, or as it was last read."""
    path = places.absolute_path(reference)
    try:
        addresses = [Path(path_text).as_uri() for path_text in dict.fromkeys((path, os.path.realpath(path)))]
    except ValueError:
        return []
    documents = [document for uri in addresses for document in library.find(uri, [collection]) if document.url == uri]
    stamped_hashes = {sha for stamp in library.stamps([path]).values() for sha in stamp.documents}
    if not documents and stamped_hashes:
        documents = [document for document in library.documents([collection]) if document.sha256 in stamped_hashes]
    return documents


# Patterns, which only a person types: a name that a program sends may have a star in it.


def is_pattern(reference: str) -> bool:
    """True if a reference is a pattern, unless something is called so."""
    return bool(_PATTERN.search(reference))


def expand_patterns(
    references: Sequence[str], documents: Sequence[Document], origins: Sequence[Origin], collection: str
) -> list[str]:
    """References with the hashes of what they match in place of patterns. A name or a place is no pattern.

    Raises:
        UnknownName: a pattern matches nothing.
    """
    place_names = {origin.place for origin in origins}
    expanded: list[str] = []
    for reference in references:
        hashes = [document.sha256 for document in documents if _is_named(document, reference)]
        if not is_pattern(reference) or hashes or {reference, places.absolute_path(reference)} & place_names:
            expanded.append(reference)
            continue
        hashes = [document.sha256 for document in matching_documents(reference, documents)]
        if not hashes:
            raise UnknownName("document", reference, hint=f"in {collection}, and the pattern matches none")
        expanded += hashes
    return expanded


def matching_documents(pattern: str, documents: Iterable[Document]) -> list[Document]:
    """The documents whose name, file name, title, address or path a pattern matches, in any case.

    `*` and `?` stand for characters within one part of a path or an address, `**` for any folders too.
    """
    whole_pieces, of_path = (_PIECE.findall(_fold(text)) for text in (pattern, _address_of(pattern)))
    return [
        document
        for document in documents
        if any(
            _matches(whole_pieces, _fold(text))
            for text in (document.name, _file_name(document), document.title, document.url)
            if text
        )
        or _matches(of_path, _fold(unquote(document.url)))
    ]


def _address_of(path: str) -> str:
    return unquote(Path(places.absolute_path(path)).as_uri())


_PATTERN = regex(r"[*?]")
_PIECE = regex(r"\*\*/?|\*|\?|[^*?]+")


def _matches(pieces: Sequence[str], text: str) -> bool:
    """True if the pieces of a pattern make up a text.

    Not by a regular expression, which for many stars would try all ways to share the text among them.
    """
    if not pieces or (pieces[-1][0] not in "*?" and not text.endswith(pieces[-1])):
        return False
    ends = {0}
    for piece in pieces:
        ends = _piece_ends(piece, text, ends)
    return len(text) in ends


def _piece_ends(piece: str, text: str, starts: set[int]) -> set[int]:
    """Where a piece of a pattern can end that begins at one of these places."""
    places_left = range(min(starts, default=len(text) + 1), len(text) + 1)
    match piece:
        case "**/":
            return starts | {position + 1 for position in places_left[:-1] if text[position] == "/"}
        case "**":
            return set(places_left)
        case "*":
            ends = set(starts)
            for position in places_left[:-1]:
                if position in ends and text[position] != "/":
                    ends.add(position + 1)
            return ends
        case "?":
            return {position + 1 for position in starts if position < len(text) and text[position] != "/"}
    return {position + len(piece) for position in starts if text.startswith(piece, position)}
