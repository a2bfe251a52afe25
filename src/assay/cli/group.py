"""A group whose commands are imported when they run; the table has all that `--help` needs."""

from __future__ import annotations

import importlib
import itertools
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from assay.cli.terminal import first_word
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import difflib
    import shlex
else:
    difflib = lazy_module("difflib")
    shlex = lazy_module("shlex")

_BEFORE = frozenset({"--home", "-v", "-vv", "--verbose", "-q", "--quiet"})
"""Options that every command has, so that people may put them before it."""
_QUIET = frozenset({"-q", "--quiet", "-h", "--help"})
"""Options with which nothing may be printed before the command's own output."""
_BARE = regex(r"[\w.-]+", re.ASCII)
"""A word of letters as in commands' names. Chinese and similar languages write whole questions without spaces."""
_ALIASES = {
    "ls": "list",
    "delete": "rm",
    "remove": "rm",
    "del": "rm",
    "view": "show",
    "info": "show",
    "create": "add",
    "new": "add",
}
"""Words people type out of habit, and the command they mean, in any group."""
_HABITS = {
    "ls": ["runs", "list"],
    "list": ["runs", "list"],
    "history": ["runs", "list"],
    "show": ["runs", "show"],
    "open": ["runs", "open"],
    "rm": ["runs", "rm"],
    "delete": ["runs", "rm"],
    "resume": ["runs", "resume"],
    "cancel": ["runs", "cancel"],
    "export": ["runs", "export"],
    "add": ["docs", "add"],
    "server": ["serve"],
    "version": ["--version"],
}
"""The same for the first word only, where the command is one about runs."""


def _names_documents(args: Iterable[str]) -> bool:
    return any(arg == "--in" or arg.startswith("--in=") for arg in args)


