"""What office formats share: a ZIP file opened only if it is harmless, and XML without entities."""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from assay.core.errors import ExtractError
from assay.core.lazy import lazy_module

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

MAX_PARTS = 10_000
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_RATIO = 250
RATIO_FROM = 16 * 1024 * 1024
"""From this many bytes on the ratio is checked: a sheet of equal rows may exceed it."""
CHUNK_BYTES = 64 * 1024
HEAD = 4096
MARKUP_SUFFIXES = (".xml", ".rels", ".opf", ".ncx")
OLE = b"\xd0\xcf\x11\xe0"
"""The beginning of the containers of old Office documents, and of encrypted new ones."""

LOCKED = "encrypted, or of an older format; open it, and save it anew without a password"
DAMAGED = "damaged, or not a document of this format"
BOMB = f"it unpacks to more than {MAX_RATIO} times its size, or {MAX_UNPACKED_BYTES >> 20} MB; it may be an attack"
ENTITIES = "its XML defines entities, which documents of this format do not have; it may be an attack"


def require_module(module: str, package: str) -> None:
    """Check that `module` is installed.

    Raises:
        ExtractError: it is not installed; the message says how to install it.
    """
    if find_spec(module) is None:
        raise ExtractError(f"reading it needs {package}; install it with: pip install 'assay[office]'")


@contextmanager
def open_checked(data: bytes) -> Iterator[zipfile.ZipFile]:
    """The document's archive, after each part was unpacked once and found harmless.

    Sizes are counted, not believed. A part that defines entities is refused, because entities can fill the memory or
    read other files (the parsers do not resolve them either).

    Raises:
        ExtractError: encrypted, damaged, or malicious.
    """
    if data.startswith(OLE):
        raise ExtractError(LOCKED)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive, len(data))
            yield archive
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise ExtractError(DAMAGED) from error
    except KeyError as error:
        raise ExtractError(f"{DAMAGED} (a part is missing)") from error


def _check(archive: zipfile.ZipFile, compressed_size: int) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_PARTS:
        raise ExtractError(BOMB)
    remaining = min(MAX_UNPACKED_BYTES, max(MAX_RATIO * compressed_size, RATIO_FROM))
    for info in infos:
        if info.flag_bits & 0x1:
            raise ExtractError(LOCKED)
        with archive.open(info) as stream:
            head = stream.read(HEAD)
            if b"<!ENTITY" in head and info.filename.lower().endswith(MARKUP_SUFFIXES):
                raise ExtractError(ENTITIES)
            remaining -= len(head)
            while part := stream.read(CHUNK_BYTES):
                remaining -= len(part)
                if remaining < 0:
                    raise ExtractError(BOMB)


def parse_xml(data: bytes) -> etree._Element:
    """The root of XML in which no entity is resolved, and nothing is loaded from elsewhere.

    Raises:
        etree.XMLSyntaxError: it is not XML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def parse_part(archive: zipfile.ZipFile, name: str) -> etree._Element:
    """The root of a part.

    Raises:
        ExtractError: there is no such part, or it is not XML.
    """
    try:
        return parse_xml(archive.read(posixpath.normpath(name)))
    except KeyError as error:
        raise ExtractError(f"{DAMAGED} (a part is missing)") from error
    except etree.XMLSyntaxError as error:
        raise ExtractError(DAMAGED) from error
