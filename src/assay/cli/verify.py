"""`assay verify`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
import msgspec

from assay import settings
from assay.app.bundles import bundle_limits, verify_bundle
from assay.app.verification import Again, Rechecked
from assay.cli import options
from assay.cli.figures import summary_line
from assay.cli.jobs import queue_jobs
from assay.cli.library import read_library
from assay.cli.run_options import ResearchCommand, paths_from
from assay.cli.terminal import Exit, TerminalOptions, clean, say, write, write_json, write_lines
from assay.cli.verify_text import JudgeOptions, VerifyOptions, check_text, cost_line, judge_options
from assay.core.claims import HOLDING
from assay.core.milestones import pluralize
from assay.export.bundle import Verification
from assay.export.bundle.contents import installed_release as installed_release
from assay.services.jobs.specifications import VerifyJob

# The output of `assay verify RUN --again`.

_EQUAL_VERDICTS = {"supported": ("quoted",)}
"""A claim that older runs called supported may now be called quoted: another word for the same finding."""


def print_recheck(reference: str, judge: JudgeOptions, *, problems: bool, as_json: bool) -> Exit:
    """Check a run's report once more and report what changed."""
    recheck = read_library(
        judge.home,
        lambda assay: assay.recheck(
            reference,
            model=judge.model,
            allow_private=judge.allow_private,
            max_usd=judge.max_usd,
            max_tokens=judge.max_tokens,
        ),
    )
    for warning in recheck.warnings:
        say(f"warning: {warning}")
    if as_json:
        write_json(recheck)
    else:
        write_lines(_recheck_lines(recheck, problems=problems))
    return Exit.DONE if recheck.holds else Exit.UNVERIFIED


def _recheck_lines(recheck: Rechecked, *, problems: bool) -> Iterator[str]:
    changed = [
        claim for claim in recheck.claims if claim.now not in (claim.before, *_EQUAL_VERDICTS.get(claim.before, ()))
    ]
    for claim in changed:
        if not problems or claim.now not in HOLDING:
            yield from _claim(claim)
    for problem in recheck.problems:
        yield f"WRONG  {clean(problem)}"
    yield f"run {recheck.run_id}: {summary_line(recheck.now)}"
    if recheck.model:
        yield cost_line(recheck.model, recheck.usage)
    yield f"{pluralize(len(changed), 'verdict')} changed, {pluralize(len(recheck.lost), 'claim')} lost"


def _claim(claim: Again) -> Iterator[str]:
    yield f"{claim.id}: {claim.before} → {claim.now}: {clean(claim.text)}"
    if claim.reason:
        yield f"    {clean(claim.reason)}"


# A time limit for checks of files from others, which run in this process and without interruption.


class OutOfTime(Exception):
    """The work took more seconds of computing than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop the work inside after this many seconds of computing in this process, however busy the machine is.

    Python's own loops and pattern searches can be stopped anywhere. There is no limit on systems without such a timer
    (Windows), or outside the main thread, which alone receives signals.

    Raises:
        OutOfTime: it took longer.
    """
    if not hasattr(signal, "SIGPROF") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_timeout(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, on_timeout)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# The output of `assay verify FILE.zip`.

_NAMED = 6
_ENDED = {"completed": "ended", "failed": "failed", "cancelled": "was cancelled"}


def check_bundle(file: Path, *, signer: str, requires_signature: bool, as_json: bool) -> Exit:
    """Check a bundle and report the result; with a `signer` the signature must be theirs."""
    max_seconds = bundle_limits().max_seconds
    try:
        with time_limit(max_seconds):
            verification = verify_bundle(file, signer)
    except OutOfTime:
        message = f"{file} was not verified: that takes more than {max_seconds:g} s of computing (bundles.max_seconds)"
        write(
            message if not as_json else msgspec.json.encode({"file": str(file), "ok": False, "error": message}).decode()
        )
        return Exit.UNVERIFIED
    is_unsigned = (bool(signer) or requires_signature) and verification.signature.state != "good"
    if as_json:
        write_json(verification)
    else:
        write_lines(_bundle_lines(verification))
        if is_unsigned:
            write_lines([_unsigned_reason(verification, signer)])
    return Exit.DONE if verification.whole and not is_unsigned else Exit.UNVERIFIED


