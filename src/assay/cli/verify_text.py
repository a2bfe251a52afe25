"""The output of `assay verify FILE.md --in PATH…`, and the options that name its judge."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from assay import Assay, settings
from assay.app.verification import LONGEST, CheckedClaim, Named, VerifiedText
from assay.cli import run_options
from assay.cli.figures import describe_cost, join_nonempty, summary_line
from assay.cli.library import ReadingTime, open_existing
from assay.cli.options import Command
from assay.cli.terminal import Exit, clean, say, write_json, write_lines
from assay.core.claims import HOLDING
from assay.core.clean import local_path
from assay.core.milestones import pluralize, shorten
from assay.core.sources import Passage
from assay.core.usage import Usage

FOUND_VERDICTS = frozenset((*HOLDING, "partial", "contradicted"))
"""The verdicts that rest on what was found; for the others it is only the nearest text."""
_WIDTH = 13
_QUOTE = 200
_BYTES = 4 * LONGEST


class JudgeOptions(msgspec.Struct, frozen=True):
    """The judge's options: the model, whether it may see private documents, and its limits.

    `home` is the home that remembers its answers.
    """

    model: str | None = None
    allow_private: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None
    home: Path | None = None


def judge_options(command: Command) -> Command:
    """`--model`, `--max-usd`, `--max-tokens` and `--allow-private`."""
    named = click.option("--model", metavar="PROVIDER:NAME", help="Model that judges the claims the rules leave open.")
    return named(run_options.run_options("judge")(command))


def cost_line(model: str, usage: Usage) -> str:
    """A judge's cost, in one line."""
    calls = pluralize(usage.model_calls, "call")
    return f"judged by {model}: {join_nonempty((calls, f'{usage.tokens:,} tokens', describe_cost(usage)), ', ')}"


class VerifyOptions(msgspec.Struct, frozen=True):
    """The options of the check."""

    paths: tuple[str, ...]
    web: bool
    strict: bool
    least: float | None
    problems: bool
    as_json: bool
    find: bool | None = None
    judge: JudgeOptions = JudgeOptions()


def check_text(file: Path, asked: VerifyOptions, *, quiet: bool) -> Exit:
    """Check a text and report the result."""
    if not asked.paths and not asked.web:
        raise click.UsageError("name the documents the text may cite with --in PATH, or fetch its pages with --web")
    found = asyncio.run(_verify(file, asked, quiet=quiet))
    if asked.as_json:
        write_json(found)
    else:
        write_lines(_verdict_lines(found, str(file), problems=asked.problems))
    demanding = asked.strict or asked.least is not None
    if demanding and not found.summary.claims:
        say(f"{file} states nothing that could be checked: that is not taken for a text whose claims hold")
        return Exit.UNVERIFIED
    falls_short = asked.least is not None and found.share < asked.least
    lacks = asked.strict and found.summary.grounded_count < found.summary.claims
    return Exit.UNVERIFIED if falls_short or lacks else Exit.DONE


async def _verify(file: Path, asked: VerifyOptions, *, quiet: bool) -> VerifiedText:
    data = await asyncio.to_thread(_read, file)
    configured, home = settings.load(), asked.judge.home
    shelved, reading = any(path.startswith("@") for path in asked.paths), ReadingTime(say)
    async with open_existing(home) if shelved else Assay(configured) as assay:
        found = await assay.verify(
            data,
            sources=asked.paths,
            folder=file.parent,
            web=asked.web,
            find=asked.find,
            model=asked.judge.model,
            answers=(home or configured.home) if asked.judge.model else None,
            allow_private=asked.judge.allow_private,
            max_usd=asked.judge.max_usd,
            max_tokens=asked.judge.max_tokens,
            progress=None if quiet else reading,
        )
    if not quiet:
        for warning in found.warnings:
            say(f"warning: {warning}")
        if found.model:
            say(cost_line(found.model, found.usage))
        reading.suggest_collection(asked.paths)
    return found


def _read(file: Path) -> str:
    """The text of a file, or of stdin for `-`.

    Raises:
        click.UsageError: it cannot be read, is too long, or is not text in UTF-8.
    """
    try:
        if str(file) == "-":
            data = _read_bounded(sys.stdin.buffer)
        else:
            if file.exists() and not file.is_file():
                raise click.UsageError(f"{file} is not a file")
            if file.suffix.lower() in (".html", ".htm"):
                raise click.UsageError(
                    f"{file} is a page: give the text as Markdown (assay runs export ID -o report.md)"
                )
            with file.open("rb") as opened:
                data = _read_bounded(opened)
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise click.UsageError(f"{file} is not text in UTF-8") from error
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise click.UsageError(f"{file} cannot be read: {reason}") from error


def _read_bounded(opened: BinaryIO) -> bytes:
    data = opened.read(_BYTES + 1)
    if len(data) > _BYTES:
        raise click.UsageError(f"a text of more than {_BYTES:,} bytes is no report")
    return data


def _verdict_lines(found: VerifiedText, name: str, *, problems: bool) -> Iterator[str]:
    references = {each.id: each for each in found.references}
    passages = {each.id: each for each in found.passages}
    for claim in found.claims:
        if not (problems and claim.verdict in HOLDING):
            yield from _claim(claim, references, passages)
    missing = [each for each in found.references if not each.documents]
    if missing:
        yield "not available:"
        yield from (f"  {clean(_reference_name(each))}" for each in missing)
        yield ""
    yield f"{clean(name)}: {summary_line(found.summary)}"
    if found.uncited:
        yield pluralize(found.uncited, "claim that cites nothing does not hold", "claims that cite nothing do not hold")


def _claim(claim: CheckedClaim, references: Mapping[str, Named], passages: Mapping[str, Passage]) -> Iterator[str]:
    yield f"{claim.verdict:<{_WIDTH}} line {claim.line}: {shorten(clean(claim.text), 300)}"
    indent = " " * (_WIDTH + 1)
    if claim.reason:
        yield f"{indent}{clean(claim.reason)}"
    cited = [_reference_name(references[id]) for id in claim.references]
    if cited:
        yield f"{indent}cites {clean(', '.join(cited))}"
    if claim.found:
        how = "found in" if claim.verdict in FOUND_VERDICTS else "nearest in"
        yield f"{indent}{how} {clean(', '.join(map(_place, claim.found)))}"
    if (claim.found or claim.verdict not in HOLDING) and (shown := _passage_to_show(claim, passages)) is not None:
        yield f"{indent}{shown.id}: “{shorten(clean(shown.text), _QUOTE)}”"
        if claim.nearest and claim.nearest.missing and claim.nearest.passage == shown.id:
            yield f"{indent}which lacks: {clean(', '.join(claim.nearest.missing))}"
    yield ""


def _passage_to_show(claim: CheckedClaim, passages: Mapping[str, Passage]) -> Passage | None:
    """The passage to show beside a claim: the one that the reason names, else the nearest, else the first."""
    named = (id for id in claim.passages if id in claim.reason.replace(":", " ").replace(",", " ").split())
    nearest = (claim.nearest.passage,) if claim.nearest else ()
    return next((passages[id] for id in (*named, *nearest, *claim.passages) if id in passages), None)


def _reference_name(reference: Named) -> str:
    label = f"[{reference.label}] " if reference.label else ""
    where = _place(reference.documents[0]) if reference.documents else reference.url
    return f"{label}{reference.title or where}" if not where else f"{label}{where}"


def _place(url: str) -> str:
    """A document's path relative to the current folder if it is below, else its path or address."""
    path = local_path(url)
    if path is None:
        return url
    here = f"{Path.cwd()}/"
    return path.removeprefix(here)
