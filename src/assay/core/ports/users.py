"""Users of a server: their credentials, rights, limits and links, and the audit log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

UserRole = Literal["admin", "member", "reader"]
Permission = Literal["read", "write", "admin", "metrics"]
PERMISSIONS: dict[UserRole, tuple[Permission, ...]] = {
    "reader": ("read",),
    "member": ("read", "write"),
    "admin": ("read", "write", "admin", "metrics"),
}
"""The permissions of each role: read their own data, change it and begin runs, manage users, see server figures."""


class UserRow(msgspec.Struct, frozen=True, kw_only=True):
    """A user. `password` is an argon2id hash, which includes its parameters; times are seconds since 1970.

    The user cannot log in until `locked_until`; `failures` counts wrong passwords since the last right one. `subject`
    identifies an account at an OpenID provider (its issuer, a space, its `sub`). A user who logs in only there has an
    empty `password`, which matches nothing.
    """

    name: str
    role: UserRole
    password: str
    created: float
    failures: int = 0
    locked_until: float = 0.0
    subject: str = ""


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that a browser (session) or program (token) sends instead of a password. Only its SHA-256 is stored.

    A `login` is a completed login at a provider: it cannot be completed again.

    `owner` is the user's name, and `id` names the credential for them. `scopes` are the rights it has among those of
    the user. It is valid until `expires`, 0 for ever; `used` is when it was last used, 0 for never. A session begun at
    a provider has its `issuer` and `id_token`, which identify the session to the provider when it ends.
    """

    kind: Literal["session", "token", "login"]
    id: str
    hash: str
    owner: str
    name: str = ""
    scopes: tuple[Permission, ...] = ()
    created: float
    expires: float = 0.0
    used: float = 0.0
    issuer: str = ""
    id_token: str = ""


class UserStore(Protocol):
    """Users and their credentials."""

    async def add(self, user: UserRow) -> bool:
        """Store a new user; False if the name is taken."""

    async def all(self) -> list[UserRow]:
        """Every user, by name."""

    async def find(self, name: str) -> UserRow | None:
        """The user with this name."""

    async def find_by_subject(self, subject: str) -> UserRow | None:
        """The user with this account at a provider."""

    async def change(self, name: str, *, password: str | None = None, role: UserRole | None = None) -> bool:
        """Change a user; a new password also unlocks them. False if there is no such user."""

    async def link(self, name: str, subject: str) -> bool:
        """Store the account of a user who has none; False if they have one, or there is no such user."""

    async def remove(self, name: str) -> bool:
        """Delete a user with all credentials; False if there is none."""

    async def count_failure(self, name: str, max_failures: int, until: float) -> None:
        """Count a wrong password. The `max_failures`-th locks the user until then and resets the count."""

    async def reset_failures(self, name: str) -> None:
        """Reset the count of wrong passwords."""

    async def add_credential(self, credential: Credential) -> bool:
        """Store a new credential; False if there is one with that hash."""

    async def credential(self, hash: str) -> Credential | None:
        """The credential with this hash, valid or not."""

    async def credentials(self, owner: str, kind: str) -> list[Credential]:
        """The credentials of a user, in the order they were made."""

    async def record_use(self, hash: str, used: float, expires: float) -> None:
        """Store when a credential was used, and its new expiry."""

    async def drop_credentials(self, owner: str, kind: str, id: str = "") -> int:
        """Delete one credential of a user, or without `id` all of the kind, and return how many."""

    async def drop_expired(self, now: float) -> None:
        """Delete expired credentials."""


# Limits of single users, which replace those in the settings.

GivenLimits = Mapping[str, int | float | None]
"""Limits by name (`UserLimits`): None is no limit; a missing one is as in the settings."""


class LimitStore(Protocol):
    """Limits of single users."""

    async def all(self) -> dict[str, GivenLimits]:
        """All limits of single users, by user."""

    async def set_limits(self, user: str, limits: GivenLimits) -> None:
        """Set the limits of a user, replacing the earlier ones; empty: as in the settings."""


# Reports that anyone with a link may read.


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """A link to the report of a run. Only the SHA-256 of its secret is stored.

    `id` names it for its owner. Times are seconds since 1970; it is valid until `expires` (0: until it is revoked).
    """

    id: str
    hash: str
    run_id: str
    owner: str
    created: float
    expires: float = 0.0


class ShareStore(Protocol):
    """Links to reports."""

    async def add(self, share: ShareRow) -> None:
        """Store a new link."""

    async def find_by_hash(self, hash: str) -> ShareRow | None:
        """The link with this hash, valid or not."""

    async def list_for_run(self, owner: str, run_id: str) -> list[ShareRow]:
        """The links to a run of this owner, in the order they were made."""

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        """Delete a link and return how many were deleted."""

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        """Delete all links to deleted runs."""

    async def drop_owner(self, owner: str) -> None:
        """Delete all links of a user."""


# Token buckets limit how often somebody may do something, over all processes.


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A rate: a bucket of `most` tokens that fills evenly within `seconds`."""

    name: str
    most: int
    seconds: float

    @property
    def pause(self) -> float:
        """Seconds until one token comes back."""
        return self.seconds / self.most


class BucketState(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket after a request for a token: how many are left, and after how many seconds it is full.

    `wait` is the number of seconds until a token is available, 0 if one was taken.
    """

    rate: Rate
    left: int
    full: float
    wait: float = 0.0


class Buckets(Protocol):
    """Token buckets, by rate and owner."""

    async def take(self, owner: str, rate: Rate) -> BucketState:
        """Take a token if there is one; two callers at once never get the same."""

    async def give_back(self, owner: str, rate: Rate) -> None:
        """Return a token whose action was not done."""

    async def drop_full(self) -> int:
        """Delete the buckets that are full again and return how many."""


def bucket_state(rate: Rate, due: float, now: float) -> BucketState:
    """Return the state of a bucket whose tokens are all back at `due` (the generic cell rate algorithm, ITU-T I.371).

    `due` above `now` + `rate.seconds` means that no token is available.
    """
    available = math.floor((now + rate.seconds - due) / rate.pause + 1e-9)
    return BucketState(rate=rate, left=max(available, 0), full=max(due - now, 0.0))


# The audit log of a server: who did what, and when.


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An action that was done or refused. It holds names and ids, never a secret, a question or another text.

    `action` is the operation's name in the API, `subject` what it was applied to. `via` says how the actor was
    identified: `session`, `token`, `login`, `none` (a server without users), `command` (on the machine itself).
    `status` is that of the HTTP answer, 0 for a command. `number` orders entries; `at` is in seconds since 1970.
    """

    actor: str
    action: str
    subject: str = ""
    via: str = "none"
    address: str = ""
    status: int = 0
    at: float = 0.0
    number: int = 0


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries to list; empty fields do not restrict. Times are in seconds since 1970, `until` is exclusive."""

    actor: str = ""
    action: str = ""
    since: float = 0.0
    until: float = 0.0


class AuditLog(Protocol):
    """Actions of the past, kept for a limited time."""

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry; the log sets its number and time."""

    async def page(self, audit_filter: AuditFilter, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest entries that match, with numbers below `before`."""

    async def drop(self, seconds: float, max_entries: int) -> int:
        """Delete entries older than `seconds`, and the oldest if there are more than `max_entries`."""
