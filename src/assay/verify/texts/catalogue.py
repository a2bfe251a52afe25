"""Which of the given documents a reference names: by address, path, file name, or title."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import unquote, urlsplit

from assay.core.clean import local_path
from assay.core.sources import Document
from assay.core.text import words
from assay.core.web_addresses import canonical_url
from assay.verify.texts.marked_text import TextReference

_ENOUGH = 3
"""The least words of a title that is searched inside a reference; "Introduction" occurs in too many."""


class Catalogue:
    """Documents that can be found by a reference.

    `folder` is the folder of the referring text, to which its paths are relative. Paths are compared as text, without
    access to the disk.
    """

    def __init__(self, documents: Iterable[Document], folder: str) -> None:
        self._folder = folder
        self._addresses: dict[str, list[Document]] = {}
        self._paths: dict[str, list[Document]] = {}
        self._names: dict[str, list[Document]] = {}
        self._stems: dict[str, list[Document]] = {}
        self._titles: dict[str, list[Document]] = {}
        for document in documents:
            self.add(document, document.url)

    def add(self, document: Document, url: str) -> None:
        """Add a document, read from `url`."""
        path = local_path(url)
        if path is None:
            self._addresses.setdefault(_address_key(url), []).append(document)
        else:
            self._paths.setdefault(_bare_path(path), []).append(document)
        file = _file_name(path or url)
        for name in {file, _fold_name(document.name)} - {""}:
            self._names.setdefault(name, []).append(document)
        stem = _title_key(posixpath.splitext(file)[0])
        if path is not None and stem.strip():
            self._stems.setdefault(stem, []).append(document)
        self._titles.setdefault(_title_key(document.title), []).append(document)

    def find(self, reference: TextReference) -> tuple[Document, ...]:
        """The documents that `reference` names, all of them from one file; empty if it names none."""
        documents = self._by_address(reference.url) or self._by_name(reference) or self._by_title(reference)
        return tuple({document.sha256: document for document in documents}.values())

    def _by_address(self, url: str) -> Sequence[Document]:
        if not url or url.startswith("#"):
            return ()
        path = local_path(url)
        if path is None:
            return self._addresses.get(_address_key(url), ())
        bare_path = _bare_path(unquote(path))
        full_path = posixpath.normpath(posixpath.join(self._folder, bare_path))
        if full_path in self._paths:
            return self._paths[full_path]
        tail = "/" + bare_path.lstrip("./")
        return next(
            (documents for known_path, documents in self._paths.items() if known_path.endswith(tail) and len(tail) > 1),
            (),
        )

    def _by_name(self, reference: TextReference) -> Sequence[Document]:
        if reference.url and not reference.url.startswith("#"):
            if local_path(reference.url) is None:
                return ()
            if documents := self._names.get(_file_name(reference.url)):
                return documents
        text = _fold_name(reference.text)
        spaced_names = [name for name in self._names if " " in name and name in text and _stands_apart(name, text)]
        if spaced_names:
            return self._names[max(spaced_names, key=len)]
        parts = (part.strip("\"'“”‘’()[]<>,;:").rstrip(".") for part in text.split())
        return next((self._names[name] for part in parts if (name := posixpath.basename(part)) in self._names), ())

    def _by_title(self, reference: TextReference) -> Sequence[Document]:
        title = _title_key(reference.title)
        if title.strip() and title in self._titles:
            return self._titles[title]
        title_text = _title_key(reference.text or reference.title)
        inside = [
            known_title
            for known_title in self._titles
            if known_title in title_text and known_title.count(" ") > _ENOUGH
        ]
        if inside:
            return self._titles[max(inside, key=len)]
        stem = self._stems.get(title, ())
        return stem if len({document.url for document in stem}) == 1 else ()


def _address_key(url: str) -> str:
    """An address in the form for look-ups: `http` or `https`, `www.` and a final slash make no difference."""
    return canonical_url(url).partition("://")[2].removeprefix("www.").rstrip("/")


def _bare_path(path: str) -> str:
    return posixpath.normpath(path.partition("#")[0].partition("?")[0])


def _file_name(address: str) -> str:
    try:
        path = urlsplit(address).path
    except ValueError:
        return ""
    return _fold_name(posixpath.basename(unquote(path).rstrip("/")))


def _fold_name(name: str) -> str:
    """A name in the form for look-ups: composed letters (some systems store them apart), no case, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _stands_apart(name: str, text: str) -> bool:
    """True if a file's name is not the end of a longer name, nor the beginning of one, somewhere in a text."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text) is not None


def _title_key(title: str) -> str:
    return f" {' '.join(words(title))} "
