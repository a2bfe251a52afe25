"""The table of a run's options: what it names is there, its pages are current, and an option more is one record."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any, get_args

import click
import generate_reference
import msgspec
import pytest
from click.testing import CliRunner

from assay import settings
from assay.cli.main import cli
from assay.cli.run_options import _READERS, GroupedCommand, run_options
from assay.core.brief import Brief, Depth
from assay.core.errors import UnknownOption
from assay.core.options import Flag, Option, declared_options, nest_values
from assay.core.run_options import ForkOptions, RunOptions
from assay.server.api.run_requests import ForkWanted, RequestBody, RunWanted, add_options, options_of
from assay.services import arguments
from assay.services.batch.rows import row_shape

OPTIONS = declared_options(RunOptions)
WORDS = {"fork": ["runs", "fork"], "schedule": ["schedule", "add"], "answer": ["runs", "answer"], "judge": ["verify"]}
"""Where a command stands, by its name in the table, if that is not its own."""


class MoreOptions(RunOptions, total=False):
    """The options of a run, and one more."""

    tone: Annotated[
        str | None,
        Option(group="Report", api="report.tone"),
        Flag("--tone", "research ask", "Tone of {what}'s report.", "TONE"),
    ]


def test_the_reference_is_current() -> None:
    for path, page in generate_reference.pages().items():
        assert path.read_text(encoding="utf-8") == page, "python scripts/generate_reference.py"


@pytest.mark.parametrize("name", OPTIONS)
def test_what_an_option_names_is_there(name: str) -> None:
    each, loaded = OPTIONS[name], settings.load()
    if each.option.setting:
        attrgetter(each.option.setting)(loaded)
    for field in each.fields:
        attrgetter(field)(Brief(question="?", date="2026-01-01"))
    if each.option.api:
        attrgetter(each.option.api)(RunWanted(question="?"))
    for flag in each.flags:
        assert not flag.reads or flag.reads in _READERS
        assert "fork" not in flag.on.split() or name in ForkOptions.__annotations__


@pytest.mark.parametrize(
    "command", sorted({word for each in OPTIONS.values() for f in each.flags for word in f.on.split()})
)
def test_a_command_has_the_flags_which_the_table_gives_it(command: str) -> None:
    words = ["docs", "summary"] if command == "summary" else WORDS.get(command, [command])
    context, found = click.Context(cli), cli
    for word in words:
        assert isinstance(found, click.Group)
        inner = found.get_command(context, word)
        assert inner is not None
        found = inner  # type: ignore[assignment]
    params = {opt for param in found.params for opt in (*param.opts, *param.secondary_opts)}
    flags = [flag for each in OPTIONS.values() for flag in each.flags_on(command)]
    assert flags
    assert {part for flag in flags for part in flag.name.split("/")} <= params


def test_an_option_more_is_a_flag_of_its_commands_in_its_group() -> None:
    found: dict[str, Any] = {}

    @click.command(cls=GroupedCommand)
    @run_options("ask", MoreOptions)
    def command(**options: Any) -> None:
        found.update(options)

    assert CliRunner().invoke(command, ["--tone", "dry"]).exit_code == 0
    assert found["tone"] == "dry"
    assert found["verify"] is None
    assert "--tone TONE" in CliRunner().invoke(command, ["--help"]).output
    assert "Tone of the answer's report." in CliRunner().invoke(command, ["--help"]).output


def test_an_option_more_is_a_column_of_rows_and_a_field_of_bodies() -> None:
    @add_options("report", MoreOptions)
    class Looks(RequestBody, frozen=True, kw_only=True):
        """How a report looks."""

    row = msgspec.json.decode(b'{"question": "?", "tone": "dry"}', type=row_shape(MoreOptions))
    assert (attrgetter("tone")(row), attrgetter("depth")(row)) == ("dry", msgspec.UNSET)
    body = msgspec.json.decode(b'{"tone": "dry", "length": 300}', type=Looks)
    assert (attrgetter("tone")(body), attrgetter("length")(body)) == ("dry", 300)
    with pytest.raises(msgspec.ValidationError, match=r"Expected `str \| null`, got `int` - at `\$\.tone`"):
        msgspec.json.decode(b'{"tone": 5}', type=Looks)
    assert "tone" in msgspec.json.schema(Looks)["$defs"]["Looks"]["properties"]


def test_an_option_more_is_offered_for_what_nobody_knows() -> None:
    with pytest.raises(UnknownOption, match="no option of start named 'tonne'; did you mean 'tone'"):
        arguments.check_keywords("start", {"tonne": "dry"}, (), f"{__name__}:MoreOptions")
    with pytest.raises(UnknownOption, match="no option of start named 'tone'"):
        arguments.check_keywords("start", {"tone": "dry"}, (), "assay.core.run_options:RunOptions")


def test_a_body_becomes_the_options_of_the_library() -> None:
    body = {"question": "?", "depth": "light", "scope": {"sites_allow": ["gov.uk"]}, "budget": {"seconds": 60}}
    wanted = options_of(msgspec.convert(body, RunWanted))
    assert (wanted["depth"], wanted["domains"], wanted["max_time"]) == ("light", ("gov.uk",), 60)
    assert (wanted["ask"], wanted["verify"], wanted["models"]) == ("never", None, {})
    forked = options_of(msgspec.convert({"point": "plan", "length": "short", "review_plan": "required"}, ForkWanted))
    assert (forked["length"], forked["review_plan"]) == ("short", "required")
    assert forked.keys() - {"models"} == {name for name in ForkOptions.__annotations__ if OPTIONS[name].option.api}


def test_types_and_dotted_names() -> None:
    assert get_args(OPTIONS["depth"].data) == (Depth, type(None))
    assert get_args(OPTIONS["template"].data) == (str, type(None))
    assert nest_values({"a": 1, "b.c": 2, "b.d": 3}) == {"a": 1, "b": {"c": 2, "d": 3}}
