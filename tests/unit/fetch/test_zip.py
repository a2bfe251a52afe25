"""ZIP archives: members, and what is hostile about them."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.core.ports import ArchiveMember
from assay.fetch import zip as module
from assay.fetch.zip import BOMB, DAMAGED, ENCRYPTED, UNSUPPORTED, ZipArchive

LARGEST = 50_000_000


def packed(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def members(data: bytes, largest: int = LARGEST) -> list[ArchiveMember]:
    return list(ZipArchive().members(data, "x.zip", largest))


def patched(data: bytes, local: int, central: int, value: int) -> bytes:
    """The archive with a number of its first member changed in both headers, at these offsets."""
    changed = bytearray(data)
    struct.pack_into("<H", changed, data.index(b"PK\x03\x04") + local, value)
    struct.pack_into("<H", changed, data.index(b"PK\x01\x02") + central, value)
    return bytes(changed)


def test_members_in_order_without_what_is_hidden() -> None:
    data = packed({"b.txt": b"two", "a/": b"", "a/x.txt": b"one", ".git/x": b"-", "__MACOSX/b.txt": b"-", "a/.y": b"-"})
    assert members(data) == [ArchiveMember(name="b.txt", data=b"two"), ArchiveMember(name="a/x.txt", data=b"one")]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions(method: int) -> None:
    text = b"some text, and some more of it. " * 100
    assert members(packed({"a.txt": text}, method)) == [ArchiveMember(name="a.txt", data=text)]


def test_names_are_printable() -> None:
    (member,) = members(packed({"a\x1b[31m\u202eb.txt": b"x"}))
    assert member.name == "a\ufffd[31m\ufffdb.txt"


def test_an_encrypted_member_does_not_cost_the_others() -> None:
    data = patched(packed({"a.txt": b"one", "b.txt": b"two"}), 6, 8, 1)
    assert members(data) == [ArchiveMember(name="a.txt", problem=ENCRYPTED), ArchiveMember(name="b.txt", data=b"two")]


def test_an_unknown_compression_does_not_cost_the_others() -> None:
    data = patched(packed({"a.txt": b"one", "b.txt": b"two"}), 8, 10, 99)
    assert members(data) == [ArchiveMember(name="a.txt", problem=UNSUPPORTED), ArchiveMember(name="b.txt", data=b"two")]


def test_a_bad_checksum_does_not_cost_the_others() -> None:
    data = packed({"a.txt": b"one one one", "b.txt": b"two"}, zipfile.ZIP_STORED).replace(b"one one", b"ONE one", 1)
    assert members(data) == [ArchiveMember(name="a.txt", problem=DAMAGED), ArchiveMember(name="b.txt", data=b"two")]


def test_a_bomb_is_not_unpacked() -> None:
    data = packed({"bomb.txt": b"\0" * 40_000_000, "b.txt": b"two"})
    assert len(data) < 100_000
    assert members(data) == [ArchiveMember(name="bomb.txt", problem=BOMB), ArchiveMember(name="b.txt", data=b"two")]


def test_the_size_in_the_header_is_not_believed() -> None:
    data = bytearray(packed({"bomb.txt": b"\0" * 40_000_000}))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)
    (member,) = members(bytes(data))
    assert member.problem in (BOMB, DAMAGED)
    assert member.data == b""


def test_a_member_larger_than_any_file_may_be() -> None:
    data = packed({"a.txt": bytes(range(256)) * 20}, zipfile.ZIP_STORED)
    (member,) = members(data, 1000)
    assert member.problem.startswith("larger than 0.001 MB")


def test_a_bomb_of_many_members_is_given_up() -> None:
    data = packed({f"{number}.txt": b"a" * 1_000_000 for number in range(30)})
    found: list[ArchiveMember] = []
    with pytest.raises(ExtractError, match="unpacks to more than 250 times its size"):
        found.extend(ZipArchive().members(data, "x.zip", LARGEST))
    assert sum(len(member.data) for member in found) <= max(250 * len(data), 1024 * 1024)


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEMBERS", 3)
    found: list[ArchiveMember] = []
    with pytest.raises(ExtractError, match="holds more than 3 files"):
        found.extend(ZipArchive().members(packed({f"{n}.txt": b"x" for n in range(5)}), "x.zip", LARGEST))
    assert [member.name for member in found] == ["0.txt", "1.txt", "2.txt"]


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"no archive at all", packed({"a.txt": b"x" * 500})[:-30]],
    ids=["empty", "short", "text", "cut"],  # a packed file holds the time
)
def test_no_archive(data: bytes) -> None:
    with pytest.raises(ExtractError, match="damaged, or not a ZIP archive"):
        members(data)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}\.txt", fullmatch=True), st.binary(max_size=300), max_size=6))
def test_what_is_packed_comes_out(files: dict[str, bytes]) -> None:
    assert members(packed(files)) == [ArchiveMember(name=name, data=data) for name, data in files.items()]


@given(st.data())
def test_any_damage_is_survived_within_the_caps(draw: st.DataObject) -> None:
    whole = packed({"a.txt": b"one " * 50, "b.txt": b"two " * 50})
    data = bytearray(whole)
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    found: list[ArchiveMember] = []
    with suppress(ExtractError):
        found.extend(ZipArchive().members(bytes(data), "x.zip", 150))
    assert all(len(member.data) <= 150 for member in found)
    assert all(bool(member.problem) <= (not member.data) for member in found)


@pytest.mark.parametrize("byte", [0x00, 0x7F, 0xFF])
def test_any_one_damaged_byte_costs_members_and_not_the_reader(byte: int) -> None:
    whole = packed({"a.md": b"The tide rises. " * 20, "b/c.txt": b"It ebbs."})
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] = byte
        for data in (bytes(damaged), whole[:at]):
            with suppress(ExtractError):
                for member in ZipArchive().members(data, "a.zip", 1_000_000):
                    assert member.problem or len(member.data) < 1_000
