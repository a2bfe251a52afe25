"""Checks of the report in a bundle against the log: its three forms, its markers, its claims, its counts, its hash."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.core.claims import Claim
from assay.core.errors import StoreError
from assay.core.integrity import dropped_markers, miscounted, misplaced_claims, unresolved
from assay.core.markers import strip
from assay.core.report import Report, build_report
from assay.core.sources import sha256
from assay.core.view import RunView
from assay.export.bundle.contents import RENDERINGS, decode
from assay.export.bundle.opened_bundle import Bundle
from assay.export.bundle.result import BundleCheck, checked

DATA = "report.json"
TEXTS = tuple(name for name in RENDERINGS if name != DATA)


def data(bundle: Bundle) -> Iterator[BundleCheck]:
    """`report.json` says what the log says; of another release's, what both know is compared."""
    if DATA not in bundle.members:
        yield checked(DATA, 0, [f"{DATA} is not there"])
        return
    stored, notes = bundle.members[DATA], () if bundle.ours else (f"{bundle.writer}: what both know was compared",)
    try:
        found, typed = decode(stored, object), None if not bundle.ours else decode(stored, Report)
    except StoreError as error:
        yield checked(DATA, 0, [f"it cannot be read: {error}"])
        return
    wanted = msgspec.to_builtins(build_report(bundle.view, bundle.citations))
    problems = list(_different(found, wanted, "report"))
    if typed is not None and not problems and stored != RENDERINGS[DATA](bundle.view, bundle.citations):
        problems.append("it has the right values, and is not written as this release writes it")
    yield checked(DATA, 1, problems, notes)


def _different(found: object, wanted: object, where: str) -> Iterator[str]:
    """Where decoded JSON is not what it should be; a field which only one side has is another release's."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for name in wanted.keys() & found.keys():
            yield from _different(found[name], wanted[name], f"{where}.{name}")
    elif isinstance(found, list) and isinstance(wanted, list | tuple) and len(found) == len(wanted):
        for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield from _different(one, other, f"{where}[{at}]")
    elif found != wanted:
        yield f"{where} is not what the log says"


def texts(bundle: Bundle) -> Iterator[BundleCheck]:
    """`report.md` and `report.html` are what the log gives; another release's are only held against their hashes."""
    for name in TEXTS:
        if name not in bundle.members:
            yield checked(name, 0, [f"{name} is not there"])
        elif not bundle.ours:
            yield checked(name, 0, [], (f"{bundle.writer}: only its hash was checked",))
        else:
            same = bundle.members[name] == RENDERINGS[name](bundle.view, bundle.citations)
            yield checked(name, 1, [] if same else ["it is not what the log gives"])


def markers(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every marker of the text names a source or a passage of the log; what was dropped was counted."""
    view = bundle.view
    known = {*view.passages, *view.sources}
    if view.gate is not None:
        problems = dropped_markers(view.report.text, known, view.gate.summary.dropped_markers)
        yield checked("markers", len(view.passages), list(problems))
        return
    left = unresolved(view.report.text, known)
    notes = ("the run ended before its verification",) + ((f"{len(left)} markers name nothing",) if left else ())
    yield checked("markers", len(view.passages), [], notes)


def claims(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every claim lies in the text, says what the text says there, and cites what was shown."""
    text, found = bundle.view.report.text, bundle.view.claims
    problems = list(misplaced_claims(text, found, bundle.view.passages))
    problems += [f"claim {each.id} is not what the report says there" for each in found if not says(text, each)]
    report = build_report(bundle.view, bundle.citations)
    for claim in report.claims:
        if not claim.text or claim.text != report.markdown[claim.start : claim.end]:
            problems.append(f"claim {claim.id} is not to be found in the report as shown")
    yield checked("claims", len(found), problems)


def says(text: str, claim: Claim) -> bool:
    """Whether the letters and digits of a claim are those at its place: it is kept without markers, on one line."""
    return _letters(claim.text) == _letters(text[max(claim.start, 0) : max(claim.end, 0)])


def _letters(text: str) -> str:
    return "".join(char for char in strip(text) if char.isalnum())


def counts(bundle: Bundle) -> Iterator[BundleCheck]:
    """The counts are those of the claims, and a report called verified passed its gate."""
    gate = bundle.view.gate
    if gate is None:
        yield checked("counts", 0, _unverified(bundle.view), ("the run ended before its verification",))
        return
    problems = list(miscounted(bundle.view.claims, gate.summary))
    if bundle.view.passed and not gate.passed:
        problems.append("the run calls its report verified, and its gate did not pass")
    yield checked("counts", len(bundle.view.claims), problems)


def _unverified(view: RunView) -> list[str]:
    return ["the run calls its report verified, and no gate was passed"] if view.passed else []


def text(bundle: Bundle) -> Iterator[BundleCheck]:
    """The text has the hash it had when it was finished."""
    report = bundle.view.report
    if report.state != "finished":
        yield checked("text", 0, [], ("the report was not finished",))
        return
    same = sha256(report.text.encode("utf-8", "surrogatepass")) == report.text_sha256
    yield checked("text", 1, [] if same else ["the report's text does not have the hash it was finished with"])
