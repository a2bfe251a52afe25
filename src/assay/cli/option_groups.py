"""The options of research in the groups in which its help shows them."""

from __future__ import annotations

from collections.abc import Mapping

import click

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Sources": ("paths", "allow_private", "continues", "thread"),
    "Web": ("web", "domains", "not_domains", "since", "until", "country", "fresh"),
    "Model": ("models", "embedder"),
    "Budget": ("max_time", "max_usd", "max_tokens", "max_searches", "max_pages", "max_agents"),
    "Report": (
        "outputs", "folder", "suffix", "in_browser", "to_clipboard", "as_json", "as_events", "plain", "citations",
        "length", "language", "template", "instructions", "schema", "strict", "no_verify", "repair",
    ),
    "Run": (
        "mode", "depth", "strategy", "ask", "answers", "review_plan", "yes", "at_once", "detach", "queue",
        "queued", "priority",
        "notify", "user", "labels",
    ),
}  # fmt: skip
"""Titles, each with the names of its parameters; what is in none stands under "Options" at the end."""


def write(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options of `command` by group, in the order of `GROUPS`."""
    of = {name: title for title, names in GROUPS.items() for name in names}
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, "Options")}
    for parameter in sorted(command.get_params(ctx), key=_place):
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            rows[of.get(parameter.name or "", "Options")].append(record)
    for title, records in rows.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _place(parameter: click.Parameter) -> int:
    names = [name for group in GROUPS.values() for name in group]
    return names.index(parameter.name) if parameter.name in names else len(names)
