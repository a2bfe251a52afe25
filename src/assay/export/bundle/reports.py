"""Checks of the report in a bundle against the log: its three forms, markers, claims, counts and hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from assay.core.assurance import (
    check_dropped_markers,
    find_count_problems,
    find_misplaced_claims,
    passage_problem,
    unknown_marker_ids,
)
from assay.core.claims import Claim
from assay.core.errors import StoreError
from assay.core.markers import strip_markers
from assay.core.ports import RunStatus
from assay.core.report import Report, build_report
from assay.core.sources import Passage, Surroundings, sha256
from assay.export.bundle.contents import (
    RENDERINGS,
    SOURCES,
    Bundle,
    SourceOrigin,
    cited_passages,
    cited_sources,
    decode,
    document_name,
)
from assay.export.bundle.signature import BundleSignature

# The result of verifying a bundle.

Outcome = Literal["", "passed", "not_passed", "no_check", "unfinished", "none"]
"""The outcome of a run's report: the final check passed or failed, the report is finished without a check, it broke
off, or there is none; "" if the log cannot be read."""
MAX_SHOWN_PROBLEMS = 20
"""The most problems that a check lists; of more it gives the number."""


class BundleCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check: how many things it examined, the problems, and notes for the reader."""

    name: str
    ok: bool
    checked: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle after all checks. `sha256` is the hash of the file, to compare with the one its publisher names.

    `release` wrote it, "" if it does not say; `verified` is the run's own result, None if it cannot be read; `status`
    is the run's, "" if it cannot be read. `ok` means that no problem was found, not that the report is right; `whole`
    that also nothing was left unchecked. `unchecked` names the members of which only the hash was checked; another
    release may check more. `claimed` names statements about sources that nothing in the bundle proves.
    """

    file: str
    ok: bool
    whole: bool
    unchecked: tuple[str, ...]
    sha256: str
    size: int
    release: str
    run_id: str
    question: str
    verified: bool | None
    status: RunStatus | Literal[""]
    report: Outcome
    claimed: tuple[str, ...]
    signature: BundleSignature
    checks: tuple[BundleCheck, ...]


def make_check(name: str, count: int, problems: list[str], notes: tuple[str, ...] = ()) -> BundleCheck:
    """A check's result with a limited list of problems."""
    shown_problems = [_short(problem) for problem in problems[:MAX_SHOWN_PROBLEMS]]
    if len(problems) > MAX_SHOWN_PROBLEMS:
        shown_problems.append(f"and {len(problems) - MAX_SHOWN_PROBLEMS:,} more")
    return BundleCheck(name=name, ok=not problems, checked=count, problems=tuple(shown_problems), notes=notes)


def _short(problem: str) -> str:
    return problem if len(problem) <= 300 else f"{problem[:299]}…"


REPORT_JSON = "report.json"
REPORT_TEXTS = tuple(name for name in RENDERINGS if name != REPORT_JSON)


def check_data(bundle: Bundle) -> Iterator[BundleCheck]:
    """`report.json` agrees with the log; for another release's report, only fields that both know are compared."""
    if REPORT_JSON not in bundle.members:
        yield make_check(REPORT_JSON, 0, [f"{REPORT_JSON} is not there"])
        return
    data, notes = (
        bundle.members[REPORT_JSON],
        () if bundle.ours else (f"{bundle.writer}: what both know was compared",),
    )
    try:
        actual, report = decode(data, object), None if not bundle.ours else decode(data, Report)
    except StoreError as error:
        yield make_check(REPORT_JSON, 0, [f"it cannot be read: {error}"])
        return
    expected = msgspec.to_builtins(build_report(bundle.view, bundle.citations))
    problems = list(_json_differences(actual, expected, "report"))
    if report is not None and not problems and data != RENDERINGS[REPORT_JSON](bundle.view, bundle.citations):
        problems.append("it has the right values, and is not written as this release writes it")
    yield make_check(REPORT_JSON, 1, problems, notes)


