"""The options of research in the groups in which its help shows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import get_args

import click

from assay.core.options import Group, declared
from assay.core.run_options import RunOptions

BESIDE: Mapping[Group, Mapping[int, tuple[str, ...]]] = {
    "Sources": {0: ("paths", "add", "exclude")},
    "Model": {90: ("embedder",)},
    "Report": {
        0: ("outputs", "folder", "suffix", "in_browser", "to_clipboard", "as_json", "as_events", "plain", "citations"),
        70: ("strict",),
    },
    "Run": {0: ("point", "plan"), 45: ("yes", "at_once", "detach", "queue", "priority", "notify")},
}
"""The parameters which are no options of a run: the group and the place there of each."""
OTHERS = "Options"
"""The last group: what is in no other."""


def write(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of `command` by group, in their order there."""
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*get_args(Group), OTHERS)}
    for parameter in sorted(command.get_params(ctx), key=lambda each: _standing(each)[1]):
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            rows[_standing(parameter)[0]].append(record)
    for title, records in rows.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _standing(parameter: click.Parameter) -> tuple[str, tuple[int, int]]:
    """The group of a parameter, and where it stands in it."""
    return order().get(parameter.name or "", (OTHERS, (0, 0)))


@cache
def order() -> Mapping[str, tuple[str, tuple[int, int]]]:
    """The group of every parameter which has one, and where it stands in it."""
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
