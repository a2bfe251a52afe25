"""Passwords cost next to nothing in tests: to hash one as the product does takes a quarter of a second of computing."""

from __future__ import annotations

from functools import partial

try:
    import argon2
except ImportError:  # the extra `server` is missing, and nobody has a password
    argon2 = None  # type: ignore[assignment]
else:
    STRONG = argon2.PasswordHasher
    """As the product hashes them; a hash names its parameters, so either reads what the other made."""


def cheapen() -> None:
    """Hash passwords cheaply in this process from now on."""
    if argon2 is not None:
        argon2.PasswordHasher = partial(STRONG, time_cost=1, memory_cost=64, parallelism=1)  # type: ignore[assignment,misc]
