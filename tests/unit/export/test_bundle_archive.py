"""The canonical zip: what `pack` writes is accepted, and nothing else is."""

from __future__ import annotations

import io
import itertools
import re
import struct
import zipfile

import pytest
from bundles import bundle_of_two_agents, members_of
from hypothesis import example, given
from hypothesis import strategies as st

from assay.export.bundle.contents import BundleMember, looks_like_zip, pack, unpack

SMALL = [BundleMember("MANIFEST.json", b"{}"), BundleMember("a/b.txt", b"text"), BundleMember("empty", b"")]
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}(/[a-z0-9]{1,5})?", fullmatch=True)
FILES = st.dictionaries(NAMES, st.binary(max_size=200), max_size=6)


@given(FILES)
def test_what_is_packed_is_unpacked(files: dict[str, bytes]) -> None:
    opened = unpack(pack([BundleMember(name, data) for name, data in files.items()]))
    assert (opened.whole, opened.problems) == (bool(files), ()) or not files
    assert {each.name: bytes(each.data) for each in opened.members} == files


def test_every_changed_byte_of_a_small_zip_is_found() -> None:
    data = pack(SMALL)
    for at in range(len(data)):
        for value in {0, 255, *(data[at] ^ 1 << bit for bit in range(8))} - {data[at]}:
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            assert unpack(changed).problems, (at, value)
            assert looks_like_zip(changed)


def test_every_missing_and_every_added_byte_of_a_small_zip_is_found() -> None:
    data = pack(SMALL)
    for at in range(len(data)):
        assert unpack(data[:at]).problems
        assert unpack(data[:at] + data[at + 1 :]).problems
        assert unpack(data[:at] + b"P" + data[at:]).problems


@given(st.binary(max_size=300))
@example(b"PK\x01\x02")
@example(b"PK\x03\x04" + b"\xff" * 40)
def test_any_bytes_are_a_finding_and_never_a_crash(data: bytes) -> None:
    assert unpack(data).problems or unpack(data).members
    assert unpack(pack(SMALL) + data).problems or not data
    assert unpack(data + pack(SMALL)).problems or not data


@given(st.data())
async def test_slices_put_together_otherwise_are_found(draw: st.DataObject) -> None:
    data = pack(SMALL)
    cuts = draw.draw(st.lists(st.integers(0, len(data)), min_size=2, max_size=6))
    mixed = b"".join(data[start:end] for start, end in itertools.pairwise(cuts))
    assert mixed == data or unpack(mixed).problems or not unpack(mixed).members


def rewritten(**changes: object) -> bytes:
    """The small zip by another program, with a peculiarity."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression=int(changes.get("compression", 0))) as opened:  # type: ignore[call-overload]
        for member in SMALL:
            info = zipfile.ZipInfo(str(changes.get("name", member.name)))
            info.external_attr = 0o100644 << 16
            info.extra = bytes(changes.get("extra", b""))  # type: ignore[call-overload]
            opened.writestr(info, bytes(member.data) * int(changes.get("times", 1)), int(changes.get("compression", 0)))  # type: ignore[call-overload]
        opened.comment = bytes(changes.get("comment", b""))  # type: ignore[call-overload]
    return made.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"compression": zipfile.ZIP_DEFLATED}, "is compressed"),
        ({"compression": zipfile.ZIP_LZMA}, "has flags set|is compressed"),
        ({"compression": zipfile.ZIP_DEFLATED, "times": 1_000_000}, "is compressed"),
        ({"extra": b"\x01\x00\x02\x00ab"}, "has extra fields"),
        ({"comment": b"hello"}, "the end of the directory"),
        ({"name": "../../etc/passwd"}, "name"),
        ({"name": "/etc/passwd"}, "name"),
        ({"name": "a\\b"}, "name"),
        ({"name": "\u202ename"}, "name"),
        ({"name": "twice"}, "twice is there twice"),
    ],
)
def test_what_other_programs_write_is_a_finding(changes: dict[str, object], why: str) -> None:
    (problem,) = unpack(rewritten(**changes)).problems
    assert re.search(why, problem), problem


def test_the_zip_of_another_program_is_ours_when_nothing_is_peculiar() -> None:
    assert unpack(rewritten()).problems == ()


def header(at: int, layout: str, value: int) -> bytes:
    """The small zip with a field of its first header changed."""
    data = bytearray(pack(SMALL))
    struct.pack_into(layout, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (header(6, "<H", 1), "is encrypted"),
        (header(6, "<H", 8), "has flags set"),
        (header(18, "<L", 0xFFFFFFFF), "ZIP64"),
        (header(22, "<L", 0xFFFFFFFF), "ZIP64"),
        (header(18, "<L", 1), "two sizes"),
        (header(26, "<H", 60_000), "name"),
        (header(14, "<L", 7), "checksum"),
        (b"x" + pack(SMALL), "byte 0"),
        (pack(SMALL) + b"x", "1 bytes follow"),
        (pack(SMALL) * 2, "bytes follow"),
    ],
)
def test_tricks_are_named(data: bytes, why: str) -> None:
    (problem,) = unpack(data).problems
    assert why in problem


def test_members_which_share_bytes_are_found() -> None:
    """The directory may point two names at one place: the walk does not follow it, and the rebuild differs."""
    data = pack([BundleMember("a", b"same"), BundleMember("b", b"same")])
    second = data.rindex(b"PK\x01\x02")
    overlapping = bytearray(data)
    struct.pack_into("<L", overlapping, second + 42, 0)
    assert "entry of b" in unpack(bytes(overlapping)).problems[0]


def test_a_declared_size_larger_than_the_file_is_found_at_once() -> None:
    data = bytearray(pack(SMALL))
    struct.pack_into("<LL", data, 18, 0xFFFFFF00, 0xFFFFFF00)
    assert "declares 4,294,967,040 bytes" in unpack(bytes(data)).problems[0]


async def test_the_members_of_a_bundle_pack_to_itself() -> None:
    data = await bundle_of_two_agents()
    assert pack([BundleMember(name, text) for name, text in members_of(data).items()]) == data
