"""Users of a server, and what they prove by that it is them."""

from __future__ import annotations

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
    until `expires`, 0 for ever; `used` is when it was seen last, 0 for never.
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
