"""Bundles of whole runs, and forged ones: what a bundle's checks are tested on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from research import Sea, two_agents

from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.core.view import fold_events
from assay.export.bundle import EXPORTER, Verification, check_bundle
from assay.export.bundle.contents import MANIFEST, BundleMember, Manifest, encode, manifest_entries, pack, unpack


async def record_of_two_agents() -> Record:
    """A whole run of two agents over two documents."""
    sea = Sea()
    log = tuple((await sea.run(two_agents())).envelopes)
    return Record(view=fold_events(log), log=log, library=sea.store.library, blobs=sea.store.blobs)


async def bundle_of_two_agents(citations: CitationMode = "numbers") -> bytes:
    """Its bundle."""
    return EXPORTER.render(await record_of_two_agents(), citations)


def members_of(data: bytes) -> dict[str, bytes]:
    """The members of a bundle, by name."""
    opened = unpack(data)
    assert opened.whole
    return {member.name: bytes(member.data) for member in opened.members}


def forged(data: bytes, changes: Mapping[str, bytes | None], release: str = "") -> bytes:
    """A bundle with other members (None: without it), whose zip, hashes and sizes are right again."""
    members = {**members_of(data), **changes}
    manifest = msgspec.json.decode(members.pop(MANIFEST) or b"", type=Manifest)
    kept = [BundleMember(name, text) for name, text in sorted(members.items()) if text is not None]
    manifest = msgspec.structs.replace(manifest, members=manifest_entries(kept), release=release or manifest.release)
    return pack([BundleMember(MANIFEST, encode(manifest)), *kept])


def relogged(data: bytes, change: Callable[[Envelope], Envelope | None]) -> bytes:
    """A bundle with another log, whose hashes are right again; what is rendered from the log stays as it was."""
    lines = members_of(data)["events.jsonl"].splitlines()
    changed = [change(msgspec.json.decode(line, type=Envelope)) for line in lines]
    return forged(data, {"events.jsonl": b"".join(msgspec.json.encode(each) + b"\n" for each in changed if each)})


def failing(data: bytes) -> list[str]:
    """The names of the checks which fail."""
    found = check_bundle(data, "r.zip")
    names = [each.name for each in found.checks if not each.ok]
    assert found.ok == (not names)
    return names


def problems(found: Verification, name: str) -> Sequence[str]:
    """The problems of one check."""
    return next(each.problems for each in found.checks if each.name == name)
