"""Users of a server: what they prove by that it is them, what they may do and share, and what is noted of it."""

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
"""What each role may do: read what is his, change it and begin runs, look after users, see the server's numbers."""


class UserRow(msgspec.Struct, frozen=True, kw_only=True):
    """A user. `password` is a hash (argon2id) which says how it was made; times are seconds since 1970.

    Nobody can log in as him until `locked_until`; `failures` counts wrong passwords since the last right one.
    `subject` names his account at an OpenID provider (its issuer, a space, its `sub`); who logs in only there has an
    empty `password`, which none fits.
    """

    name: str
    role: UserRole
    password: str
    created: float
    failures: int = 0
    locked_until: float = 0.0
    subject: str = ""


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser (session) or a program (token) shows in a password's place; of it only the SHA-256 is kept.

    A `login` is one at a provider which came to its end: it cannot come there again.

    `owner` is the user's name, `id` names it for him; `scopes` are what it may do of what the user may. It is good
    until `expires`, 0 for ever; `used` is when it was seen last, 0 for never. A session which was begun at a provider
    has its `issuer` and `id_token`, which tell it whose session ends.
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
        """Keep a new user; False where there is one of that name."""
        ...

    async def all(self) -> list[UserRow]:
        """Every user, by name."""
        ...

    async def find(self, name: str) -> UserRow | None:
        """The user of a name."""
        ...

    async def of_subject(self, subject: str) -> UserRow | None:
        """The user with this account at a provider."""
        ...

    async def change(self, name: str, *, password: str | None = None, role: UserRole | None = None) -> bool:
        """Change a user; with a new password he is locked no more. False where there is none."""
        ...

    async def link(self, name: str, subject: str) -> bool:
        """Note the account of a user who has none; False where he has one, or there is no such user."""
        ...

    async def remove(self, name: str) -> bool:
        """Forget a user and all his credentials; False where there is none."""
        ...

    async def fail(self, name: str, most: int, until: float) -> None:
        """Count a wrong password; with the `most`-th the user is locked until then, and counting begins again."""
        ...

    async def succeed(self, name: str) -> None:
        """Forget the wrong passwords."""
        ...

    async def keep(self, credential: Credential) -> bool:
        """Keep a new credential; False where there is one of that hash."""
        ...

    async def credential(self, hash: str) -> Credential | None:
        """The credential of this hash, whether it is good or not."""
        ...

    async def credentials(self, owner: str, kind: str) -> list[Credential]:
        """Those of a user, in the order of making."""
        ...

    async def see(self, hash: str, used: float, expires: float) -> None:
        """Note when a credential was used, and until when it is good now."""
        ...

    async def drop(self, owner: str, kind: str, id: str = "") -> int:
        """Forget one credential of a user, or without `id` all of the kind; how many these were."""
        ...

    async def drop_expired(self, now: float) -> None:
        """Forget what is not good any more."""
        ...


# What is said of single users' limits, in place of what the settings say of every user.

GivenLimits = Mapping[str, int | float | None]
"""Limits by name (`UserLimits`): None is no limit; one which is not there is as the settings say."""


class LimitStore(Protocol):
    """Limits of single users."""

    async def all(self) -> dict[str, GivenLimits]:
        """All that is said, by user."""
        ...

    async def give(self, user: str, given: GivenLimits) -> None:
        """Say what holds for a user, in place of what was said; nothing given: as the settings say."""
        ...


# Reports which whoever has a link may read.


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """A link to the report of a run; of its secret only the SHA-256 is kept.

    `id` names it for its owner. Times are seconds since 1970; it is good until `expires`, 0 until it is revoked.
    """

    id: str
    hash: str
    run_id: str
    owner: str
    created: float
    expires: float = 0.0


class ShareStore(Protocol):
    """Links to reports."""

    async def keep(self, share: ShareRow) -> None:
        """Keep a new link."""
        ...

    async def of_hash(self, hash: str) -> ShareRow | None:
        """The link of this hash, whether it is good or not."""
        ...

    async def of_run(self, owner: str, run_id: str) -> list[ShareRow]:
        """The links to a run of this owner, in the order of making."""
        ...

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        """Forget a link; how many these were."""
        ...

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        """Forget all links to runs which are no more."""
        ...

    async def drop_owner(self, owner: str) -> None:
        """Forget all links of a user."""
        ...


# Token buckets: how often somebody may do something, counted by all processes together.


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """So many in so many seconds: a bucket of `most` tokens, which fills evenly."""

    name: str
    most: int
    seconds: float

    @property
    def pause(self) -> float:
        """Seconds in which one token comes back."""
        return self.seconds / self.most


class BucketState(msgspec.Struct, frozen=True, kw_only=True):
    """How a bucket stands after a token was asked for: how many are left, and after how many seconds it is full.

    `wait` is after how many seconds one is there, 0 where one was taken.
    """

    rate: Rate
    left: int
    full: float
    wait: float = 0.0


class Buckets(Protocol):
    """Token buckets, by what they limit and whose they are."""

    async def take(self, owner: str, rate: Rate) -> BucketState:
        """Take a token, where one is there; two who take at once never get the same."""
        ...

    async def give_back(self, owner: str, rate: Rate) -> None:
        """What it was taken for was not done."""
        ...

    async def drop_full(self) -> int:
        """Forget the buckets which are full again; how many."""
        ...


def after(rate: Rate, due: float, now: float) -> BucketState:
    """How a bucket stands whose tokens are all back at `due` (the generic cell rate algorithm, ITU-T I.371).

    `due` above `now` + `rate.seconds` says that no token is there.
    """
    left = math.floor((now + rate.seconds - due) / rate.pause + 1e-9)
    return BucketState(rate=rate, left=max(left, 0), full=max(due - now, 0.0))


# The audit log of a server: who did what, and when.


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something which was done, or refused. It holds names and ids; never a secret, a question or another text.

    `action` is the operation's name in the API, `subject` what it was done to. `via` is what the actor was known by:
    `session`, `token`, `login`, `none` (a server without users), `command` (on the machine itself). `status` is that
    of the HTTP answer, 0 for a command. `number` orders entries; `at` is in seconds since 1970.
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
    """Which entries; empty says nothing. Times are in seconds since 1970, `until` is exclusive."""

    actor: str = ""
    action: str = ""
    since: float = 0.0
    until: float = 0.0


class AuditLog(Protocol):
    """What was done, for a while."""

    async def add(self, entry: AuditEntry) -> None:
        """Keep an entry; its number is given here, and its time."""
        ...

    async def page(self, wanted: AuditFilter, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest entries wanted, with numbers below `before`."""
        ...

    async def drop(self, seconds: float, most: int) -> int:
        """Forget entries which are older than so many seconds, and the oldest where there are more than `most`."""
        ...
