"""Documents whose file is gone, or has another content now, and that are read again from another place.

Only documents met at another place than the stored one are looked into, each file once: an unchanged folder costs no
look at the disk. What a file has now, its stamp says.

Machines that share a library may have a folder in different places, and each lacks the other's. So in a shared library
a file is gone only if the folder it was in is still there, with something in it: so a machine shows that it has
this folder. Where a whole folder was renamed, its documents keep their places.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes, urlsplit

import msgspec

from assay.core.lazy import lazy_module
from assay.core.ports import FileStamp, Library, Origin
from assay.evidence.ingest.files import address, printable

if TYPE_CHECKING:
    from urllib import request
else:
    request = lazy_module("urllib.request")  # which loads much

MEMBER_SEPARATOR = "!/"
"""Separates the address of an archive from the path of a file in it."""
FILE_SCHEME = "file:"
LOOKUP_BATCH = 500
"""Files about which the library is asked at once."""


class MissingFiles:
    """Tells whether the files at stored addresses are gone; `is_shared`: other machines may have them (see above)."""

    def __init__(self, *, is_shared: bool = False) -> None:
        self._is_shared = is_shared
        self._gone_files: dict[str, bool] = {}
        self._folders: dict[str, str] = {}

    def is_moved(self, before: str, now: str) -> bool:
        """True if a document stored at the address `before` is to take that of the file it was read in `now`."""
        return may_move(before, now) and self._is_gone(before.partition(MEMBER_SEPARATOR)[0])

    def has_moved(self, stored_urls: Mapping[str, str], path: Path, displaced: Collection[str]) -> bool:
        """True if a document of the file at `path` is to take its place: of those stored at these addresses, by hash,
        and of which some are `displaced` there.
        """
        own_address = ""
        for sha, url in stored_urls.items():
            file = url.partition(MEMBER_SEPARATOR)[0]
            own_address = own_address or self._address(path)
            # behind a link, the address is another one than that of its path
            if file != own_address and (sha in displaced or self._is_gone(file)) and may_move(file, address(path)):
                return True
        return False

    def _address(self, path: Path) -> str:
        """The address of a file that is no link; the links above it are followed once per folder."""
        above, name = os.path.split(path)
        folder = self._folders.get(above)
        if folder is None:
            folder = self._folders[above] = Path(os.path.realpath(above)).as_uri().rstrip("/")
        return f"{folder}/{quote(os.fsencode(name))}"

    def _is_gone(self, file: str) -> bool:
        gone = self._gone_files.get(file)
        if gone is None:
            gone = self._gone_files[file] = is_gone(file, is_shared=self._is_shared)
        return gone


def may_move(before: str, now: str) -> bool:
    """True if a document stored at the address `before` may take that of the file it was read in `now`.

    An uploaded file is no place to go to: its address hides its path.
    """
    return before != now and now.startswith(FILE_SCHEME)


def displaced_documents(
    library: Library, stored_urls: Mapping[str, str], known_stamps: Mapping[str, FileStamp] = {}
) -> set[str]:
    """Which documents (hashes, with their stored addresses) the files there no longer hold, by their stamps: another
    file took the name. `known_stamps` are stamps already looked up, by path.

    Raises:
        StoreError: the library cannot be read.
    """
    paths = {sha: path for sha, url in stored_urls.items() if (path := stamp_at(url.partition(MEMBER_SEPARATOR)[0]))}
    unknown = list(dict.fromkeys(path for path in paths.values() if path not in known_stamps))
    stamps = dict(known_stamps)
    for first in range(0, len(unknown), LOOKUP_BATCH):
        stamps |= library.stamps(unknown[first : first + LOOKUP_BATCH])
    return {sha for sha, path in paths.items() if path in stamps and sha not in stamps[path].documents}


def stamp_at(file: str) -> str:
    """The name under which the stamp of the file at an address is stored; "" if it is no file of a machine."""
    try:
        parts = urlsplit(file)
        is_local = parts.scheme == "file" and parts.netloc in ("", "localhost")
        return printable(_path(parts.path)) if is_local else ""
    except ValueError:
        return ""


def keep_removed(library: Library, new_places: Mapping[str, str]) -> None:
    """Let documents that a person removed stay removed at their new addresses (by the earlier ones).

    In every collection: one that is synced later meets them at the new address only.

    Raises:
        StoreError: the library cannot be written.
    """
    for row in library.collections():
        if row.origins and not row.name.startswith(f"{row.owner}/"):  # else it is another's
            origins = [_origin_with_moves(origin, new_places) for origin in library.origins(row.name)]
            if changed_origins := [origin for origin in origins if origin is not None]:
                library.add_origins(row.name, changed_origins)


def _origin_with_moves(origin: Origin, new_places: Mapping[str, str]) -> Origin | None:
    """An origin with the new addresses of what was removed from it; None if it has them."""
    new_urls = [new_places[url] for url in origin.left_out if url in new_places]
    left_out = tuple(dict.fromkeys((*origin.left_out, *new_urls)))
    return None if left_out == origin.left_out else msgspec.structs.replace(origin, left_out=left_out)


def is_gone(file: str, *, is_shared: bool = False) -> bool:
    """True if this is the address of a file of this machine that does not exist. One that cannot be looked at may.

    If `is_shared`, it is of this machine only if the folder is.
    """
    try:
        parts = urlsplit(file)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            return False
        path = _path(parts.path)
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return not is_shared or _has_files(os.path.dirname(path))
    except (OSError, ValueError):
        return False
    return False


def _has_files(folder: str) -> bool:
    """True if a folder is there, and not as empty as one where a drive is to be mounted."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _path(url_path: str) -> str:
    if os.name != "nt":
        return os.fsdecode(unquote_to_bytes(url_path))
    return request.url2pathname(url_path)
