"""Passwords: typed unseen, or read from stdin, and never taken from the command line."""

from __future__ import annotations

import sys
from typing import get_args

import click

from assay.cli.terminal import first_word
from assay.core.ports.users import UserRole

role = click.option(
    "--role",
    type=click.Choice(get_args(UserRole)),
    help="Role: a reader sees their own runs, a member starts runs, an admin manages users.",
)


def password(name: str) -> str:
    """The new password of a user.

    Raises:
        click.UsageError: none was given.
    """
    if sys.stdin.isatty():
        first_word.erase()
        given = click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    else:
        given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise click.UsageError("no password was given: type it, or pass it on stdin")
    return str(given)
