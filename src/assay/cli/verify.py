"""`assay verify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.cli.arguments import ResearchCommand, paths_from
from assay.cli.judge_options import JudgeOptions, judging
from assay.cli.terminal import TerminalOptions
from assay.cli.verify_again import again as check_again
from assay.cli.verify_bundle import bundle
from assay.cli.verify_text import VerifyOptions, text

_TEXTS = frozenset((".md", ".markdown", ".txt", ".text", ".rst"))


@click.command("verify", cls=ResearchCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, readable=False, allow_dash=True))
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
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 3 if a smaller share of claims is quoted or supported (0.95).",
)
@click.option("--problems", is_flag=True, help="Show only claims that are neither quoted nor supported.")
@click.option("--again", is_flag=True, help="Take FILE as a run, and check its report with today's rules.")
@click.option(
    "--signer", metavar="KEY", default="", help="Bundle: who has to have signed it (a public key, or a name)."
)
@click.option("--require-signature", is_flag=True, help="Bundle: it has to be signed by somebody you trust.")
@judging
@options.json_output
@options.common
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
    as_json: bool,
    home: Path | None,
) -> int:
    """Check what is written: a text with citations, a report bundle, or a run's report once more.

    \b
        assay verify report.md --in papers/            # each claim against the documents it cites
        assay verify draft.md --in papers/ --find      # and look for what cites nothing
        assay verify notes.md --web --min-supported 0.95
        assay verify report.zip                        # a bundle (-o FILE.zip): hashes, places, counts
        assay verify report.zip --signer RWQf6L…       # and that the owner of this public key signed it
        assay verify last --again                      # a run, by the rules of today
        assay verify report.md --in papers/ --model ollama:qwen3

    One sentence of a run: assay cite. All its claims: assay claims. Claims with a text each: assay check.

    A text may cite by number with a list of references ([1], [^1]), or by links. Without --model nothing is stored and
    no model is asked, so it gives the same on every machine. With it a model judges what the rules do not decide, and
    what it answered is remembered in the home: asked again, it costs nothing. Exit code 3: a bundle does
    not agree with itself, could not be checked whole, or is not signed as it had to be; a claim of a run was true to
    its sources and no longer is; claims below what --strict or --min-supported want.
    """
    if again:
        if paths or web or strict or find is not None or min_supported is not None:
            raise click.UsageError("--again takes a run, and none of --in, --web, --find, --strict, --min-supported")
        judge = JudgeOptions(model, allow_private, max_usd, max_tokens)
        return check_again(str(file), home, judge, problems=problems, as_json=as_json)
    if not (paths or web or strict or model or min_supported is not None or file.suffix.lower() in _TEXTS):
        if not file.suffix and not file.exists():
            raise click.UsageError(f"there is no file {file}; to check a run: assay verify {file} --again")
        return bundle(file, signer=signer, required=require_signature, as_json=as_json)
    if signer or require_signature:
        raise click.UsageError("--signer and --require-signature are for bundles, which end in .zip")
    judge = JudgeOptions(model, allow_private, max_usd, max_tokens, home)
    asked = VerifyOptions(tuple(paths_from(paths)), web, strict, min_supported, problems, as_json, find, judge)
    return text(file, asked, quiet=state.verbosity < 0)
