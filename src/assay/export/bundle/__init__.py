"""The bundle: a report with all its evidence in one canonical zip, which can be checked without Assay's home.

A check is from its bytes alone: every hash, place and count, and the zip itself. It extracts, executes and fetches
nothing, and reads no compressed member. A bundle that passes is complete and consistent. Anybody can write such a
bundle from invented documents: the signature proves who made it, and the hash of the file whether it is the published
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay.core.assurance import report_state
from assay.core.errors import StoreError
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.core.sources import sha256
from assay.core.view import RunView, fold_events
from assay.export.bundle import contents, reports
from assay.export.bundle.contents import (
    FORMAT,
    KNOWN,
    LOG,
    MANIFEST,
    Bundle,
    BundleMember,
    Manifest,
    decode,
    encode,
    installed_release,
    log_bytes,
    looks_like_zip,
    pack,
    unpack,
)
from assay.export.bundle.reports import BundleCheck, Outcome, Verification, make_check
from assay.export.bundle.signature import SIGNATURE, BundleSignature, PublicKey, sign_manifest, verify_signature

__all__ = [
    "EXPORTER",
    "BundleCheck",
    "BundleExporter",
    "BundleLimits",
    "BundleSignature",
    "Outcome",
    "Verification",
    "check_bundle",
    "sign_bundle",
]


class BundleExporter:
    """Writes `.zip` files."""

    suffix = ".zip"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The bundle of a run, the same bytes for the same log and documents.

        Raises:
            StoreError: a cited document or its snapshot is not there, or damaged; or the bundle would be too large.
        """
        return pack(contents.bundle_members(record, citations))


def sign_bundle(bundle: bytes, secret: str, run_id: str) -> bytes:
    """A bundle with its manifest signed; the same bytes for the same bundle and key.

    Raises:
        UsageError: `secret` is no key.
    """
    manifest, *members = unpack(bundle).members
    assert manifest.name == MANIFEST
    signature = BundleMember(SIGNATURE, sign_manifest(manifest.data, secret, f"{FORMAT} run {run_id}"))
    return pack([manifest, signature, *members])


EXPORTER = BundleExporter()


# The check of a bundle.

MAX_REPORT_CHARS = 500_000
"""The most code points of a report's text that are rendered: a hostile text takes about 30 µs per character."""
MAX_CLAIM_OVERLAP = 10
"""The highest average number of claims over a character of the text; the claims of a run do not overlap."""

_FILE_CHECKS = (
    reports.check_data,
    reports.check_texts,
    reports.check_documents,
    reports.check_snapshots,
    reports.check_passages,
)
_LOG_CHECKS = (reports.check_markers, reports.check_claims, reports.check_counts, reports.check_text)


CLAIMED_FIELDS = ("url", "media_type", "fetched_at", "extractor", "syntax")
"""Fields of `sources.json` that no hash can prove: where bytes came from, and when. They are the writer's statements.
"""

Signers = Callable[[], Mapping[str, PublicKey]]
"""The trusted signers by name; called if there is a signature."""


class BundleLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a bundle that is checked; the work of checking depends on nothing else."""

    members: int = 20_000
    events: int = 1_000_000


DEFAULT_LIMITS = BundleLimits()


def check_bundle(
    data: bytes, file: str = "", signers: Signers = dict, limits: BundleLimits = DEFAULT_LIMITS
) -> Verification:
    """Run every check on the bytes of a bundle; `file` is its name.

    Raises:
        StoreError: it is no zip at all.
    """
    if not looks_like_zip(data):
        raise StoreError(f"{file or 'this'} is not a zip file, so it is not an Assay bundle")
    contents = unpack(data, limits.members)
    members = {member.name: member.data for member in contents.members}
    checks = [make_check("zip", len(members), list(contents.problems))]
    unchecked: tuple[str, ...] = ()
    manifest = _manifest(members)
    view: RunView | None = None
    signature = BundleSignature(state="none")
    if contents.whole:
        checks.append(_check_members(contents.members, manifest))
        signature = _signature(members, signers)
        checks += _signature_checks(signature)
        view, events_check = _check_events(members, manifest, limits.events)
        checks.append(events_check)
    if view is not None and (excess := _excess(view)):
        checks.append(make_check("text", 1, [f"{excess}, so nothing else was checked"]))
    elif view is not None:
        bundle = Bundle(members=members, manifest=manifest, view=view)
        checks += [check for run in (*_FILE_CHECKS, *_LOG_CHECKS) for check in run(bundle)]
        unchecked = _unchecked_members(bundle)
    ok = view is not None and all(check.ok for check in checks)
    return Verification(
        file=file,
        ok=ok,
        whole=ok and not unchecked,
        unchecked=unchecked,
        sha256=sha256(data),
        size=len(data),
        release=manifest.release if manifest else "",
        run_id=view.run_id if view else "",
        question=view.question if view else "",
        verified=view.verified if view else None,
        status=view.status if view else "",
        report=_outcome(view) if view else "",
        claimed=CLAIMED_FIELDS,
        signature=signature,
        checks=tuple(checks),
    )


def _excess(view: RunView) -> str:
    """Something that no report has, and that would make its check take too long; "" if there is nothing."""
    text = len(view.report.text)
    if text > MAX_REPORT_CHARS:
        return f"the report's text has {text:,} characters: more than any report has"
    if sum(max(0, min(claim.end, text) - max(claim.start, 0)) for claim in view.claims) > MAX_CLAIM_OVERLAP * text:
        return f"its {len(view.claims):,} claims lie over one another, as those of no report do"
    return ""


def _signature(members: Mapping[str, bytes | memoryview], signers: Signers) -> BundleSignature:
    if SIGNATURE not in members:
        return BundleSignature(state="none")
    return verify_signature(members.get(MANIFEST, b""), members[SIGNATURE], signers())


def _signature_checks(signature: BundleSignature) -> Iterator[BundleCheck]:
    match signature.state:
        case "good":
            yield make_check("signature", 1, [])
        case "unknown":
            note = f"key {signature.key_id} is none of those you trust: who made the bundle was not checked"
            yield make_check("signature", 0, [], (note,))
        case "wrong":
            yield make_check("signature", 1, [f"it is not what key {signature.key_id} signed"])
        case "malformed":
            yield make_check("signature", 1, [f"{SIGNATURE} is not a readable signature"])


def _unchecked_members(bundle: Bundle) -> tuple[str, ...]:
    """The members that were only compared with the hash in the manifest."""
    if bundle.ours:
        return ()
    texts = [name for name in reports.REPORT_TEXTS if name in bundle.members]
    return (*texts, *(name for name in bundle.members if name != MANIFEST and not KNOWN.fullmatch(name)))


def _outcome(view: RunView) -> Outcome:
    if view.gate is not None:
        return "passed" if view.passed else "not_passed"
    match report_state(view):
        case "finished":
            return "no_check"
        case "writing":
            return "unfinished"
        case "none":
            return "none"


def _manifest(members: dict[str, bytes | memoryview]) -> Manifest | None:
    try:
        return decode(members.get(MANIFEST, b""), Manifest)
    except StoreError:
        return None


def _check_members(members: tuple[BundleMember, ...], manifest: Manifest | None) -> BundleCheck:
    """Every member is listed with its size and hash, and every listed member exists."""
    problems = list(_member_problems(members, manifest)) if manifest else [f"{MANIFEST} is not there or cannot be read"]
    is_other_release = manifest is not None and manifest.release != installed_release()
    strange = [member.name for member in members if member.name != MANIFEST and not KNOWN.fullmatch(member.name)]
    unknown = [f"{name} is none of a bundle's members" for name in strange]
    if [member.name for member in members] != [MANIFEST, *sorted(m.name for m in members if m.name != MANIFEST)]:
        problems.append(f"the members are not in order: {MANIFEST} first, the others by name")
    return make_check(
        "members",
        len(members),
        problems + ([] if is_other_release else unknown),
        tuple(unknown[:3] if is_other_release else ()),
    )


def _member_problems(members: tuple[BundleMember, ...], manifest: Manifest) -> Iterator[str]:
    if manifest.format != FORMAT:
        yield f"the format is {manifest.format!r}, this release reads {FORMAT!r}"
    entries = {entry.name: entry for entry in manifest.members}
    if len(entries) != len(manifest.members):
        yield f"{MANIFEST} lists a name twice"
    contents = {member.name: member.data for member in members if member.name not in (MANIFEST, SIGNATURE)}
    for name, entry in entries.items():
        if name not in contents:
            yield f"{name} is listed and not there"
        elif len(contents[name]) != entry.size:
            yield f"{name} has {len(contents[name]):,} bytes, listed are {entry.size:,}"
        elif sha256(contents[name]) != entry.sha256:
            yield f"{name} does not have the hash that is listed"
    yield from (f"{name} is there and not listed" for name in contents if name not in entries)
    rewritten = next((entry.data for entry in members if entry.name == MANIFEST), b"")
    if manifest.release == installed_release() and encode(manifest) != rewritten:
        yield f"{MANIFEST} is not written as this release writes it"


def _check_events(
    members: dict[str, bytes | memoryview], manifest: Manifest | None, max_events: int
) -> tuple[RunView | None, BundleCheck]:
    """The log can be read, is that of one run, has every number from 1, and folds into a view."""
    try:
        envelopes = _log(members, max_events)
        view = fold_events(envelopes)
    except StoreError as error:
        return None, make_check("events", 0, [str(error)])
    problems = [
        f"event {envelope.seq} stands where {number} is due"
        for number, envelope in enumerate(envelopes, 1)
        if envelope.seq != number
    ]
    runs = {envelope.run_id for envelope in envelopes}
    if len(runs) != 1 or (manifest is not None and manifest.run_id not in runs):
        problems.append("the events are not all of the one run which the manifest names")
    if manifest is not None and manifest.release == installed_release() and log_bytes(envelopes) != members[LOG]:
        problems.append(f"{LOG} is not written as this release writes it")
    return view, make_check("events", len(envelopes), problems)


def _log(members: dict[str, bytes | memoryview], max_events: int) -> list[Envelope]:
    if LOG not in members:
        raise StoreError(f"{LOG} is not there")
    lines = bytes(members[LOG]).split(b"\n")
    if lines.pop():
        raise StoreError(f"{LOG} does not end with a line end")
    if len(lines) > max_events:
        raise StoreError(f"{LOG} has {len(lines):,} events, and {max_events:,} are read (bundles.max_events)")
    return [_event(line, number) for number, line in enumerate(lines, 1)]


def _event(line: bytes, number: int) -> Envelope:
    try:
        return decode(line, Envelope)
    except StoreError as error:
        raise StoreError(f"line {number} of {LOG}: {error}") from error
