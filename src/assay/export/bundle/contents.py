"""The contents of a bundle: its members, its manifest, and the documents that a report rests on.

MANIFEST.json          the format, the release that wrote it, and size and SHA-256 of every other member
MANIFEST.json.minisig  a signature of the manifest, if the bundle is signed
report.json .md .html  the report, as the exporters of those formats write it
events.jsonl           the run's log, one event per line
sources.json           of each document: its snapshot, the extractor, media types, when it was read
documents/HASH.txt     the text of each cited document; the name is its SHA-256
snapshots/HASH         the bytes it was read from
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TypeVar

import msgspec

from assay.core.errors import StoreError
from assay.core.events import Envelope
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.ports.documents import Library
from assay.core.ports.exporters import Record
from assay.core.report import build_bibliography
from assay.core.sources import Passage, Source, sha256
from assay.core.view import RunView
from assay.export import html, json, markdown
from assay.export.json import escape_unprintable

# The canonical zip: the same members always give the same bytes, so a file can be compared with its own rebuild.
#
# Members are stored as they are, in the order given, with the time 1980-01-01 00:00 and mode 0644, without extra
# fields, comments, data descriptors or ZIP64 (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). The
# reader accepts nothing else, and does not interpret what it does not accept, so a hostile zip costs one pass over it.

MAX_BUNDLE_BYTES = 0xFFFFFFFE
"""The most bytes of a bundle: above that a zip needs ZIP64, which many readers do not support."""
MAX_MEMBERS = 0xFFFE
"""The most members of a bundle, for the same reason."""

_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")
_LOCAL_SIGN, _CENTRAL_SIGN, _END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_NEEDED, _MADE_BY, _STORED, _DATE, _MODE = 20, 3 << 8 | 20, 0, 1 << 5 | 1, 0o100644 << 16
_NAME = regex(rb"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_MAX_NAME_BYTES = 200
_CHECKSUM = range(14, 18)  # its bytes in a header


class BundleMember(msgspec.Struct, frozen=True):
    """A file in the zip: its name (ASCII, `/` between folders) and its bytes."""

    name: str
    data: bytes | memoryview


class ArchiveContents(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading a bundle: members up to where it stopped, whether the directory was reached, problems."""

    members: tuple[BundleMember, ...]
    whole: bool
    problems: tuple[str, ...]


def pack(members: Sequence[BundleMember]) -> bytes:
    """The zip of these members, in this order.

    Raises:
        StoreError: it would need ZIP64.
    """
    size = sum(_LOCAL.size + _CENTRAL.size + 2 * len(member.name) + len(member.data) for member in members) + _END.size
    if size > MAX_BUNDLE_BYTES or len(members) > MAX_MEMBERS:
        raise StoreError(
            f"a bundle holds at most 4 GiB and {MAX_MEMBERS:,} members; this one would have {size:,} bytes and "
            f"{len(members):,} members: export the report by itself, as .html or .json"
        )
    return b"".join(piece for _, piece in _pieces(members))


def looks_like_zip(data: bytes) -> bool:
    """True if `data` looks like a zip: it begins like one, or has the end of a directory."""
    return data.startswith(_LOCAL_SIGN) or _END_SIGN in data


def unpack(data: bytes, max_members: int = MAX_MEMBERS) -> ArchiveContents:
    """Read a zip of at most `max_members` members that `pack` could have written, and report where `data` differs
    from one.
    """
    view, offset, members = memoryview(data), 0, dict[str, BundleMember]()
    while data[offset : offset + 4] != _CENTRAL_SIGN:
        member = _member(view, offset)
        if isinstance(member, BundleMember) and (member.name in members or len(members) == max_members):
            member = f"{member.name} is there twice" if member.name in members else f"more than {max_members:,} members"
        if isinstance(member, str):
            return ArchiveContents(members=tuple(members.values()), whole=False, problems=(member,))
        members[member.name] = member
        offset += _LOCAL.size + len(member.name) + len(member.data)
    all_members = tuple(members.values())
    return ArchiveContents(members=all_members, whole=True, problems=_differences(data, all_members))


