import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from assay.cli.group import LazyGroup
from assay.cli.main import COMMANDS, cli, main

HEAVY = (
    "sqlalchemy", "alembic", "tantivy", "pydantic", "msgspec", "rich", "trafilatura", "nupunkt",
    "asyncio",
)  # fmt: skip


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


def test_help_and_version_import_nothing_heavy():
    asked = [["--help"], ["--version"], ["docs", "--help"], ["runs"], ["config", "-h"]]
    done = python(f"import sys; from assay.cli import main; print(*map(main, {asked})); print('#', *sys.modules)")
    printed, _, modules = done.stdout.rpartition("#")
    assert printed.splitlines()[-1] == "0 0 0 2 0"  # `runs` alone is not a whole command
    loaded = modules.split()
    assert [name for name in HEAVY if name in loaded] == []
    assert "assay.app" not in loaded


def test_version():
    done = CliRunner().invoke(cli, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"assay {version('assay')}\n")


def every_command(group: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(group, LazyGroup):
        return [path]
    context = click.Context(group)
    commands = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [path, *(each for name, command in commands if command for each in every_command(command, (*path, name)))]


def test_every_command_has_help():
    commands = every_command(cli)
    assert {path[0] for path in commands if path} == set(COMMANDS)
    assert len(commands) > len(COMMANDS) + 10  # groups were entered
    for path in commands:
        done = CliRunner().invoke(cli, [*path, "--help"])
        assert done.exit_code == 0, path
        assert "Usage:" in done.stdout
        assert "\\b" not in done.stdout  # click's mark for "leave these lines as they are" was escaped away


def examples(text: str) -> list[list[str]]:
    """The command lines of a help, without what a shell does with them, and without `assay`."""
    lines = [line.strip() for line in text.splitlines() if re.match(r" +assay |.*\| assay ", line)]
    return [shlex.split(re.split(r" [<>|#;] ", line[line.index("assay ") :])[0])[1:] for line in lines]


def parsed(args: list[str]) -> None:
    """Raises click.UsageError where `args` name no command, or an option or more words than it takes."""
    command: click.Command = cli
    args = args if args[0] in cli.lazy else ["research", *args]
    while isinstance(command, LazyGroup):
        found = command.get_command(click.Context(command), args[0])
        assert found is not None, args
        command, args = found, args[1:]
    context = click.Context(command)
    _, left, _ = command.make_parser(context).parse_args(list(args))
    assert not left, args


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_two_examples_which_parse(name: str):
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    for path in every_command(command, (name,)):
        shown = CliRunner().invoke(cli, [*path, "--help"], terminal_width=200).stdout
        found = examples(shown)
        assert len(found) >= 2, shown
        for example in found:
            parsed(example)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rnus"], "no command 'rnus'; did you mean 'runs'? (to research the word: assay research rnus)"),
        (["tides"], "no command 'tides'; a question has several words (to research this one: assay research tides)"),
        (["tides", "--depth", "light"], "no command 'tides'; a question has several words"),
        (["doc", "list"], "'doc list' was not researched; did you mean 'assay docs list'?"),
        (["runs", "shwo"], "no command 'shwo'; did you mean 'show'?"),
        (["config", "frobnicate"], "no command 'frobnicate'; use one of: list, get, set, unset, edit, path"),
        (["--home", "x", "runs", "list"], "options go after the command: assay runs … --home …"),
        (["-q", "doctor"], "options go after the command: assay doctor … -q …"),
        (["What is it?", "docs/"], "put the question in quotes, and paths after --in"),
        (["What is it?", "--json", "--events"], "--json and --events exclude each other"),
        (["What is it?", "--max-time", "soon"], "'soon' is not a time like 90s, 5m or 1h"),
        (["What is it?", "-o", "report.pptx"], "report.pptx must end in .bib, .csl.json, .docx"),
        (["What is it?", "-o", "no/such/folder/report.md"], "the folder no/such/folder does not exist"),
        (["docs", "search"], "give a query, or --batch FILE.jsonl"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(args: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert main(args) == 2
    captured = capsys.readouterr()
    assert message in " ".join(captured.err.split())
    assert captured.out == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["help"], ["--help"]),
        (["help", "docs", "add"], ["docs", "add", "--help"]),
        (["version"], ["--version"]),
        (["history", "--help"], ["runs", "list", "--help"]),
        (["ls", "--help"], ["runs", "list", "--help"]),
        (["show", "last", "--help"], ["runs", "show", "--help"]),
        (["delete", "--help"], ["runs", "rm", "--help"]),
        (["open", "--help"], ["runs", "open", "--help"]),
        (["docs", "ls", "--help"], ["docs", "list", "--help"]),
        (["docs", "delete", "--help"], ["docs", "rm", "--help"]),
        (["users", "create", "--help"], ["users", "add", "--help"]),
    ],
)
def test_what_people_type_out_of_habit_is_the_command_they_mean(typed: list[str], meant: list[str]):
    done, wanted = CliRunner().invoke(cli, typed), CliRunner().invoke(cli, meant)
    assert (done.exit_code, done.stdout) == (0, wanted.stdout)


@pytest.mark.parametrize(
    "typed",
    [["光合作用是什么"], ["show me the tides of Brest"], ["help", "me", "x"], ["Why?"], ["tides", "--in", "notes"]],
)
def test_questions_are_no_commands(typed: list[str]):
    assert (
        CliRunner()
        .invoke(cli, [*typed, "--max-time", "soon"])
        .stderr.endswith("'soon' is not a time like 90s, 5m or 1h\n")
    )


def test_a_bug_is_one_line_and_a_traceback_only_for_who_asks():
    code = "import sys; from assay.cli import main as m; from assay.cli.terminal import TerminalOptions; {}; raise ValueError('x')"  # noqa: E501
    short = python(code.format("m.__globals__; from assay.cli import main; main(['--version'])"))
    assert short.returncode == 1
    assert short.stderr == "assay: internal error: ValueError: x (-vv shows where)\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to write to")
def test_a_full_disk_is_said_with_the_way_out():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "assay", "config", "path"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 1
    assert done.stderr.startswith("assay: stdout cannot be written: No space left on device")
    assert len(done.stderr.splitlines()) == 1
    assert "Exception" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
def test_a_reader_that_goes_away_is_no_crash():
    done = subprocess.run(
        f"{sys.executable} -m assay config list --json | {sys.executable} -c 'pass'; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stderr == ""
    assert done.stdout in ("0\n", "141\n")  # 0: everything was in the pipe before its reader left


@pytest.mark.parametrize(
    ("typed", "near"), [("hlep", "help"), ("vresion", "version"), ("reserach", "research"), ("hsitory", "history")]
)
def test_a_word_which_is_nearly_a_command_is_asked_back(typed: str, near: str, capsys: pytest.CaptureFixture[str]):
    assert main([typed]) == 2
    assert f"did you mean '{near}'?" in capsys.readouterr().err
