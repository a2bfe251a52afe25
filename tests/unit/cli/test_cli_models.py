"""`--model`: which model plays which role."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from assay.cli.run_options import run_options


def chosen(*values: str) -> dict[str, tuple[str, ...]]:
    """What a command is given for these options."""
    found: dict[str, tuple[str, ...]] = {}

    @click.command()
    @run_options("table")
    def command(models: dict[str, tuple[str, ...]], **_others: object) -> None:
        found.update(models)

    result = CliRunner().invoke(command, [part for value in values for part in ("--model", value)])
    if result.exit_code:
        raise click.UsageError(result.output)
    return found


def test_without_it_the_settings_decide() -> None:
    assert chosen() == {}


def test_a_model_plays_every_role_none_is_named_for() -> None:
    assert chosen("openai:gpt-5", "complex=ollama:qwen3", "openai:gpt-5-mini") == {
        "simple": ("openai:gpt-5", "openai:gpt-5-mini"),
        "analytical": ("openai:gpt-5", "openai:gpt-5-mini"),
        "complex": ("ollama:qwen3",),
    }  # the judge goes by the others: `core.ports.models`
    assert chosen("judge=extractive") == {"judge": ("extractive",)}


@pytest.mark.parametrize("value", ["writer=openai:gpt-5", "complex=", "="])
def test_what_is_no_choice_is_said(value: str) -> None:
    with pytest.raises(click.UsageError, match="PROVIDER:NAME"):
        chosen(value)