def _json_differences(actual: object, expected: object, where: str) -> Iterator[str]:
    """Where decoded JSON differs from the expected value; a field on one side only is another release's."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for name in expected.keys() & actual.keys():
            yield from _json_differences(actual[name], expected[name], f"{where}.{name}")
    elif isinstance(actual, list) and isinstance(expected, list | tuple) and len(actual) == len(expected):
        for index, (actual_item, expected_item) in enumerate(zip(actual, expected, strict=True)):
            yield from _json_differences(actual_item, expected_item, f"{where}[{index}]")
    elif actual != expected:
        yield f"{where} is not what the log says"


def check_texts(bundle: Bundle) -> Iterator[BundleCheck]:
    """`report.md` and `report.html` follow from the log; those of another release only match their hashes."""
    for name in REPORT_TEXTS:
        if name not in bundle.members:
            yield make_check(name, 0, [f"{name} is not there"])
        elif not bundle.ours:
            yield make_check(name, 0, [], (f"{bundle.writer}: only its hash was checked",))
        else:
            same = bundle.members[name] == RENDERINGS[name](bundle.view, bundle.citations)
            yield make_check(name, 1, [] if same else ["it is not what the log gives"])


def check_markers(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every marker of the text names a source or passage of the log; dropped markers were counted."""
    view = bundle.view
    known_ids = {*view.passages, *view.sources}
    if view.gate is not None:
        problems = check_dropped_markers(view.report.text, known_ids, view.gate.summary.dropped_markers)
        yield make_check("markers", len(view.passages), list(problems))
        return
    unknown_ids = unknown_marker_ids(view.report.text, known_ids)
    notes = ("the run ended before its verification",) + (
        (f"{len(unknown_ids)} markers name nothing",) if unknown_ids else ()
    )
    yield make_check("markers", len(view.passages), [], notes)


