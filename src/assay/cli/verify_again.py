"""What `assay verify RUN --again` says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.app.verification import Again, Rechecked
from assay.cli.exits import Exit
from assay.cli.judge_options import JudgeOptions, spent
from assay.cli.library import stored
from assay.cli.progress import counted
from assay.cli.terminal import clean, write
from assay.cli.totals import summed
from assay.core.claims import HOLDING

_RENAMED = {"supported": ("quoted",)}
"""What older runs called supported may be quoted: another word for the same finding."""


def again(reference: str, home: Path | None, judge: JudgeOptions, *, problems: bool, as_json: bool) -> Exit:
    """Check a run's report once more and say what changed."""
    found = asyncio.run(_rechecked(reference, home, judge))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        write("\n".join(_told(found, problems=problems)))
    return Exit.DONE if found.holds else Exit.UNVERIFIED


async def _rechecked(reference: str, home: Path | None, judge: JudgeOptions) -> Rechecked:
    async with stored(home) as assay:
        return await assay.recheck(
            reference,
            model=judge.model,
            allow_private=judge.allow_private,
            max_usd=judge.max_usd,
            max_tokens=judge.max_tokens,
        )


def _told(found: Rechecked, *, problems: bool) -> Iterator[str]:
    changed = [claim for claim in found.claims if claim.now not in (claim.before, *_RENAMED.get(claim.before, ()))]
    for claim in changed:
        if not problems or claim.now not in HOLDING:
            yield from _claim(claim)
    for problem in found.problems:
        yield f"WRONG  {clean(problem)}"
    yield f"run {found.run_id}: {summed(found.now)}"
    if found.model:
        yield spent(found.model, found.usage)
    yield f"{counted(len(changed), 'verdict')} changed, {counted(len(found.lost), 'claim')} lost"


def _claim(claim: Again) -> Iterator[str]:
    yield f"{claim.id}: {claim.before} → {claim.now}: {clean(claim.text)}"
    if claim.reason:
        yield f"    {clean(claim.reason)}"
