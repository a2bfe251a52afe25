"""The canonical zip: for the same members always the same bytes, so that a file can be held against its own rebuild.

Members are stored as they are, in the order given, with the time 1980-01-01 00:00 and mode 0644, without extra fields,
comments, data descriptors or ZIP64 (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). The reader accepts
nothing else: what it does not accept it does not interpret, so a hostile zip costs one walk over its bytes.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.errors import StoreError

LARGEST = 0xFFFFFFFE
"""Bytes of a bundle: above it a zip needs ZIP64, which many readers do not have."""
MOST = 0xFFFE
"""Members of a bundle, for the same reason."""

_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")
_LOCAL_SIGN, _CENTRAL_SIGN, _END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_NEEDED, _MADE_BY, _STORED, _DATE, _MODE = 20, 3 << 8 | 20, 0, 1 << 5 | 1, 0o100644 << 16
_NAME = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_LONGEST_NAME = 200
_CHECKSUM = range(14, 18)  # where a header keeps it


class BundleMember(msgspec.Struct, frozen=True):
    """A file in the zip: its name (ASCII, `/` between folders) and its bytes."""

    name: str
    data: bytes | memoryview


class ArchiveContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader found: the members up to where the walk ended, whether that was the directory, and problems."""

    members: tuple[BundleMember, ...]
    whole: bool
    problems: tuple[str, ...]


def pack(members: Sequence[BundleMember]) -> bytes:
    """The zip of these members, in this order.

    Raises:
        StoreError: it would need ZIP64.
    """
    size = sum(_LOCAL.size + _CENTRAL.size + 2 * len(each.name) + len(each.data) for each in members) + _END.size
    if size > LARGEST or len(members) > MOST:
        raise StoreError(
            f"a bundle holds at most 4 GiB and {MOST:,} members; this one would have {size:,} bytes and "
            f"{len(members):,} members: export the report by itself, as .html or .json"
        )
    return b"".join(piece for _, piece in _pieces(members))


def looks_like_zip(data: bytes) -> bool:
    """Whether anything in `data` says zip: it begins as one, or holds the end of a directory."""
    return data.startswith(_LOCAL_SIGN) or _END_SIGN in data


def unpack(data: bytes, most: int = MOST) -> ArchiveContents:
    """Read a zip which `pack` could have written, of `most` members, and say where `data` is not one."""
    view, at, members = memoryview(data), 0, dict[str, BundleMember]()
    while data[at : at + 4] != _CENTRAL_SIGN:
        found = _member(view, at)
        if isinstance(found, BundleMember) and (found.name in members or len(members) == most):
            found = f"{found.name} is there twice" if found.name in members else f"more than {most:,} members"
        if isinstance(found, str):
            return ArchiveContents(members=tuple(members.values()), whole=False, problems=(found,))
        members[found.name] = found
        at += _LOCAL.size + len(found.name) + len(found.data)
    read = tuple(members.values())
    return ArchiveContents(members=read, whole=True, problems=_differences(data, read))


def _member(view: memoryview, at: int) -> BundleMember | str:
    """The member whose header begins at `at`, or why it is not accepted."""
    if len(view) - at < _LOCAL.size or view[at : at + 4] != _LOCAL_SIGN:
        return f"byte {at:,}: neither a member nor the directory begins here"
    _, _, flags, method, _, _, _, packed, size, length, extra = _LOCAL.unpack_from(view, at)
    start = at + _LOCAL.size + length
    name = bytes(view[at + _LOCAL.size : start])
    if length > _LONGEST_NAME or not _NAME.fullmatch(name):
        return f"byte {at:,}: the member's name {name[:60]!r} is not one of a bundle's"
    for wrong, why in (
        (flags & 1, "is encrypted"),
        (method != _STORED, "is compressed: a bundle's members are stored as they are"),
        (0xFFFFFFFF in (packed, size), "declares a size in ZIP64, which a bundle never needs"),
        (flags, "has flags set"),
        (packed != size, "declares two sizes"),
        (extra, "has extra fields"),
        (size > len(view) - start, f"declares {size:,} bytes, of which {max(0, len(view) - start):,} are there"),
    ):
        if wrong:
            return f"{name.decode()} {why}"
    return BundleMember(name.decode(), view[start : start + size])


def _differences(data: bytes, members: Sequence[BundleMember]) -> tuple[str, ...]:
    """Where `data` is not, byte for byte, what these members give."""
    at, view = 0, memoryview(data)
    for what, piece in _pieces(members):
        found = view[at : at + len(piece)]
        if found != piece:
            inside = _first_difference(found, piece)
            wrong = (
                "has a checksum which is not its data's" if inside in _CHECKSUM else "is not what a rebuild has there"
            )
            return (f"byte {at + inside:,}: {what} {wrong}",)
        at += len(piece)
    return () if at == len(data) else (f"{len(data) - at:,} bytes follow its end",)


def _first_difference(one: memoryview, other: bytes | memoryview) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _pieces(members: Sequence[BundleMember]) -> Iterator[tuple[str, bytes | memoryview]]:
    """The zip in pieces, each with what it is."""
    directory, at = list[bytes](), 0
    for member in members:
        name, size, crc = member.name.encode(), len(member.data), zlib.crc32(member.data)
        same = (_NEEDED, 0, _STORED, 0, _DATE, crc, size, size, len(name), 0)
        yield f"the header of {member.name}", _LOCAL.pack(_LOCAL_SIGN, *same) + name
        yield f"the data of {member.name}", member.data
        directory.append(_CENTRAL.pack(_CENTRAL_SIGN, _MADE_BY, *same, 0, 0, 0, _MODE, at) + name)
        at += _LOCAL.size + len(name) + size
    for member, entry in zip(members, directory, strict=True):
        yield f"the entry of {member.name} in the directory", entry
    listed = sum(map(len, directory))
    yield "the end of the directory", _END.pack(_END_SIGN, 0, 0, len(members), len(members), listed, at, 0)