def check_claims(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every claim is in the text, has the text's words there, and cites shown passages."""
    text, claims = bundle.view.report.text, bundle.view.claims
    problems = list(find_misplaced_claims(text, claims, bundle.view.passages))
    problems += [
        f"claim {log_claim.id} is not what the report says there"
        for log_claim in claims
        if not matches_text(text, log_claim)
    ]
    report = build_report(bundle.view, bundle.citations)
    for claim in report.claims:
        if not claim.text or claim.text != report.markdown[claim.start : claim.end]:
            problems.append(f"claim {claim.id} is not to be found in the report as shown")
    yield make_check("claims", len(claims), problems)


def matches_text(text: str, claim: Claim) -> bool:
    """True if a claim has the letters and digits of its place: it is stored without markers, on one line."""
    return _letters(claim.text) == _letters(text[max(claim.start, 0) : max(claim.end, 0)])


def _letters(text: str) -> str:
    return "".join(char for char in strip_markers(text) if char.isalnum())


def check_counts(bundle: Bundle) -> Iterator[BundleCheck]:
    """The counts are those of the claims, and a report called verified passed its gate."""
    gate = bundle.view.gate
    if gate is None:
        problems = ["the run calls its report verified, and no gate was passed"] if bundle.view.passed else []
        yield make_check("counts", 0, problems, ("the run ended before its verification",))
        return
    problems = list(find_count_problems(bundle.view.claims, gate.summary))
    if bundle.view.passed and not gate.passed:
        problems.append("the run calls its report verified, and its gate did not pass")
    yield make_check("counts", len(bundle.view.claims), problems)


def check_text(bundle: Bundle) -> Iterator[BundleCheck]:
    """The text has the hash recorded when it was finished."""
    report = bundle.view.report
    if report.state != "finished":
        yield make_check("text", 0, [], ("the report was not finished",))
        return
    same = sha256(report.text.encode("utf-8", "surrogatepass")) == report.text_sha256
    yield make_check("text", 1, [] if same else ["the report's text does not have the hash it was finished with"])


# Checks of the evidence in a bundle: documents, snapshots, and every cited passage in its document.


def check_documents(bundle: Bundle) -> Iterator[BundleCheck]:
    """The text of every cited document is present, is UTF-8, and has its hash; there are no others."""
    hashes = {document_name(source): source.document_sha256 for source in cited_sources(bundle.view)}
    problems = [
        *_file_problems(bundle, hashes),
        *_encoding_problems(bundle, hashes),
        *_uncited_files(bundle, "documents/", hashes),
    ]
    yield make_check("documents", len(hashes), problems)


def check_snapshots(bundle: Bundle) -> Iterator[BundleCheck]:
    """The snapshot of every cited document is present and has its hash; there are no others."""
    sources = cited_sources(bundle.view)
    hashes = {f"snapshots/{source.snapshot_sha256}": source.snapshot_sha256 for source in sources}
    problems = [
        *_file_problems(bundle, hashes),
        *_uncited_files(bundle, "snapshots/", hashes),
        *_origin_problems(bundle),
    ]
    yield make_check("snapshots", len(hashes), problems)


def check_passages(bundle: Bundle) -> Iterator[BundleCheck]:
    """Every cited passage has, byte for byte, its document's text at its place, and the right context."""
    passages = cited_passages(bundle.view)
    problems = [problem for id, passage in passages.items() if (problem := _passage_problem(bundle, id, passage))]
    yield make_check("passages", len(passages), problems)


def _file_problems(bundle: Bundle, hashes: dict[str, str]) -> Iterator[str]:
    for name, expected_hash in hashes.items():
        if name not in bundle.members:
            yield f"{name} is cited and not there"
        elif sha256(bundle.members[name]) != expected_hash:
            yield f"{name} does not have the hash in its name"


def _encoding_problems(bundle: Bundle, hashes: dict[str, str]) -> Iterator[str]:
    for name in hashes:
        try:
            str(bundle.members.get(name, b""), "utf-8")
        except UnicodeDecodeError:
            yield f"{name} is not UTF-8"


def _uncited_files(bundle: Bundle, folder: str, hashes: dict[str, str]) -> Iterator[str]:
    names = (name for name in bundle.members if name.startswith(folder))
    return (f"{name} is there and not cited" for name in names if name not in hashes)


def _origin_problems(bundle: Bundle) -> Iterator[str]:
    """`sources.json` lists exactly the cited documents, with their snapshots and sizes."""
    try:
        origins = decode(bundle.members.get(SOURCES, b""), tuple[SourceOrigin, ...])
    except StoreError as error:
        yield f"{SOURCES} cannot be read: {error}"
        return
    pairs = [(origin.document_sha256, origin.snapshot_sha256) for origin in origins]
    expected_pairs = [(source.document_sha256, source.snapshot_sha256) for source in cited_sources(bundle.view)]
    if pairs != expected_pairs:
        yield f"{SOURCES} does not tell of the cited documents and their snapshots"
        return
    for origin in origins:
        sizes = (origin.document_size, origin.snapshot_size)
        names = (f"documents/{origin.document_sha256}.txt", f"snapshots/{origin.snapshot_sha256}")
        for name, size in zip(names, sizes, strict=True):
            if name in bundle.members and len(bundle.members[name]) != size:
                yield f"{name} does not have the size {SOURCES} tells"


def _passage_problem(bundle: Bundle, id: str, passage: Passage) -> str:
    name = f"documents/{passage.document_sha256}.txt"
    if name not in bundle.members:
        return f"passage {id}: its document is not there"
    text = bundle.members[name]
    problem = passage_problem(id, passage, text)
    if (
        not problem
        and id in bundle.view.surroundings
        and not _has_right_context(text, passage, bundle.view.surroundings[id])
    ):
        problem = "does not stand between what is shown around it"
    return f"passage {id} {problem}" if problem else ""


def _has_right_context(text: bytes | memoryview, passage: Passage, context: Surroundings) -> bool:
    """True if the context shown around a passage is its document's text there."""
    before, after = (part.encode("utf-8", "surrogatepass") for part in (context.before, context.after))
    first = passage.start - len(before)
    return (
        first >= 0 and text[first : passage.start] == before and text[passage.end : passage.end + len(after)] == after
    )
