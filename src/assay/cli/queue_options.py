"""Options of runs which are left to workers, and of whose they are."""

from __future__ import annotations

from collections.abc import Sequence

import click

from assay.cli.options import Command


def _labels(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for value in values:
        name, given, text = value.partition("=")
        if not given or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE")
        labels[name.strip()] = text.strip()
    return labels


def queueing(command: Command) -> Command:
    """`--queue` and `--priority`, and whose run it is."""
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
    return queue(priority(owned(command)))


def owned(command: Command) -> Command:
    """`--user` and `--label`, which go to `Assay.start` as they are."""
    user = click.option(
        "--user", metavar="NAME", help="Owner of the run, for limits, logs and lists; models never see it."
    )
    label = click.option(
        "--label",
        "labels",
        multiple=True,
        callback=_labels,
        metavar="NAME=VALUE",
        help="Label stored with the run; repeatable.",
    )
    return user(label(command))