def _member(view: memoryview, offset: int) -> BundleMember | str:
    """The member whose header begins at `offset`, or the reason why it is not accepted."""
    if len(view) - offset < _LOCAL.size or view[offset : offset + 4] != _LOCAL_SIGN:
        return f"byte {offset:,}: neither a member nor the directory begins here"
    _, _, flags, method, _, _, _, compressed_size, size, length, extra = _LOCAL.unpack_from(view, offset)
    start = offset + _LOCAL.size + length
    name = bytes(view[offset + _LOCAL.size : start])
    if length > _MAX_NAME_BYTES or not _NAME.fullmatch(name):
        return f"byte {offset:,}: the member's name {name[:60]!r} is not one of a bundle's"
    for wrong, why in (
        (flags & 1, "is encrypted"),
        (method != _STORED, "is compressed: a bundle's members are stored as they are"),
        (0xFFFFFFFF in (compressed_size, size), "declares a size in ZIP64, which a bundle never needs"),
        (flags, "has flags set"),
        (compressed_size != size, "declares two sizes"),
        (extra, "has extra fields"),
        (size > len(view) - start, f"declares {size:,} bytes, of which {max(0, len(view) - start):,} are there"),
    ):
        if wrong:
            return f"{name.decode()} {why}"
    return BundleMember(name.decode(), view[start : start + size])


def _differences(data: bytes, members: Sequence[BundleMember]) -> tuple[str, ...]:
    """Where `data` differs from the bytes that these members give."""
    offset, view = 0, memoryview(data)
    for description, piece in _pieces(members):
        actual = view[offset : offset + len(piece)]
        if actual != piece:
            inside = _first_difference(actual, piece)
            wrong = (
                "has a checksum which is not its data's" if inside in _CHECKSUM else "is not what a rebuild has there"
            )
            return (f"byte {offset + inside:,}: {description} {wrong}",)
        offset += len(piece)
    return () if offset == len(data) else (f"{len(data) - offset:,} bytes follow its end",)


def _first_difference(first: memoryview, second: bytes | memoryview) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(first), len(second)))


def _pieces(members: Sequence[BundleMember]) -> Iterator[tuple[str, bytes | memoryview]]:
    """The zip in pieces, each with its description."""
    directory, offset = list[bytes](), 0
    for member in members:
        name, size, crc = member.name.encode(), len(member.data), zlib.crc32(member.data)
        same = (_NEEDED, 0, _STORED, 0, _DATE, crc, size, size, len(name), 0)
        yield f"the header of {member.name}", _LOCAL.pack(_LOCAL_SIGN, *same) + name
        yield f"the data of {member.name}", member.data
        directory.append(_CENTRAL.pack(_CENTRAL_SIGN, _MADE_BY, *same, 0, 0, 0, _MODE, offset) + name)
        offset += _LOCAL.size + len(name) + size
    for member, entry in zip(members, directory, strict=True):
        yield f"the entry of {member.name} in the directory", entry
    directory_size = sum(map(len, directory))
    yield "the end of the directory", _END.pack(_END_SIGN, 0, 0, len(members), len(members), directory_size, offset, 0)


FORMAT = "assay.bundle/1"
MANIFEST, LOG, SOURCES = "MANIFEST.json", "events.jsonl", "sources.json"
KNOWN = regex(
    r"report\.(?:json|md|html)|events\.jsonl|sources\.json|documents/[0-9a-f]{64}\.txt|snapshots/[0-9a-f]{64}"
    r"|MANIFEST\.json\.minisig"
)
T = TypeVar("T")
RENDERINGS: Mapping[str, Callable[[RunView, CitationMode], bytes]] = {
    f"report{exporter.suffix}": exporter.write for exporter in (json.EXPORTER, markdown.EXPORTER, html.EXPORTER)
}
"""The forms of the report in a bundle, by name; each has the same bytes for the same view."""


class ManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A member in the manifest; `size` is in bytes."""

    name: str
    sha256: str
    size: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`MANIFEST.json`: `members` are all others, by name; `citations` is the citation mode of the report."""

    format: str = FORMAT
    release: str
    run_id: str
    citations: CitationMode
    members: tuple[ManifestEntry, ...]


class SourceOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `sources.json`: a cited document, its snapshot, and its extractor.

    Sizes are in bytes, `fetched_at` is ISO 8601 UTC. The first four fields are checked against the rest of the
    bundle; the others are statements of the writer's library.
    """

    document_sha256: str
    document_size: int
    snapshot_sha256: str
    snapshot_size: int
    url: str
    media_type: str
    fetched_at: str
    extractor: str
    syntax: str


def installed_release() -> str:
    """The installed release of Assay."""
    return version("assay")


def bundle_members(record: Record, citations: CitationMode) -> list[BundleMember]:
    """The members of a run's bundle, in order.

    Raises:
        StoreError: the text or the snapshot of a cited document is not there, or damaged.
    """
    library, blobs = record.library, record.blobs
    if library is None or blobs is None:
        raise StoreError(
            "this report was pickled, without its documents: write the bundle of its run with Assay.export"
        )
    sources = cited_sources(record.view)
    members = [BundleMember(name, render(record.view, citations)) for name, render in RENDERINGS.items()]
    members += [
        BundleMember(LOG, log_bytes(record.log)),
        BundleMember(SOURCES, encode([_origin(library, source) for source in sources])),
    ]
    members += [BundleMember(document_name(source), blobs.get(source.document_sha256)) for source in sources]
    snapshots = dict.fromkeys(source.snapshot_sha256 for source in sources)
    members += [BundleMember(f"snapshots/{sha}", blobs.get(sha)) for sha in snapshots]
    members.sort(key=lambda member: member.name)
    manifest = Manifest(
        release=installed_release(), run_id=record.view.run_id, citations=citations, members=manifest_entries(members)
    )
    return [BundleMember(MANIFEST, encode(manifest)), *members]


def manifest_entries(members: Iterable[BundleMember]) -> tuple[ManifestEntry, ...]:
    """Members in the form of a manifest."""
    return tuple(
        ManifestEntry(name=member.name, sha256=sha256(member.data), size=len(member.data)) for member in members
    )


def log_bytes(envelopes: Iterable[Envelope]) -> bytes:
    """`events.jsonl`."""
    return b"".join(map(json.event_line, envelopes))


def encode(data: object) -> bytes:
    """Indented JSON with a line end, the same bytes for equal data."""
    return escape_unprintable(msgspec.json.format(msgspec.json.encode(data, order="deterministic"), indent=2)) + b"\n"


def decode(data: bytes | memoryview, type: type[T]) -> T:
    """Decode data from outside.

    Raises:
        StoreError: it is not JSON in UTF-8 of this type, or nested too deep.
    """
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(str(error)) from error
    except RecursionError as error:
        raise StoreError("it is nested too deep") from error


def cited_passages(view: RunView) -> dict[str, Passage]:
    """The passages that the report names, then those that its claims rest on without naming them."""
    cited = {passage.id: passage for passage in build_bibliography(view).cited}
    evidence_ids = (id for claim in view.claims for id in claim.passages)
    return cited | {id: view.passages[id] for id in evidence_ids if id in view.passages}


def cited_sources(view: RunView) -> list[Source]:
    """A source for each document that the report cites or its claims rest on, by the document's hash."""
    entries = build_bibliography(view).entries
    document_hashes = {passage.document_sha256 for passage in cited_passages(view).values()}
    sources = [
        entry.source for entry in entries if entry.number is not None or entry.source.document_sha256 in document_hashes
    ]
    return sorted(sources, key=lambda source: source.document_sha256)


def document_name(source: Source) -> str:
    """The member with the text of a source's document."""
    return f"documents/{source.document_sha256}.txt"


def _origin(library: Library, source: Source) -> SourceOrigin:
    document = _require(library.document(source.document_sha256), "document", source.document_sha256)
    snapshot = _require(library.snapshot(source.snapshot_sha256), "snapshot", source.snapshot_sha256)
    return SourceOrigin(
        document_sha256=document.sha256,
        document_size=document.size,
        snapshot_sha256=snapshot.sha256,
        snapshot_size=snapshot.size,
        url=snapshot.url,
        media_type=snapshot.media_type,
        fetched_at=snapshot.fetched_at,
        extractor=document.extractor,
        syntax=document.syntax,
    )


def _require(value: T | None, kind: str, sha256: str) -> T:
    if value is None:
        raise StoreError(
            f"{kind} {sha256}, which the report cites, is not in the library: `assay db check` names what is missing"
        )
    return value


# A bundle whose zip and log can be read, for the other checks.


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Members by name, the manifest if it can be read, and the run folded from the log."""

    members: dict[str, bytes | memoryview]
    manifest: Manifest | None
    view: RunView

    @property
    def citations(self) -> CitationMode:
        """The citation mode of its report."""
        return self.manifest.citations if self.manifest else "numbers"

    @property
    def ours(self) -> bool:
        """True if the installed release wrote it, so that everything in it can be rebuilt."""
        return self.manifest is None or self.manifest.release == installed_release()

    @property
    def writer(self) -> str:
        """The release that wrote it, for a note."""
        return (
            f"written by Assay {self.manifest.release if self.manifest else 'unknown'}, this is {installed_release()}"
        )
