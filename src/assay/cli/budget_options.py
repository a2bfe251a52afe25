"""Options which limit what a run may take."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from assay.cli.options import Command, Count, Duration


class Money(click.ParamType[float]):
    """`0.50`, `2` or `$2`, as US dollars above 0."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"\$?([0-9]{1,9}(?:\.[0-9]{1,6})?)", value.strip())
        if not match or not float(match[1]):
            self.fail(f"{value!r} is not an amount of US dollars like 0.50 or 2", param, ctx)
        return float(match[1])


def _limit(name: str, kind: click.ParamType[Any], text: str) -> Callable[[Command], Command]:
    return click.option(name, type=kind, metavar=kind.name.upper(), help=text)


def calls(noun: str) -> Callable[[Command], Command]:
    """`--max-time`, `--max-usd`, `--max-tokens`: what of any kind of run, called `noun`, is limited."""
    time = _limit("--max-time", Duration(), f"Time limit for the {noun} (90s, 5m).")
    return lambda command: time(amounts(noun)(command))


def amounts(noun: str) -> Callable[[Command], Command]:
    """`--max-usd` and `--max-tokens`."""
    usd = _limit("--max-usd", Money(), f"Cost limit for the {noun} in US dollars (0.50).")
    tokens = _limit("--max-tokens", Count(), f"Token limit for the {noun} (200k).")
    return lambda command: usd(tokens(command))


def budget(command: Command) -> Command:
    """What `calls` has, `--max-searches`, `--max-pages`, `--max-agents`; they go to `Assay.start` as they are."""
    searches = _limit("--max-searches", Count(), "Searches the run may make.")
    pages = _limit("--max-pages", Count(), "Documents and pages it may open.")
    agents = _limit("--max-agents", Count(), "Research agents it may send.")
    return calls("run")(searches(pages(agents(command))))