def _unsigned_reason(verification: Verification, signer: str) -> str:
    """Why a bundle that must be signed is refused."""
    signer_phrase = f"by {clean(signer)}" if signer else "by somebody you trust"
    return f"{clean(verification.file)} had to be signed {signer_phrase}, and is not"


def _bundle_lines(verification: Verification) -> Iterator[str]:
    for check in verification.checks:
        count = f"{check.checked:,} checked" if check.checked else ""
        yield f"{'ok' if check.ok else 'WRONG':<6} {check.name:<12} {count}".rstrip()
        yield from (f"       {clean(problem)}" for problem in check.problems)
        yield from (f"       note: {clean(note)}" for note in check.notes)
    yield ""
    yield f"SHA-256 {verification.sha256}"
    if verification.ok:
        yield "claimed by its maker, and not checkable: where its sources are from, and when they were read"
    yield _conclusion(verification)


def _signature_line(verification: Verification) -> str:
    signature = verification.signature
    match signature.state:
        case "good":
            return f"signed by {clean(signature.signer)} (key {signature.key_id})"
        case "unknown":
            return f"signed with key {signature.key_id}, which is none you trust"
        case _:
            return "not signed"


def _conclusion(verification: Verification) -> str:
    if not verification.ok:
        return (
            f"{clean(verification.file)} does not hold: "
            f"{', '.join(check.name for check in verification.checks if not check.ok)}"
        )
    writer = f"by Assay {clean(verification.release)}" if verification.release else "by a release without a name"
    run = f"run {clean(verification.run_id)}, {writer}, {_outcome(verification)}"
    if verification.whole:
        return f"{clean(verification.file)} is consistent with itself; {_signature_line(verification)}: {run}"
    verb = "was" if len(verification.unchecked) == 1 else "were"
    return (
        f"{clean(verification.file)} was checked only in part ({run}): nothing wrong was found, but"
        f" {_join_names(verification.unchecked)} {verb} NOT checked (written {writer}, this is {installed_release()})"
    )


def _join_names(names: Sequence[str]) -> str:
    """Format names as `a, b and c`; a hostile file may have thousands."""
    shown_names = [clean(name) for name in names[:_NAMED]]
    remaining = len(names) - len(shown_names)
    *first, last = [*shown_names, pluralize(remaining, "other member")] if remaining else shown_names
    return f"{', '.join(first)} and {last}" if first else last


def _outcome(verification: Verification) -> str:
    match verification.report:
        case "passed" if verification.verified:
            return "a report that passed its final check"
        case "passed":
            return "a report that passed its final check, and says that it does not answer the question"
        case "not_passed":
            return "a report that did not pass its final check, and says so"
        case "no_check":
            return "a report without a final check"
        case "unfinished":
            return f"an unfinished report: the run {_ENDED.get(verification.status, 'had not ended')}"
        case _:
            return f"without a report: the run {_ENDED.get(verification.status, 'had not ended')}"


_TEXTS = frozenset((".md", ".markdown", ".txt", ".text", ".rst"))