class LazyGroup(click.Group):
    """A group of commands that are imported on demand.

    `lazy` maps a command's name to its place (`module:name`, or a module with `command`) and its line in the help.
    """

    habits: tuple[str, ...] = ()
    """Words that are understood besides the commands, and that an unknown command may mean."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = self.resolve_alias(cmd_name)
        if cmd_name not in self.lazy:
            return None
        module, _, name = self.lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands from the table, without importing any, and the options."""
        commands = [CompletionItem(name, help=line) for name, (_, line) in self.lazy.items()]
        return [item for item in commands if item.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begins with.

        Raises:
            click.UsageError: there is none; the message names the nearest, or all.
        """
        if not ctx.resilient_parsing and not _QUIET.intersection(args):
            first_word.show()
        command = self.get_command(ctx, args[0])
        if command is None and ctx.resilient_parsing:
            return None, None, args[1:]
        if command is None:
            raise click.UsageError(f"no command {args[0]!r}; {self.nearest_hint(args[0], or_all=True)}", ctx)
        return self.resolve_alias(args[0]), command, args[1:]

    def resolve_alias(self, name: str) -> str:
        """The command that `name` means; the name itself if it is not known."""
        command = _ALIASES.get(name, name)
        return command if name not in self.lazy and command in self.lazy else name

    def nearest_hint(self, name: str, *, or_all: bool = False) -> str:
        """A hint for an unknown `name`: the nearest command, or (with `or_all`) all of them, or nothing."""
        names = self.lazy if name in self.habits else (*self.lazy, *self.habits)  # `help me …` is a question
        matches = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.7)
        if matches:
            return f"did you mean {matches[0]!r}?"
        return f"use one of: {', '.join(self.lazy)}" if or_all else ""


class QuestionGroup(LazyGroup):
    """A group whose first word may be a question: if it names no command, the words go to `default`."""

    habits = ("help", *_HABITS)

    def __init__(self, *args: Any, default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = self._habitual_command(args)
        if args and args[0] not in self.lazy and args[0] not in ("--help", "-h", "--version"):
            self._reject_no_question(ctx, args)
            self._reject_bare_word(ctx, args)
            self._reject_options_first(ctx, args)
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the options of the default command too, because its name may be left out."""
        items = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, self.default) if incomplete.startswith("-") else None
        return items + (default.shell_complete(ctx, incomplete) if default else [])

    def _reject_options_first(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse `assay --home DIR runs list`: it means a command, but would be read as a question of two words."""
        index = 0
        while index < len(args) and args[index] in _BEFORE:
            index += 2 if args[index] == "--home" else 1
        if 0 < index < len(args) and args[index] in self.lazy and not ctx.resilient_parsing:
            raise click.UsageError(f"options go after the command: assay {args[index]} … {args[0]} …", ctx)

    def _habitual_command(self, args: list[str]) -> list[str]:
        """The command that a habitual first word means: `ls`, `show ID`, `help docs add`."""
        if not args or args[0] in self.lazy:
            return args
        word, remaining = args[0], args[1:]
        if word == "help" and all(argument in self.lazy or index > 0 for index, argument in enumerate(remaining)):
            return [*remaining, "--help"]
        names = [argument for argument in remaining if not argument.startswith("-")]
        if word not in _HABITS or any(" " in name for name in names):
            return args
        return [*_HABITS[word], *remaining]

    def _reject_no_question(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a command in words, a path or an address as a question, unless documents are named."""
        words = " ".join(itertools.takewhile(lambda arg: not arg.startswith("-"), args)).strip()
        if ctx.resilient_parsing or not words or _names_documents(args):
            return
        habits = {word: " ".join(command_words) for word, command_words in _HABITS.items()} | {"help": "--help"}
        if suggestion := suggest_command_line(words, self.lazy, habits, self._subcommands):
            raise click.UsageError(f"{words!r} was not researched; {suggestion}", ctx)

    def _subcommands(self, name: str) -> Mapping[str, str]:
        command = self.get_command(click.Context(self), name)
        if not isinstance(command, LazyGroup):
            return {}
        aliases = {alias: name for alias, name in _ALIASES.items() if name in command.lazy}
        return aliases | {name: name for name in command.lazy}

    def _reject_bare_word(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a lone word, which is a slip or a trial, as a question, unless documents are named."""
        word = args[0]
        if ctx.resilient_parsing or word.startswith("-") or _names_documents(args) or not _BARE.fullmatch(word):
            return
        if hint := self.nearest_hint(word):
            raise click.UsageError(
                f"no command {word!r}; {hint} (to research the word: assay {self.default} {word})", ctx
            )
        if len(args) == 1 or args[1].startswith("-"):
            suggestion = f"to research this one: assay {self.default} {word}"
            raise click.UsageError(f"no command {word!r}; a question has several words ({suggestion})", ctx)


MAX_OPTIONS = 15
"""A command with more options than this names none of them in an error; `--help` has them in groups."""
MIN_OPTION_SIMILARITY = 0.6
"""The similarity from which an option is a misspelling of another, without the dashes that all begin with."""


def option_error(error: click.NoSuchOption) -> click.UsageError:
    """The error with the option that was meant, or with all that the command has; where they are many, as it is."""
    if error.ctx is None:
        return error
    options = [option for option in error.ctx.command.get_params(error.ctx) if isinstance(option, click.Option)]
    plain_names = {name.lstrip("-"): name for option in options for name in option.opts + option.secondary_opts}
    matches = difflib.get_close_matches(error.option_name.lstrip("-"), plain_names, n=1, cutoff=MIN_OPTION_SIMILARITY)
    if matches:
        hint = f"Did you mean {plain_names[matches[0]]!r}?"
    elif len(options) <= MAX_OPTIONS:
        hint = f"Use one of: {', '.join(_option_usage(option, error.ctx) for option in options if not option.hidden)}."
    else:
        return click.UsageError(error.message, error.ctx)
    return click.UsageError(f"{error.message} {hint}", error.ctx)


def _option_usage(option: click.Option, ctx: click.Context) -> str:
    """An option as it is typed: `--collection NAME (-c)`."""
    *short, long = sorted((*option.opts, *option.secondary_opts), key=len)
    number = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    metavar = option.metavar or ("N" if number else option.make_metavar(ctx))
    value = "" if option.is_flag or option.count else f" {metavar}"
    return f"{long}{value}{f' ({short[0]})' if short and len(short[0]) == 2 else ''}"


# What people type in place of a question that is not one: a command in words, a file, an address.

MAX_COMMAND_WORDS = 5
"""With more words than this, the text is a question."""


MIN_WORD_SIMILARITY = 0.75
"""The similarity from which one word is a misspelling of another (difflib's ratio)."""


_FILLERS = frozenset("a all and in me my now our please pls some the these this us your".split())
"""Words that people put around a command's name out of politeness or grammar. No question words are among them."""


_NOUNS = {
    "collection": "docs",
    "collections": "docs",
    "conversation": "threads",
    "conversations": "threads",
    "document": "docs",
    "documents": "docs",
    "key": "keys",
    "model": "models",
    "report": "runs",
    "reports": "runs",
    "run": "runs",
    "settings": "config",
    "user": "users",
}
"""Words for the subjects of the groups of commands."""


_ADDRESS = regex(r"https?://\S+", re.IGNORECASE)


_PATH = regex(r"[\w.~/\\-]*(?:[/\\]|\.(?:csv|docx|epub|html?|json|md|pdf|rst|txt|xlsx|zip))", re.IGNORECASE)


SubcommandLookup = Callable[[str], Mapping[str, str]]
"""Returns the words for a group's commands with the name of each; empty for a command that is not a group."""


def suggest_command_line(
    words: str, names: Collection[str], habits: Mapping[str, str], subcommands_of: SubcommandLookup
) -> str:
    """The command that was meant, as the end of a message; nothing if `words` may be a question.

    Args:
        names: the commands.
        habits: other first words that are understood, with the command line each stands for.
        subcommands_of: returns the commands in a group.
    """
    if _ADDRESS.fullmatch(words):
        return (
            "an address alone is no question; "
            f'to ask about the page: assay "QUESTION" --in {words}; to read it: assay fetch {words}'
        )
    if _is_path(words):
        path = shlex.quote(words)
        return f'a path alone is no question; to ask about it: assay "QUESTION" --in {path}'
    if not any(char.isalnum() for char in words):
        return 'a question has words; for example: assay "How does it work?" --in docs/'
    command_line = _command(words, names, habits, subcommands_of)
    return (
        f"did you mean '{command_line}'? (to research the words: assay research {shlex.quote(words)})"
        if command_line
        else ""
    )


def _is_path(words: str) -> bool:
    if _PATH.fullmatch(words):
        return True
    return os.path.isfile(words)  # pathlib would make every --help slower


def _command(text: str, names: Collection[str], habits: Mapping[str, str], subcommands_of: SubcommandLookup) -> str:
    """The command line whose parts `text` names, and nothing else."""
    words = [word.strip("?!.,:;'\"") for word in text.lower().split()]
    words = [word for word in words if word and word not in _FILLERS]
    if not 0 < len(words) <= MAX_COMMAND_WORDS or len(words) == 1 == len(text.split()):
        return ""
    names_by_word = {word: _NOUNS.get(word) or _closest_match(word, names) for word in words}
    if not any(names_by_word.values()):
        habit_words = [_closest_match(word, habits) for word in words]
        return f"assay {habits[habit_words[0]]}" if all(habit_words) else ""
    candidates = [
        (not subcommands_of(name), word != name, index)
        for index, (word, name) in enumerate(names_by_word.items())
        if name
    ]
    # prefer a group to a command, and the exact word to a similar one
    group = list(names_by_word.values())[min(candidates)[-1]]
    parts = subcommands_of(group)
    verbs = [
        nearest
        for word, name in names_by_word.items()
        if name != group and (nearest := _closest_match(word, [*parts, *habits, *names]))
    ]
    if len(verbs) < sum(name != group for name in names_by_word.values()):
        return ""
    return " ".join(["assay", group, *[parts[verb] for verb in verbs if verb in parts][:1]])


def _closest_match(word: str, candidates: Collection[str]) -> str:
    matches = difflib.get_close_matches(word, candidates, n=1, cutoff=MIN_WORD_SIMILARITY)
    return matches[0] if matches else ""
