"""The options of a run as command line options, from their table (`core.run_options`), and how its words are parsed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec
from msgspec import UNSET

from assay import settings
from assay.cli.completion import input_places, run_ids, strategies
from assay.cli.options import Command, Count, Duration, FilePath, Money
from assay.cli.terminal import say
from assay.core.brief import ROLES, Role
from assay.core.errors import UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import lazy_module
from assay.core.options import DeclaredOption, Flag, OptionGroup, declared_options
from assay.core.ports.models import BUILT_IN
from assay.core.run_options import RunOptions

if TYPE_CHECKING:
    from assay.services import places, providers
else:
    places = lazy_module("assay.services.places")
    providers = lazy_module("assay.services.providers")


EXTRA_PARAMETERS: Mapping[OptionGroup, Mapping[int, tuple[str, ...]]] = {
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


def write_help(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of `command` by group, in order."""
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*get_args(OptionGroup), OTHERS)}
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
    return parameter_order().get(parameter.name or "", (OTHERS, (0, 0)))


@cache
def parameter_order() -> Mapping[str, tuple[str, tuple[int, int]]]:
    """The group of every parameter that has one, and its place in the group."""
    options = {
        name: (declaration.option.group, (declaration.option.position, index))
        for index, (name, declaration) in enumerate(declared_options(RunOptions).items())
        if declaration.flags
    }
    extra = {
        name: (group, (position, index))
        for group, positions in EXTRA_PARAMETERS.items()
        for position, names in positions.items()
        for index, name in enumerate(names)
    }
    return options | extra


MAX_ANSWERS_BYTES = 1_000_000
"""The most bytes of a file of answers."""


def run_options(command: str, table: type = RunOptions) -> Callable[[Command], Command]:
    """The options that the command takes; they are passed to `Assay.start` (or the like) under their names,
    unchanged.
    """

    def decorate(function: Command) -> Command:
        for declaration in reversed(tuple(declared_options(table).values())):
            for flag in reversed(declaration.flags_on(command)):
                function = run_option(declaration, flag, command)(function)
        return function

    return decorate


def run_option(option: DeclaredOption, flag: Flag, command: str) -> Callable[[Command], Command]:
    """One option with one of its flags."""
    attributes: dict[str, Any] = {
        "help": flag.help_on(command),
        "metavar": flag.metavar,
        **_READERS.get(flag.reads, {}),
    }
    if flag.choices:
        attributes["type"] = click.Choice(flag.choices)
    if flag.default is not None:
        attributes |= {"default": flag.default, "show_default": True}
    if flag.value is not UNSET:
        attributes |= {"flag_value": flag.value, "is_flag": True, "default": None}
    return click.option(flag.name, option.name, **attributes)


