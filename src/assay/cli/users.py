"""Users of the server: adds, lists, changes and removes them; their tokens, and their entries in the audit log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from assay.cli import options
from assay.cli.figures import format_day
from assay.cli.library import open_assay
from assay.cli.terminal import confirm, first_word, print_list, say, write, write_json
from assay.core.milestones import pluralize
from assay.core.ports.users import AuditEntry, AuditFilter, Credential, Permission, UserRole, UserRow

if TYPE_CHECKING:
    from assay.services.ownership import Handover

# Passwords: typed without echo, or read from stdin, and never taken from the command line.

role_option = click.option(
    "--role",
    type=click.Choice(get_args(UserRole)),
    help="Role: a reader sees their own runs, a member starts runs, an admin manages users.",
)


def ask_password(name: str) -> str:
    """Ask for the new password of a user.

    Raises:
        click.UsageError: none was given.
    """
    if sys.stdin.isatty():
        first_word.erase()
        password = click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise click.UsageError("no password was given: type it, or pass it on stdin")
    return str(password)


@click.command("adopt")
@click.argument("name")
@click.option(
    "--from", "source", default="", metavar="USER", help="Take everything from this user instead of the local user."
)
@click.option("--dry-run", is_flag=True, help="Show what would be handed over, without doing it.")
@options.yes_option
@options.json_output
@options.common_options
@options.run_async
async def adopt(name: str, source: str, dry_run: bool, yes: bool, as_json: bool, home: Path | None) -> None:
    """Give user NAME everything that was created on this machine without a login, or everything of another user.

    This covers runs, conversations, collections, documents, uploads, links, webhooks and schedules. Each has one
    owner, so commands on this machine no longer list what was handed over. Stop `assay serve` first. If the command
    is interrupted, run it again.

    \b
        assay users adopt ana --dry-run
        assay users adopt ana
        assay users adopt ana --from bob
    """
    async with open_assay(home) as assay:
        await assay.users.find(name)
        if source:
            await assay.users.find(source)
        handover = await assay.belongings(source, name)
        if not dry_run:
            clashes = [f"in the way: both have {clash}" for clash in handover.belongings.clashes]
            owner = source or "the local user"
            confirm(f"Hand everything of {owner} over to {name}?", [describe_handover(handover), *clashes], yes=yes)
            handover = await assay.adopt(source, name)
            await assay.note("adopt", f"{source}/{name}" if source else name)
    if as_json:
        write_json(handover)
        return
    say(f"{name} {'would get' if dry_run else 'has got'} {describe_handover(handover)}")
    for clash in handover.belongings.clashes:
        say(f"in the way: both have {clash}")


def describe_handover(handover: Handover) -> str:
    """Everything that is handed over, in words."""
    belongings = handover.belongings
    numbers = (
        (belongings.runs, "run"),
        (belongings.threads, "conversation"),
        (belongings.collections, "collection"),
        (belongings.documents, "document"),
        (belongings.links, "link"),
        (belongings.webhooks, "webhook"),
        (handover.schedules, "schedule"),
    )
    return ", ".join(pluralize(number, word) for number, word in numbers if number) or "nothing"


@click.command("add")
@click.argument("name")
@role_option
@click.option("--no-password", is_flag=True, help="Set no password: the user logs in through the OpenID provider only.")
@click.option(
    "--adopt", is_flag=True, help="Give the user everything that was created without a login (assay users adopt)."
)
@options.common_options
@options.run_async
async def add_user(name: str, role: UserRole | None, no_password: bool, adopt: bool, home: Path | None) -> None:
    """Add the user NAME. Type the password at the prompt, which does not show it, or pass it on stdin.

    The first user is an admin, later ones are members unless --role says otherwise. A server that was started without
    users requires a login after its next start.

    \b
        assay users add ana --adopt
        assay users add bob --role reader < password
    """
    async with open_assay(home) as assay:
        users = await assay.users.all()
        password = None if no_password else ask_password(name)
        user = await assay.users.add(name, password, role or ("member" if users else "admin"))
        await assay.note("add_user", user.name)
        say(f"{user.name} can log in now ({user.role}); restart a server that is running without login")
        if adopt:
            handover = await assay.adopt("", user.name)
            await assay.note("adopt", user.name)
    if adopt:
        say(f"{user.name} has got {describe_handover(handover)}")
    elif not users:
        say("runs and documents from before stay with the commands of this machine: the page begins empty")
        say(f"to hand them over: assay users adopt {user.name}")


@click.command("list")
@options.json_output
@options.common_options
def list_users(as_json: bool, home: Path | None) -> None:
    """List users and their tokens. Passwords and secrets are not stored and cannot be shown.

    \b
        assay users list
        assay users list --json
    """
    users_with_tokens = asyncio.run(_users_and_tokens(home))
    rows = [
        (
            user.name,
            user.role,
            format_day(user.created),
            ", ".join(f"{token.id} {token.name}".strip() for token in tokens),
        )
        for user, tokens in users_with_tokens
    ]
    lines = [_user_line(*user_and_tokens) for user_and_tokens in users_with_tokens]
    if not lines:
        say("there are no users yet: assay users add NAME adds the first, an admin")
    print_list(lines, ("name", "role", "since", "tokens"), rows, as_json=as_json)


async def _users_and_tokens(home: Path | None) -> list[tuple[UserRow, list[Credential]]]:
    async with open_assay(home) as assay:
        return [(user, await assay.users.tokens(user.name)) for user in await assay.users.all()]


def _user_line(user: UserRow, tokens: list[Credential]) -> dict[str, Any]:
    token_rows = [
        {
            "id": credential.id,
            "name": credential.name,
            "scopes": credential.scopes,
            "used": format_day(credential.used),
            "expires": format_day(credential.expires),
        }
        for credential in tokens
    ]
    return {"name": user.name, "role": user.role, "since": format_day(user.created), "tokens": token_rows}


@click.command("passwd")
@click.argument("name")
@role_option
@options.common_options
@options.run_async
async def change_password(name: str, role: UserRole | None, home: Path | None) -> None:
    """Change the password of user NAME, typed at the prompt or passed on stdin; with --role, change the role instead.

    A new password ends the user's sessions and unlocks the account.

    \b
        assay users passwd ana
        assay users passwd ana --role reader
    """
    async with open_assay(home) as assay:
        await assay.users.find(name)
        if role is not None:
            await assay.users.set_role(name, role)
            await assay.note("change_user", name)
            say(f"{name} is {role} now")
            return
        await assay.users.set_password(name, ask_password(name))
        await assay.note("change_user", name)
        say(f"the password of {name} is changed; their sessions have ended")


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.option("--data", is_flag=True, help="Delete their runs, links, schedules, collections and uploads too.")
@options.yes_option
@options.common_options
def remove_user(names: Sequence[str], data: bool, yes: bool, home: Path | None) -> None:
    """Remove users. Their sessions and tokens stop working at once.

    Their runs and documents stay, for a user of the same name, unless you give --data.

    \b
        assay users rm ana
        assay users rm ana ben --data
    """
    if data:
        confirm(f"Delete all data of {pluralize(len(names), 'user')}?", names, yes=yes)
    asyncio.run(_remove(names, data, home))
    say(f"{pluralize(len(names), 'user')} removed")


async def _remove(names: Sequence[str], data: bool, home: Path | None) -> None:
    async with open_assay(home) as assay:
        for name in names:
            if data:
                await assay.users.revoke_access(name)
                erased = await assay.owned_by(name).erase()
                say(
                    f"of {name} were deleted: {pluralize(erased.runs, 'run')}, "
                    f"{pluralize(erased.collections, 'collection')}, {pluralize(erased.schedules, 'schedule')}"
                )
                if not erased.swept:
                    say("texts that nobody refers to any more go with the next clean-up: assay runs prune")
            await assay.users.remove(name)
            await assay.note("remove_user", name)


@click.command("token")
@click.argument("user")
@click.option("--name", default="", help="Name of the token: what it is for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(get_args(Permission)),
    help="Permission; repeatable [read and write].",
)
@click.option("--days", type=float, help="Days until the token expires; default: never.")
@click.option("--revoke", metavar="ID", help="Revoke the token with this id instead (assay users list shows ids).")
@options.common_options
@options.run_async
async def token(
    user: str, name: str, scopes: Sequence[Permission], days: float | None, revoke: str | None, home: Path | None
) -> None:
    """Create a token with which a program acts as USER. It is printed once and cannot be shown again.

    \b
        assay users token ana --name nightly --days 90
        curl -H "Authorization: Bearer assay_…" http://127.0.0.1:8484/api/v1/runs
        assay users token ana --name notebook
    """
    if revoke is not None:
        await _revoke_token(user, revoke, home)
        return
    async with open_assay(home) as assay:
        role_allows: tuple[Permission, ...] = ("read",) if (await assay.users.find(user)).role == "reader" else ()
        granted = tuple(scopes) or role_allows or ("read", "write")
        credential, secret = await assay.users.new_token(user, name, granted, days)
        await assay.note("make_token", f"{user}/{credential.id}")
    write(secret)
    allowed_scopes = ", ".join(credential.scopes)
    say(
        f"token {credential.id} of {user} (scopes: {allowed_scopes}); to revoke it: assay users token {user} "
        f"--revoke {credential.id}"
    )


async def _revoke_token(user: str, id: str, home: Path | None) -> None:
    async with open_assay(home) as assay:
        await assay.users.revoke(user, id)
        await assay.note("revoke_token", f"{user}/{id}")
    say(f"token {id} of {user} is worthless now")


COLUMNS = ("at", "actor", "action", "subject", "via", "address", "status")


@click.command("audit")
@click.option("--user", "actor", default="", help="Show only what this user did.")
@click.option("--action", default="", help="Show only this operation of the API: log_in, delete_run, make_token …")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=50,
    show_default=True,
    help="Number of entries to show, newest first.",
)
@options.json_output
@options.common_options
def show_audit(actor: str, action: str, limit: int, as_json: bool, home: Path | None) -> None:
    """Show who did what and when: logins (failed ones too), users, tokens, runs started and deleted.

    A status of 400 or more means the request was refused. Commands on this machine have the status 0.

    \b
        assay users audit
        assay users audit --json
    """
    lines = [
        _entry_line(entry) for entry in asyncio.run(_entries(AuditFilter(actor=actor, action=action), limit, home))
    ]
    if not lines:
        say("no entry matches" if actor or action else "there are no entries yet")
    print_list(lines, COLUMNS, [[str(entry[name]) for name in COLUMNS] for entry in lines], as_json=as_json)


async def _entries(audit_filter: AuditFilter, limit: int, home: Path | None) -> list[AuditEntry]:
    async with open_assay(home) as assay:
        return [] if assay.audit is None else await assay.audit.page(audit_filter, limit)


def _entry_line(entry: AuditEntry) -> dict[str, Any]:
    fields = msgspec.structs.asdict(entry) | {"at": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds")}
    return {name: fields[name] for name in COLUMNS}
