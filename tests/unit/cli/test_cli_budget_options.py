"""The options which limit a run: what they read, and that every command which researches has them."""

from __future__ import annotations

from typing import get_args

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.main import cli
from assay.cli.options import Money
from assay.cli.run_options import parameter_order
from assay.core.options import OptionGroup


@given(st.decimals(min_value="0.01", max_value=9999, places=2))
def test_money_is_read_as_it_is_written(amount: object) -> None:
    assert Money().convert(f"{amount}", None, None) == Money().convert(f" ${amount} ", None, None) == float(str(amount))


@pytest.mark.parametrize("text", ["", "0", "$0.00", "-1", "1e3", "€5", "1,000", "٣", "5 usd"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"US dollars like 0\.50"):
        Money().convert(text, None, None)


@pytest.mark.parametrize("command", ["research", "agent"])
def test_commands_which_research_can_be_limited(command: str) -> None:
    text = CliRunner().invoke(cli, [command, "--help"]).output
    for name in ("time", "usd", "tokens", "searches", "pages", "agents"):
        assert f"--max-{name}" in text


@pytest.mark.parametrize("command", ["research", "batch", "plan", "chat"])
def test_options_of_research_are_shown_in_groups(command: str) -> None:
    text = CliRunner().invoke(cli, [command, "--help"]).output
    sections = [line.removesuffix(":") for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections == [title for title in (*get_args(OptionGroup), "Options") if title in sections]
    assert {"Sources", "Web", "Model", "Budget", "Options"} <= set(sections)
    named = {each.name for each in cli.get_command(click.Context(cli), command).params}  # type: ignore[union-attr]
    assert text.count("--home") == 1
    assert named - parameter_order().keys() <= {
        "words", "question", "file", "home", "verbose", "quiet",
    }  # fmt: skip