@click.command("verify", cls=ResearchCommand)
@click.argument("file", metavar="FILE", type=options.FilePath(readable=False, allow_dash=True))
@click.option(
    "--in", "paths", multiple=True, metavar="PATH…", help="Documents the text may cite; - reads paths from stdin."
)
@click.option("--web", is_flag=True, help="Fetch cited pages that are not among these documents.")
@click.option(
    "--find/--no-find",
    default=None,
    help="Look in all documents for evidence of uncited sentences; on if the text cites nothing.",
)
@click.option("--strict", is_flag=True, help="Exit with 3 if any claim is neither quoted nor supported.")
@click.option(
    "--min-supported",
    type=options.FiniteRange(0, 1),
    metavar="SHARE",
    help="Exit with 3 if a smaller share of claims is quoted or supported; 0.95 is 95 %.",
)
@click.option("--problems", is_flag=True, help="Show only claims that are neither quoted nor supported.")
@click.option("--again", is_flag=True, help="Treat FILE as a run, and check its report with the current rules.")
@click.option("--signer", metavar="KEY", default="", help="Bundle: require a signature by this public key or name.")
@click.option("--require-signature", is_flag=True, help="Bundle: require a signature by someone you trust.")
@judge_options
@click.option(
    "--queue", "queued", metavar="OUT.json", help="Leave it to a worker (assay worker), which writes this file."
)
@options.json_output
@options.common_options
@click.pass_obj
def command(
    state: TerminalOptions,
    file: Path,
    paths: Sequence[str],
    web: bool,
    find: bool | None,
    strict: bool,
    min_supported: float | None,
    problems: bool,
    again: bool,
    signer: str,
    require_signature: bool,
    model: str | None,
    max_usd: float | None,
    max_tokens: int | None,
    allow_private: bool,
    queued: str | None,
    as_json: bool,
    home: Path | None,
) -> int:
    """Check a text with citations, a report bundle, or the report of a run.

    \b
        assay verify report.md --in papers/            # each claim against the documents it cites
        assay verify draft.md --in papers/ --find      # and find evidence for sentences that cite nothing
        assay verify notes.md --web --min-supported 0.95
        assay verify report.zip                        # a bundle (-o FILE.zip): hashes, places, counts
        assay verify report.zip --signer RWQf6L…       # and its signature by the owner of this public key
        assay verify last --again                      # a run, by today's rules
        assay verify report.md --in papers/ --model ollama:qwen3

    For one citation of a run use assay cite, for all its claims assay claims, for pairs of claim and text assay
    check.

    A text may cite by number with a list of references ([1], [^1]), by links, or by file name ([plan.pdf, p. 3]).
    Without --model, no model is called and nothing is stored, so the result is the same on every machine. With
    --model, a model judges the claims the rules leave open; its answers are cached, so asking again costs nothing.
    Exit code 3: a bundle is inconsistent, incomplete or not signed as required; a claim of a run no longer agrees with
    its sources; or too few claims are supported for --strict or --min-supported.
    """
    if queued is not None and (again or signer or require_signature or not (paths or web)):
        raise click.UsageError("--queue checks a text against documents: name them (--in, --web), and no run or bundle")
    judge = JudgeOptions(model, allow_private, max_usd, max_tokens, home)
    if again:
        if paths or web or strict or find is not None or min_supported is not None:
            raise click.UsageError("--again takes a run, and none of --in, --web, --find, --strict, --min-supported")
        return print_recheck(str(file), judge, problems=problems, as_json=as_json)
    if not (paths or web or strict or model or min_supported is not None or file.suffix.lower() in _TEXTS):
        if not file.suffix and not file.exists():
            raise click.UsageError(f"there is no file {file}; to check a run: assay verify {file} --again")
        return check_bundle(file, signer=signer, requires_signature=require_signature, as_json=as_json)
    if signer or require_signature:
        raise click.UsageError("--signer and --require-signature are for bundles, which end in .zip")
    verify_options = VerifyOptions(tuple(paths_from(paths)), web, strict, min_supported, problems, as_json, find, judge)
    if queued is not None:
        return _queue(file, queued, verify_options, state.verbosity)
    return check_text(file, verify_options, quiet=state.verbosity < 0)


def _queue(file: Path, output: str, verify_options: VerifyOptions, verbosity: int) -> Exit:
    """Leave a text to a worker."""
    if (
        verify_options.strict
        or verify_options.problems
        or verify_options.as_json
        or verify_options.least is not None
        or str(file) == "-"
    ):
        raise click.UsageError("--queue writes all that was found to its file: leave out what chooses of it, and -")
    judge = verify_options.judge
    job = VerifyJob(
        file=str(file),
        output=output,
        paths=verify_options.paths,
        web=verify_options.web,
        find=verify_options.find,
        model=judge.model,
        allow_private=judge.allow_private,
        max_usd=judge.max_usd,
        max_tokens=judge.max_tokens,
    )
    queue_jobs([job], judge.home, settings.load(), verbosity)
    return Exit.DONE
