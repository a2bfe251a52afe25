"""Options that several commands share, and the notices to the targets of `--notify`."""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

import click

from assay import settings
from assay.cli.completion import collection_names, run_ids
from assay.cli.terminal import TerminalOptions, say
from assay.core.lazy import lazy_module
from assay.core.markers import CitationMode

if TYPE_CHECKING:
    from assay.services import notices
else:
    notices = lazy_module("assay.services.notices")


def _bare_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a collection, also where it is written as for `--in`: `-c @NAME`."""
    return value.removeprefix("@") if value else value


collection_option = click.option(
    "-c",
    "--collection",
    default="default",
    callback=_bare_name,
    show_default=True,
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection.",
)
any_collection_option = click.option(
    "-c",
    "--collection",
    callback=_bare_name,
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection; all collections if omitted.",
)
embedder_option = click.option(
    "--embedder",
    metavar="PROVIDER:MODEL",
    help="Search by meaning too (ollama:nomic-embed-text) [embedder.model].",
)


Command = TypeVar("Command", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")


def run_async(command: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """A command that is a coroutine: it runs in an event loop of its own.

    Within it Ctrl-C cancels what is awaited, and does not interrupt what blocks: a command that reads stdin or prints
    much does that outside the loop.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return asyncio.run(command(*args, **kwargs))

    return run


UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
SCALES = {"": 1, "k": 1_000, "m": 1_000_000}
MAX_COUNT = 10**15


class Duration(click.ParamType[float]):
    """Parses `90`, `90s`, `1.5m` or `1h` to seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", value.strip().lower())
        if not match or not float(match[1]):
            self.fail(f"{value!r} is not a time like 90s, 5m or 1h", param, ctx)
        return float(match[1]) * UNITS[match[2]]


class Count(click.ParamType[int]):
    """Parses `200000`, `200k` or `1.5m` to a number above 0."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([km]?)", value.strip().lower().replace("_", ""))
        count = float(match[1]) * SCALES[match[2]] if match else 0  # may be infinite
        if not 1 <= count < MAX_COUNT:
            self.fail(f"{value!r} is not a count like 200000 or 200k", param, ctx)
        return int(count)


class Money(click.ParamType[float]):
    """Parses `0.50`, `2` or `$2` to US dollars above 0."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"\$?([0-9]{1,9}(?:\.[0-9]{1,6})?)", value.strip())
        if not match or not float(match[1]):
            self.fail(f"{value!r} is not an amount of US dollars like 0.50 or 2", param, ctx)
        return float(match[1])


MAX_NAME_BYTES = 255
"""The longest name of a file on all usual file systems."""


class FilePath(click.Path):
    """A file or a folder. Empty text (`--home "$UNSET"`) is none: a `Path` of it would be the current folder."""

    def __init__(self, **checks: bool) -> None:
        super().__init__(path_type=Path, **checks)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path is empty: name a file or a folder (. is the current one)", param, ctx)
        if any(len(os.fsencode(name)) > MAX_NAME_BYTES for name in Path(value).parts):
            self.fail(f"a name in a path has more than {MAX_NAME_BYTES} bytes: shorten it", param, ctx)
        return super().convert(value, param, ctx)


def _set_verbosity(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    state = ctx.ensure_object(TerminalOptions)
    if value:
        state.verbosity = -1 if param.name == "quiet" else int(value)


def verbosity_options(command: Command) -> Command:
    """`-q`, `-v`, `-vv`; `TerminalOptions` explains them."""
    quiet = click.option(
        "-q", "--quiet", is_flag=True, expose_value=False, callback=_set_verbosity, help="Hide progress and notes."
    )
    verbose = click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_set_verbosity,
        help="Show tools and models; -vv adds the log and tracebacks.",
    )
    return verbose(quiet(command))


def common_options(command: Command) -> Command:
    """The options of every command that uses a home."""
    home = click.option(
        "--home",
        type=FilePath(file_okay=False),
        help="Folder with library, index and runs [ASSAY_HOME].",
    )
    return home(verbosity_options(command))


def output_options(noun: str = "report") -> Callable[[Command], Command]:
    """`-o`, `--json`, `--events` and `--strict`: where a run's result goes, and what its exit code means."""
    file = click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=FilePath(),
        metavar="FILE",
        help=f"Write the {noun} to a file (.md, .html, .pdf, .bib …) instead of stdout.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help=f"Print the {noun} as JSON.")
    events = click.option("--events", "as_events", is_flag=True, help="Print every event as a line of JSON.")
    strict = click.option("--strict", is_flag=True, help=f"Exit with 3 if the {noun} did not pass the final check.")
    return lambda command: file(as_json(events(strict(command))))


json_output = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask; use the defaults.")


class FiniteRange(click.FloatRange):
    """A number in a range; `nan`, which compares with nothing, and `inf` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def run_argument(metavar: str = "ID", **attrs: Any) -> Callable[[Command], Command]:
    """The argument `reference`, which names a run."""
    return click.argument("reference", metavar=metavar, shell_complete=run_ids, **attrs)


def citation_options(command: Command) -> Command:
    """`citation_modes`, and `--plain` for reports on a terminal."""
    plain = click.option(
        "--plain", is_flag=True, expose_value=False, callback=_set_plain, help="Print Markdown on a terminal too."
    )
    return citation_modes(plain(command))


def citation_modes(command: Command) -> Command:
    """`--citations MODE`, and `--footnotes` for one of the modes; the last one given counts."""
    mode = click.option("--citations", type=click.Choice(get_args(CitationMode)), help="Citation style in the text.")
    footnotes = click.option(
        "--footnotes", "citations", flag_value="footnotes", help="Cite with Markdown footnotes (--citations footnotes)."
    )
    return mode(footnotes(command))


def _set_plain(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.ensure_object(TerminalOptions).plain |= value


def paging_options(command: Command) -> Command:
    """`-n` and `--cursor`: how much of a list, and from where."""
    cursor = click.option(
        "--cursor", default="", metavar="CURSOR", help="Continue the list where the previous page ended."
    )
    limit = click.option(
        "-n", "limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Number of entries to list."
    )
    return limit(cursor(command))


def notify_option(command: Command) -> Command:
    """`--notify COMMAND|URL|desktop`, repeatable."""
    return click.option(
        "--notify",
        multiple=True,
        metavar="COMMAND|URL|desktop",
        help="Notify this command, URL or your desktop when the run ends or needs an answer.",
    )(command)


def notice_targets(texts: Sequence[str], config: settings.Settings) -> tuple[notices.Target, ...]:
    """The targets of notices: those named, else those in the settings.

    Raises:
        ConfigError: one is neither a command nor an address.
    """
    if texts or config.notify is None:
        return tuple(notices.read_target(text, named=True) for text in texts)
    return (notices.read_target(config.notify.reveal()),)


async def send_notices(notice: notices.RunNotice, targets: Sequence[notices.Target]) -> None:
    """Notify all targets, and warn about those that failed."""
    if not targets:
        return
    for warning in await notices.send(notice, targets):
        say(f"warning: {warning}")
