"""How `assay research` parses its words: `--in` takes several paths, as shells expand `docs/*.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import run_options
from assay.core.errors import UsageError
from assay.core.later import later

if TYPE_CHECKING:
    from assay.services import places
else:
    places = later("assay.services.places")


class GroupedCommand(click.Command):
    """A command whose help shows the options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their groups."""
        run_options.write(self, ctx, formatter)


class ResearchCommand(GroupedCommand):
    """A command whose `--in` takes every word up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.resilient_parsing else spread(args))


def spread(args: Sequence[str]) -> list[str]:
    """Expand `--in a b` to `--in a --in b`, up to the next option or `--`.

    A question may come last, after the paths (`assay --in docs/ notes.md "What is new?"`), if it reads like one and
    does not name a file.
    """
    end = args.index("--") if "--" in args else len(args)
    spread_out: list[str] = []
    group: list[str] | None = None
    for word in args[:end]:
        if group is not None and (word == "-" or not word.startswith("-")):
            group.append(word)
            continue
        if group is not None:
            spread_out += _options(group)
        group = [] if word == "--in" else None
        if group is None:
            spread_out.append(word)
    if group is not None:
        spread_out += _options(group, last=end == len(args))
    return [*spread_out, *args[end:]]


def _options(group: list[str], *, last: bool = False) -> list[str]:
    """The words after one `--in`; the last word of the last such group may be the question."""
    if not group:
        raise click.UsageError("--in needs a path")
    question = group[-1:] if last and len(group) > 1 and _is_question(group[-1]) else []
    paths = group[: len(group) - len(question)]
    return [*(part for path in paths for part in ("--in", path)), *question]


def _is_question(word: str) -> bool:
    reads_like_one = any(char.isspace() for char in word) or word.endswith(("?", "？", "؟"))
    return reads_like_one and not _is_file(word)


def _is_file(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # longer than a name may be, so not a file
        return False


def paths_from(values: Iterable[str]) -> list[str]:
    """The paths given to `--in`; `-` is replaced with those on stdin, one per line."""
    paths: list[str] = []
    for value in values:
        paths += [line for line in sys.stdin.read().splitlines() if line.strip()] if value == "-" else [value]
    return paths


def there(paths: Sequence[str]) -> Sequence[str]:
    """Return the paths if all exist now, for work that reads them later, when nobody is watching.

    Raises:
        UsageError: a file, a folder or a glob matches nothing.
    """
    _, missing = places.files_of(path for path in places.sorted_out(paths).paths if not path.startswith("@"))
    if missing:
        raise UsageError("; ".join(missing.values()))
    return paths


def question_from(words: Sequence[str], paths: Sequence[str]) -> str:
    """The question; `-` reads it from stdin.

    Raises:
        click.UsageError: there is none, or more than one, or stdin would be both the question and the paths.
    """
    if len(words) != 1:
        raise click.UsageError("put the question in quotes, and paths after --in" if words else "no question")
    if words[0] == "-" and "-" in paths:
        raise click.UsageError("stdin cannot hold both the question and the paths")
    question = sys.stdin.read() if words[0] == "-" else words[0]
    if not question.strip():
        raise click.UsageError("the question is empty")
    return question.strip()
