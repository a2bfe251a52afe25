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
from assay.app.verification import MAX_TEXT_CHARS, CheckedClaim, Named, VerifiedText
from assay.cli import run_options
from assay.cli.figures import describe_cost, join_nonempty, summary_line
from assay.cli.library import ReadingTime, open_existing
from assay.cli.options import Command
from assay.cli.terminal import Exit, clean, say, write_json, write_lines
from assay.core.claims import HOLDING
from assay.core.clean import error_words, local_path
from assay.core.milestones import pluralize, shorten
from assay.core.sources import Passage
from assay.core.tables.rows import format_row
from assay.core.text import sentences, words
from assay.core.usage import Usage

FOUND_VERDICTS = frozenset((*HOLDING, "partial", "contradicted"))
"""The verdicts that rest on what was found; for the others it is only the nearest text."""
_WIDTH = 13
_QUOTE = 200
_BYTES = 4 * MAX_TEXT_CHARS


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
    return run_options.judge_option(run_options.run_options("judge")(command))


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


def check_text(file: Path, verify_options: VerifyOptions, *, quiet: bool) -> Exit:
    """Check a text and report the result."""
    if not verify_options.paths and not verify_options.web:
        raise click.UsageError("name the documents the text may cite with --in PATH, or fetch its pages with --web")
    result = asyncio.run(_verify(file, verify_options, quiet=quiet))
    if verify_options.as_json:
        write_json(result)
    else:
        write_lines(_verdict_lines(result, str(file), problems=verify_options.problems))
    has_minimum = verify_options.strict or verify_options.least is not None
    if has_minimum and not result.summary.claims:
        say(f"{file} states nothing that could be checked: that is not taken for a text whose claims hold")
        return Exit.UNVERIFIED
    falls_short = verify_options.least is not None and result.share < verify_options.least
    has_ungrounded = verify_options.strict and result.summary.grounded_count < result.summary.claims
    return Exit.UNVERIFIED if falls_short or has_ungrounded else Exit.DONE


async def _verify(file: Path, verify_options: VerifyOptions, *, quiet: bool) -> VerifiedText:
    data = await asyncio.to_thread(_read, file)
    config, home = settings.load(), verify_options.judge.home
    uses_collections, reading_time = any(path.startswith("@") for path in verify_options.paths), ReadingTime(say)
    async with open_existing(home) if uses_collections else Assay(config) as assay:
        result = await assay.verify(
            data,
            sources=verify_options.paths,
            folder=file.parent,
            web=verify_options.web,
            find=verify_options.find,
            model=verify_options.judge.model,
            answers=(home or config.home) if verify_options.judge.model else None,
            allow_private=verify_options.judge.allow_private,
            max_usd=verify_options.judge.max_usd,
            max_tokens=verify_options.judge.max_tokens,
            progress=None if quiet else reading_time,
        )
    if not quiet:
        for warning in result.warnings:
            say(f"warning: {warning}")
        if result.model:
            say(cost_line(result.model, result.usage))
        reading_time.suggest_collection(verify_options.paths)
    return result


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
            if file.suffix.lower() == ".zip":
                raise click.UsageError(
                    f"{file} is a bundle, which has its sources: leave out --in, --web, --find, --strict, --model and "
                    "--min-supported"
                )
            if file.suffix.lower() in (".html", ".htm"):
                raise click.UsageError(
                    f"{file} is a page: give the text as Markdown (assay runs export ID -o report.md)"
                )
            with file.open("rb") as stream:
                data = _read_bounded(stream)
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise click.UsageError(f"{file} is not text in UTF-8") from error
        raise click.UsageError(f"{file} cannot be read: {error_words(error)}") from error


def _read_bounded(stream: BinaryIO) -> bytes:
    data = stream.read(_BYTES + 1)
    if len(data) > _BYTES:
        raise click.UsageError(f"a text of more than {_BYTES:,} bytes is no report")
    return data


def _verdict_lines(result: VerifiedText, name: str, *, problems: bool) -> Iterator[str]:
    references = {reference.id: reference for reference in result.references}
    passages = {passage.id: passage for passage in result.passages}
    for claim in result.claims:
        if not (problems and claim.verdict in HOLDING):
            yield from _claim(claim, references, passages)
    missing = [reference for reference in result.references if reference.listed and not reference.documents]
    if missing:
        yield "not available:"
        yield from (f"  {clean(_reference_name(reference))}" for reference in missing)
        yield ""
    yield f"{clean(name)}: {summary_line(result.summary)}"
    if result.uncited:
        yield pluralize(
            result.uncited,
            "claim cites nothing and is neither quoted nor supported",
            "claims cite nothing and are neither quoted nor supported",
        )


def _claim(claim: CheckedClaim, references: Mapping[str, Named], passages: Mapping[str, Passage]) -> Iterator[str]:
    yield f"{claim.verdict:<{_WIDTH}} line {claim.line}: {shorten(clean(claim.text), 300)}"
    indent = " " * (_WIDTH + 1)
    if claim.reason:
        yield f"{indent}{clean(claim.reason)}"
    cited_names = [_reference_name(references[id]) for id in claim.references]
    if cited_names:
        yield f"{indent}cites {clean(', '.join(cited_names))}"
    if claim.found:
        relation = "found in" if claim.verdict in FOUND_VERDICTS else "nearest in"
        yield f"{indent}{relation} {clean(', '.join(map(_place, claim.found)))}"
    if claim.verdict != "quoted" and (passage := _passage_to_show(claim, passages)) is not None:
        yield f"{indent}{passage.id}: “{clean(_excerpt(passage, claim.text))}”"
        if claim.nearest and claim.nearest.missing and claim.nearest.passage == passage.id:
            yield f"{indent}which lacks: {clean(', '.join(claim.nearest.missing))}"
    yield ""


def _excerpt(passage: Passage, claim: str) -> str:
    """What a passage says about a claim: a row with its headers, else the text from the sentence that says most."""
    if row := format_row(passage.text, passage.label):
        return row
    claim_words = {word.lower() for word in words(claim)}
    starts = [start for start, _ in sentences(passage.text)] if len(passage.text) > _QUOTE else []
    ends = [*starts[1:], len(passage.text)]
    start = max(
        zip(starts, ends, strict=False),
        key=lambda span: len(claim_words & {word.lower() for word in words(passage.text[slice(*span)])}),
        default=(0, 0),
    )[0]
    return ("…" if start else "") + shorten(passage.text[start:], _QUOTE)


def _passage_to_show(claim: CheckedClaim, passages: Mapping[str, Passage]) -> Passage | None:
    """The passage to show beside a claim: the one that the reason names, else the nearest, else the first."""
    named_ids = (id for id in claim.passages if id in claim.reason.replace(":", " ").replace(",", " ").split())
    nearest = (claim.nearest.passage,) if claim.nearest else ()
    return next((passages[id] for id in (*named_ids, *nearest, *claim.passages) if id in passages), None)


def _reference_name(reference: Named) -> str:
    label = f"[{reference.label}] " if reference.label else ""
    location = _place(reference.documents[0]) if reference.documents else reference.url
    return f"{label}{reference.title or location}" if not location else f"{label}{location}"


def _place(url: str) -> str:
    """A document's path relative to the current folder if it is below, else its path or address."""
    path = local_path(url)
    if path is None:
        return url
    prefix = f"{Path.cwd()}/"
    return path.removeprefix(prefix)