def complete_model(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a model; a server's alone stands for its only model."""
    if not value or value == BUILT_IN or value.partition(":")[2]:
        return value
    name = asyncio.run(providers.complete_model_name(settings.load(), value))
    if name != value:
        say(f"the model is {name}, the only one there")
    return name


def _models(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[Role, tuple[str, ...]]:
    """Model names by role. Names without a role play all roles without a name, except the judge: see `families`."""
    models_by_role: dict[str, tuple[str, ...]] = {}
    for value in values:
        role, separator, name = value.rpartition("=")
        if (separator and role not in ROLES) or not name:
            raise click.BadParameter(f"{value!r} is not [ROLE=]PROVIDER:NAME (roles: {', '.join(ROLES)})")
        models_by_role[role] = (*models_by_role.get(role, ()), complete_model(ctx, param, name) or name)
    common = {role: models_by_role[""] for role in ROLES if role != "judge" and "" in models_by_role}
    return common | {role: models_by_role[role] for role in ROLES if role in models_by_role}


def _labels(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for value in values:
        name, separator, text = value.partition("=")
        if not separator or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE")
        labels[name.strip()] = text.strip()
    return labels


def _run(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty: name a run by its id, the start of its id, or `last`")
    return value


def read_answers(text: str) -> list[str] | dict[str, str]:
    """Parse answers: a JSON list, a JSON object by question, or one per line. An empty answer leaves its question open.

    Raises:
        click.UsageError: the text begins as JSON and is neither.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return text.splitlines()
    try:
        return msgspec.json.decode(text, type=list[str] | dict[str, str])
    except DECODE_ERRORS as error:
        raise click.UsageError(
            f"answers are a JSON list of texts, or an object of texts by question: {error}"
        ) from error


def _answers(ctx: click.Context, param: click.Parameter, value: Path | None) -> list[str] | dict[str, str] | None:
    if value is None:
        return None
    try:
        data = sys.stdin.buffer.read(MAX_ANSWERS_BYTES + 1) if str(value) == "-" else _read(value)
        if len(data) > MAX_ANSWERS_BYTES:
            raise click.BadParameter(f"{value} holds more than {MAX_ANSWERS_BYTES:,} bytes")
        return read_answers(data.decode("utf-8-sig"))
    except OSError as error:
        raise click.BadParameter(f"{value} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{value} is not text in UTF-8") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_ANSWERS_BYTES + 1)


_READERS: Mapping[str, Mapping[str, Any]] = {
    "answers": {"type": FilePath(), "callback": _answers},
    "count": {"type": Count()},
    "either": {"default": None},
    "file": {"type": FilePath(dir_okay=False)},
    "labels": {"multiple": True, "callback": _labels},
    "models": {"multiple": True, "callback": _models},
    "path": {"type": FilePath()},
    "run": {"shell_complete": run_ids, "callback": _run},
    "several": {"multiple": True},
    "strategy": {"shell_complete": strategies},
    "switch": {"is_flag": True},
    "time": {"type": Duration()},
    "usd": {"type": Money()},
}
"""The type of a flag's argument, by its name in the declaration."""


# The other options: the documents, who judges, and who executes the run.

judge_option = click.option(
    "--model",
    metavar="PROVIDER:NAME",
    callback=complete_model,
    help="Model that judges the claims the rules leave open.",
)


def places_option(help_end: str = "; - reads them from stdin") -> Callable[[Command], Command]:
    """`--in PATH…`; `help_end` ends its help."""
    return click.option(
        "--in",
        "paths",
        multiple=True,
        metavar="PATH…",
        shell_complete=input_places,
        help=f"Search only these files, folders, globs, page addresses or collections (@NAME){help_end}.",
    )


def detach_option(command: Command) -> Command:
    """`--detach`."""
    return click.option("--detach", is_flag=True, help="Print the run's id and continue in the background.")(command)


def queue_options(command: Command) -> Command:
    """`--queue` and `--priority`."""
    queue = click.option(
        "--queue", is_flag=True, help="Print the run's id and leave the run to a worker (assay worker)."
    )
    priority = click.option(
        "--priority",
        type=click.IntRange(-100, 100),
        metavar="N",
        help="With --queue: priority in the queue, -100 to 100; the highest goes first [0].",
    )
    return queue(priority(command))


class GroupedCommand(click.Command):
    """A command whose help shows the options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, ctx, formatter)


class ResearchCommand(GroupedCommand):
    """A command whose `--in` takes every word up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.resilient_parsing else expand_paths(args))


def expand_paths(args: Sequence[str]) -> list[str]:
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
            spread_out += _expand_group(group)
        group = [] if word == "--in" else None
        if group is None:
            spread_out.append(word)
    if group is not None:
        spread_out += _expand_group(group, last=end == len(args))
    return [*spread_out, *args[end:]]


def _expand_group(group: list[str], *, last: bool = False) -> list[str]:
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


def check_exist(paths: Sequence[str]) -> Sequence[str]:
    """Return the paths if all exist now, for work that reads them later, when nobody is watching.

    Raises:
        UsageError: a file, a folder or a glob matches nothing.
    """
    _, missing = places.files_of(path for path in places.sort_places(paths).paths if not path.startswith("@"))
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
