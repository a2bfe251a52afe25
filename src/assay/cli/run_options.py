"""The command line options of a run, generated from their table (`core.run_options`), and the options beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from msgspec import UNSET

from assay.cli.completion import in_places, run_ids, strategies
from assay.cli.options import Command, Count, Duration, Money
from assay.core.brief import ROLES, Role
from assay.core.json_decoders import UNREADABLE
from assay.core.options import Declared, Flag, Group, declared
from assay.core.run_options import RunOptions

BESIDE: Mapping[Group, Mapping[int, tuple[str, ...]]] = {
    "Sources": {0: ("paths", "add", "exclude")},
    "Model": {90: ("embedder",)},
    "Report": {
        0: ("outputs", "folder", "suffix", "in_browser", "to_clipboard", "as_json", "as_events", "plain", "citations"),
        70: ("strict",),
    },
    "Run": {0: ("point", "plan"), 45: ("yes", "at_once", "detach", "queue", "queued", "priority", "notify")},
}
"""Parameters that are not options of a run: the group of each and its place there."""
OTHERS = "Options"
"""The last group, for all other options."""


def write(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of `command` by group, in order."""
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*get_args(Group), OTHERS)}
    for parameter in sorted(command.get_params(ctx), key=lambda each: _option_place(each)[1]):
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            rows[_option_place(parameter)[0]].append(record)
    for title, records in rows.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _option_place(parameter: click.Parameter) -> tuple[str, tuple[int, int]]:
    """The group of a parameter, and its place in the group."""
    return order().get(parameter.name or "", (OTHERS, (0, 0)))


@cache
def order() -> Mapping[str, tuple[str, tuple[int, int]]]:
    """The group of every parameter that has one, and its place in the group."""
    options = {
        name: (each.option.group, (each.option.place, at))
        for at, (name, each) in enumerate(declared(RunOptions).items())
        if each.flags
    }
    beside = {
        name: (group, (place, at))
        for group, places in BESIDE.items()
        for place, names in places.items()
        for at, name in enumerate(names)
    }
    return options | beside


LARGEST = 1_000_000
"""The most bytes of a file of answers."""


def run_options(command: str, table: type = RunOptions) -> Callable[[Command], Command]:
    """The options that the command takes; they are passed to `Assay.start` (or the like) under their names,
    unchanged.
    """

    def decorated(function: Command) -> Command:
        for each in reversed(tuple(declared(table).values())):
            for flag in reversed(each.flags_on(command)):
                function = run_option(each, flag, command)(function)
        return function

    return decorated


def run_option(option: Declared, flag: Flag, command: str) -> Callable[[Command], Command]:
    """One option with one of its flags."""
    said: dict[str, Any] = {"help": flag.help_on(command), "metavar": flag.metavar, **_READERS.get(flag.reads, {})}
    if flag.choices:
        said["type"] = click.Choice(flag.choices)
    if flag.default is not None:
        said |= {"default": flag.default, "show_default": True}
    if flag.value is not UNSET:
        said |= {"flag_value": flag.value, "is_flag": True, "default": None}
    return click.option(flag.name, option.name, **said)


def _models(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[Role, tuple[str, ...]]:
    """Model names by role. Names without a role play all roles without a name, except the judge: see `families`."""
    named: dict[str, tuple[str, ...]] = {}
    for value in values:
        role, given, name = value.rpartition("=")
        if (given and role not in ROLES) or not name:
            raise click.BadParameter(f"{value!r} is not [ROLE=]PROVIDER:NAME (roles: {', '.join(ROLES)})")
        named[role] = (*named.get(role, ()), name)
    common = {role: named[""] for role in ROLES if role != "judge" and "" in named}
    return common | {role: named[role] for role in ROLES if role in named}


def _labels(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for value in values:
        name, given, text = value.partition("=")
        if not given or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE")
        labels[name.strip()] = text.strip()
    return labels


def read_answers(text: str) -> list[str] | dict[str, str]:
    """Parse answers: a JSON list, a JSON object by question, or one per line. An empty answer leaves its question open.

    Raises:
        click.UsageError: the text begins as JSON and is neither.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return text.splitlines()
    try:
        return msgspec.json.decode(text, type=list[str] | dict[str, str])
    except UNREADABLE as error:
        raise click.UsageError(
            f"answers are a JSON list of texts, or an object of texts by question: {error}"
        ) from error


def _answers(ctx: click.Context, param: click.Parameter, value: Path | None) -> list[str] | dict[str, str] | None:
    if value is None:
        return None
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if str(value) == "-" else _read(value)
        if len(data) > LARGEST:
            raise click.BadParameter(f"{value} holds more than {LARGEST:,} bytes")
        return read_answers(data.decode("utf-8-sig"))
    except OSError as error:
        raise click.BadParameter(f"{value} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{value} is not text in UTF-8") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


_READERS: Mapping[str, Mapping[str, Any]] = {
    "answers": {"type": click.Path(path_type=Path), "callback": _answers},
    "count": {"type": Count()},
    "either": {"default": None},
    "file": {"type": click.Path(dir_okay=False, path_type=Path)},
    "labels": {"multiple": True, "callback": _labels},
    "models": {"multiple": True, "callback": _models},
    "path": {"type": click.Path(path_type=Path)},
    "run": {"shell_complete": run_ids},
    "several": {"multiple": True},
    "strategy": {"shell_complete": strategies},
    "switch": {"is_flag": True},
    "time": {"type": Duration()},
    "usd": {"type": Money()},
}
"""The type of a flag's argument, by its name in the declaration."""


# # The other options: the documents, and who executes the run.


def places(more: str = "; - reads them from stdin") -> Callable[[Command], Command]:
    """`--in PATH…`; `more` ends its help."""
    return click.option(
        "--in",
        "paths",
        multiple=True,
        metavar="PATH…",
        shell_complete=in_places,
        help=f"Search only these files, folders, globs, page addresses or collections (@NAME){more}.",
    )


def detached(command: Command) -> Command:
    """`--detach`."""
    return click.option("--detach", is_flag=True, help="Print the run's id and continue in the background.")(command)


def queueing(command: Command) -> Command:
    """`--queue` and `--priority`."""
    queue = click.option(
        "--queue", is_flag=True, help="Print the run's id and leave the run to a worker (assay worker)."
    )
    priority = click.option(
        "--priority",
        type=click.IntRange(-100, 100),
        default=0,
        metavar="N",
        help="Priority in the queue, -100 to 100; the highest goes first [0].",
    )
    return queue(priority(command))
