"""Who is told: a command, or an address."""

from __future__ import annotations

import shlex
import shutil
from urllib.parse import urlsplit

import msgspec

from assay.core.errors import ConfigError
from assay.core.secrets import Secret


class Target(msgspec.Struct, frozen=True):
    """A command's words, or else an address. `name` is what a person is told of it: an address may hold a password.

    `named` says that it was named for this one run, and does not stand in the settings.
    """

    name: str
    words: tuple[str, ...] = ()
    url: Secret = Secret("")
    named: bool = False

    @property
    def text(self) -> str:
        """As `read_target` reads it."""
        return self.url.reveal() or shlex.join(self.words)


def read_target(text: str, *, named: bool = False) -> Target:
    """A target as the user writes it: `https://…`, or a command with its arguments, which no shell sees.

    Raises:
        ConfigError: it is neither, or there is no such program.
    """
    text = text.strip()
    if text.lower().startswith(("http://", "https://")):
        return _address(text, named)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"the command to notify cannot be read ({error}): check its quotation marks") from None
    if not words:
        raise ConfigError("nothing to notify is named: write a command, or an address such as https://example.org/hook")
    if shutil.which(words[0]) is None:
        raise ConfigError(f"the command to notify, {words[0]!r}, is not there or cannot be executed: check its path")
    return Target(name=words[0], words=words, named=named)


def _address(text: str, named: bool) -> Target:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or port == 0 or any(sign.isspace() or not sign.isprintable() for sign in text):
        raise ConfigError("the address to notify is wrong: write one such as https://example.org/hook")
    return Target(name=host, url=Secret(text), named=named)
