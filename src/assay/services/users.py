"""Users of a server: their passwords, sessions and tokens.

Passwords are hashed with argon2id (RFC 9106). Sessions and tokens are 256 random bits, of which only the SHA-256 is
stored, so the database reveals neither.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.core.errors import ConfigError, DiskFull, NotLoggedIn, UnknownName, UsageError
from assay.core.lazy import regex
from assay.core.ports.users import PERMISSIONS, Credential, Permission, ShareStore, UserRole, UserRow, UserStore
from assay.core.sources import sha256

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 1_000
"""Characters of a password."""
MAX_WRONG_TRIES, LOCKED_SECONDS = 5, 900.0
"""So many wrong passwords in a row lock a user for so many seconds."""
HASHED_AT_ONCE = 2
"""Passwords hashed at the same time: each takes 64 MiB."""
IDLE_SECONDS, SESSION_SECONDS = 7 * 86_400.0, 30 * 86_400.0
"""A session ends when it was not used for the first, and in any case after the second."""
LOGIN_SECONDS = 3_600.0
"""How long completed logins at a provider are remembered; pending ones are valid for less."""
NOTED_SECONDS = 60.0
"""The precision with which the last use of a credential is stored."""
PREFIX = "assay_"
TOKENS = 100
"""Tokens of one user."""
MAX_ID_TOKEN_CHARS = 6_000
"""Characters: it must fit into an address when it is sent back to the provider."""
MISSING = "passwords need the extra `server`: pip install 'assay[server]'"

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The caller, how they were identified, and their rights."""

    name: str
    role: UserRole
    permissions: frozenset[Permission]
    via: Literal["session", "token"]
    credential: str = ""

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A person who has logged in at a provider: the account there, and the user here.

    `role` is theirs from now on; None leaves that of a known user, and a new one gets `first`. `create` allows creating
    a user, `link` taking over a local one. `id_token` is what the provider issued for this login.
    """

    subject: str
    name: str
    role: UserRole | None = None
    first: UserRole = "member"
    create: bool = False
    link: bool = False
    id_token: str = ""


class Users:
    """The users of a home. Any process over it may change them; changes count at once."""

    def __init__(self, store: UserStore, shares: ShareStore | None) -> None:
        self._store, self._shares = store, shares
        self._hash_slots = asyncio.Semaphore(HASHED_AT_ONCE)

    # management

    async def all(self) -> list[UserRow]:
        """Every user, by name."""
        return await self._store.all()

    async def find(self, name: str) -> UserRow:
        """The user with this name.

        Raises:
            UnknownName: there is none.
        """
        user = await self._store.find(name)
        if user is None:
            raise UnknownName("user", name, (row.name for row in await self.all()))
        return user

    async def add(self, name: str, password: str | None, role: UserRole = "member") -> UserRow:
        """Add a user; without a password they can only log in at a provider.

        Raises:
            UsageError: the name is taken, or name or password is not valid.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not a valid user name: use up to 64 letters, digits and . _ @ -, no space")
        password_hash = "" if password is None else await self._hash(password)
        user = UserRow(name=name, role=role, password=password_hash, created=time.time())
        if not await self._store.add(user):
            raise UsageError(f"user {name!r} already exists; to change the password: assay users passwd {name}")
        return user

    async def set_password(self, name: str, password: str) -> None:
        """Set a user's password; this ends their sessions and unlocks them.

        Raises:
            UnknownName: there is no such user.
            UsageError: the password is not valid.
        """
        await self.change(name, password=password)

    async def set_role(self, name: str, role: UserRole) -> None:
        """Set a user's role; it counts at once.

        Raises:
            UnknownName: there is no such user.
            UsageError: they are the only administrator.
        """
        await self.change(name, role=role)

    async def change(self, name: str, *, role: UserRole | None = None, password: str | None = None) -> None:
        """Set role and password as `set_role` and `set_password`; neither, if one of them cannot be.

        Raises:
            UnknownName, UsageError: as these.
        """
        password_hash = None if password is None else await self._hash(password)
        if role not in (None, "admin"):
            await self._check_not_last(name)
        if (role is None and password_hash is None) or not await self._store.change(
            name, role=role, password=password_hash
        ):
            await self.find(name)
        if password_hash is not None:
            await self._store.drop_credentials(name, "session")

    async def remove(self, name: str) -> None:
        """Delete a user with sessions, tokens and links; runs and documents stay, for a user of that name.

        Raises:
            UnknownName: there is no such user.
            UsageError: they are the only administrator, and there are other users.
        """
        if len(await self.all()) > 1:
            await self._check_not_last(name)
        if not await self._store.remove(name):
            await self.find(name)
        if self._shares is not None:
            await self._shares.drop_owner(name)

    async def revoke_access(self, name: str) -> None:
        """End all sessions of a user who is about to be removed, and revoke their tokens.

        Raises:
            UnknownName, UsageError: as `remove`.
        """
        await self.find(name)
        if len(await self.all()) > 1:
            await self._check_not_last(name)
        for kind in ("session", "token"):
            await self._store.drop_credentials(name, kind)

    async def _check_not_last(self, name: str) -> None:
        admins = [user.name for user in await self.all() if user.role == "admin"]
        if admins == [name]:
            raise UsageError(f"{name} is the only admin: add another one first (assay users add NAME --role admin)")

    # by password

    async def log_in(self, name: str, password: str) -> str:
        """Log in with a password; return the secret of a new session.

        Raises:
            NotLoggedIn: name or password is wrong, or there were too many wrong ones.
        """
        user, now = await self._store.find(name), time.time()
        if user is not None and now < user.locked_until <= now + 2 * LOCKED_SECONDS:  # else the clock was set back
            raise NotLoggedIn.locked(int(user.locked_until - now) + 1)
        right = await self._verify(user.password if user else "", password)
        if user is None or not right:
            if user is not None:
                await self._store.count_failure(name, MAX_WRONG_TRIES, now + LOCKED_SECONDS)
            raise NotLoggedIn("name or password is wrong")
        await self._store.reset_failures(name)
        return await self._session(name)

    async def _session(self, name: str, issuer: str = "", id_token: str = "") -> str:
        """The secret of a new session; one of an `issuer` can be ended there too."""
        now = time.time()
        await self._store.drop_expired(now)
        secret = secrets.token_urlsafe(32)
        session = Credential(
            kind="session",
            id=secrets.token_hex(4),
            hash=sha256(secret.encode()),
            owner=name,
            created=now,
            expires=now + IDLE_SECONDS,
            used=now,
            issuer=issuer,
            id_token=id_token if len(id_token) <= MAX_ID_TOKEN_CHARS else "",
        )
        await self._store.add_credential(session)
        return secret

    # by an account at a provider

    async def log_in_person(self, person: Person, attempt: str) -> str:
        """Log in with an account at a provider; return the secret of a new session.

        Args:
            person: who that is.
            attempt: identifies this login, which counts once.

        Raises:
            NotLoggedIn: they are not a user, or this login was completed before.
        """
        user = await self.user_for(person)
        now = time.time()
        used = Credential(
            kind="login",
            id="",
            hash=sha256(attempt.encode()),
            owner=user.name,
            created=now,
            expires=now + LOGIN_SECONDS,
        )
        if not await self._store.add_credential(used):
            raise NotLoggedIn("this login has been used: begin it again")
        return await self._session(user.name, person.subject.partition(" ")[0], person.id_token)

    async def user_for(self, person: Person) -> UserRow:
        """The user for a person at a provider: the one with this account, one without any, or a new one.

        Raises:
            NotLoggedIn: there is none, or the name belongs to another.
        """
        user = await self._store.find_by_subject(person.subject) or await self._link(person)
        if person.role is not None and user.role != person.role:
            await self._store.change(user.name, role=person.role)
            return msgspec.structs.replace(user, role=person.role)
        return user

    async def _link(self, person: Person) -> UserRow:
        user = await self._store.find(person.name)
        if user is None:
            if not person.create:
                raise NotLoggedIn(f"{person.name[:64]!r} is not a user of this server: ask an admin to add you")
            if not _NAME.fullmatch(person.name):
                raise NotLoggedIn(f"the provider calls you {person.name[:64]!r}, which is not a valid user name here")
            await self._store.add(
                UserRow(name=person.name, role=person.role or person.first, password="", created=time.time())
            )
        elif user.password and not person.link:
            raise NotLoggedIn(
                f"{person.name} is a local user, who logs in with a password (server.oidc.link lets accounts of "
                "the provider take over local users)"
            )
        if not await self._store.link(person.name, person.subject):
            raise NotLoggedIn(f"{person.name} is a user with another account at the provider")
        return await self.find(person.name)

    async def change_password(self, name: str, old: str, new: str) -> None:
        """Set a password as `set_password`, by the user.

        Raises:
            NotLoggedIn: the old password is wrong.
            UsageError: the new one is not valid.
        """
        await self.log_in(name, old)
        await self.set_password(name, new)

    async def log_out(self, identity: Identity) -> Credential | None:
        """End a session and return it; None if it has ended before."""
        credentials = await self._store.credentials(identity.name, identity.via)
        await self._store.drop_credentials(identity.name, identity.via, identity.credential)
        return next((credential for credential in credentials if credential.id == identity.credential), None)

    # by credential

    async def authenticate(self, secret: str, kind: Literal["session", "token"]) -> Identity | None:
        """Who presents this secret; None if it is unknown or expired."""
        credential, now = await self._store.credential(sha256(secret.encode())), time.time()
        if credential is None or credential.kind != kind or (credential.expires and credential.expires <= now):
            return None
        user = await self._store.find(credential.owner)
        if user is None:
            return None
        if now - credential.used > NOTED_SECONDS:
            with suppress(DiskFull):  # reading still works
                await self._store.record_use(credential.hash, now, self._expiry(credential, now))
        permissions = frozenset(PERMISSIONS[user.role])
        if kind == "token":
            permissions &= frozenset(credential.scopes) | ({"read"} if "write" in credential.scopes else set())
        return Identity(name=user.name, role=user.role, permissions=permissions, via=kind, credential=credential.id)

    def _expiry(self, credential: Credential, now: float) -> float:
        if credential.kind == "token":
            return credential.expires
        return min(now + IDLE_SECONDS, credential.created + SESSION_SECONDS)

    async def new_token(
        self, owner: str, name: str, scopes: Sequence[Permission] = ("read", "write"), days: float | None = None
    ) -> tuple[Credential, str]:
        """Create a token; return it with its secret, which is never shown again. Without `days` it never expires.

        Raises:
            UnknownName: there is no such user.
            UsageError: the user's role does not allow such scopes, or there are too many tokens.
        """
        user, now = await self.find(owner), time.time()
        beyond = set(scopes) - set(PERMISSIONS[user.role])
        if not scopes or beyond:
            raise UsageError(f"a token of a {user.role} may have only: {', '.join(PERMISSIONS[user.role])}")
        if len(await self._store.credentials(owner, "token")) >= TOKENS:
            raise UsageError(f"{owner} has {TOKENS} tokens: revoke one first")
        if days is not None and not 0 < days <= 36_500:
            raise UsageError("a token is valid for more than 0 and up to 36,500 days")
        secret = PREFIX + secrets.token_urlsafe(32)
        token = Credential(
            kind="token",
            id=secrets.token_hex(4),
            hash=sha256(secret.encode()),
            owner=owner,
            name=name[:200],
            scopes=tuple(dict.fromkeys(scopes)),
            created=now,
            expires=now + days * 86_400 if days is not None else 0.0,
        )
        await self._store.add_credential(token)
        return token, secret

    async def tokens(self, owner: str) -> list[Credential]:
        """The tokens of a user, without their secrets."""
        return await self._store.credentials(owner, "token")

    async def revoke(self, owner: str, id: str) -> None:
        """Revoke a token at once.

        Raises:
            UnknownName: the user has no such token.
        """
        if not id or not await self._store.drop_credentials(owner, "token", id):  # "" would be all of them
            raise UnknownName("token", id, (token.id for token in await self.tokens(owner)))

    # hashes

    async def _hash(self, password: str) -> str:
        if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
            raise UsageError(f"a password has {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS:,} characters")
        async with self._hash_slots:
            return await asyncio.to_thread(_hasher().hash, password)

    async def _verify(self, password_hash: str, password: str) -> bool:
        """True if a password matches a hash; without a hash it never does, and takes as long."""
        async with self._hash_slots:
            return await asyncio.to_thread(_matches_hash, password_hash, password[: MAX_PASSWORD_CHARS + 1])


def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher  # noqa: PLC0415 - of the extra `server`
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return PasswordHasher()


def _matches_hash(password_hash: str, password: str) -> bool:
    hasher = _hasher()
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - of the extra `server`

    if not password_hash:
        hasher.hash(password)
        return False
    try:
        return hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
