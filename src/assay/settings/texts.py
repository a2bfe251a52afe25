"""Reads the values of settings that are texts with a meaning: names, addresses, keys, paths.

A function returns what it does not understand as it is: the type of the setting refuses it afterwards. It raises a
ValueError for a text that will not do, and never repeats it, because it may be a key.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec

from assay.core.brief import read_length
from assay.core.errors import UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.languages import read_language
from assay.core.ports.models import Secret


def split_names(value: object) -> object:
    """Accept `"first, second"`, or a list in JSON, where a list of names is wanted."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value, type=tuple[str, ...])
    except DECODE_ERRORS:  # "[::1]" is a name
        return tuple(part.strip() for part in value.split(",") if part.strip())


def expand_home(value: object) -> object:
    """A path with its `~` written out."""
    try:
        return Path(value).expanduser() if isinstance(value, str | Path) else value
    except RuntimeError:
        raise ValueError("the user after its `~` has no folder here") from None


def address_parts(text: str) -> SplitResult:
    """The parts of an address.

    Raises:
        ValueError: it has none.
    """
    try:
        return urlsplit(text)
    except ValueError:  # which quotes a part of it
        raise ValueError("this is no address") from None


def _is_web_address(text: str) -> bool:
    """True for an address of http or https with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _reveal(value: object) -> object:
    return value.reveal() if isinstance(value, Secret) else value


def check_database(value: object) -> object:
    """The URL of a database; None for none, which is a file in the home."""
    text = _reveal(value)
    if not isinstance(text, str):
        return value
    text = text.strip()
    if text.lower() in ("", "none"):
        return None
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("expected postgresql://USER:PASSWORD@HOST/NAME, or none")
    address = address_parts(text)
    tail = address.path + address.fragment + ("" if address.path else address.query)
    if "@" in address.netloc.rpartition("@")[0] or "@" in tail:
        raise ValueError("write what a URL reserves in a password as %40 (@), %2F (/), %3F (?), %23 (#) or %25 (%)")
    return Secret(text)


def check_blobs(value: object) -> object:
    """A folder, or the address of an object store."""
    if not isinstance(value, str) or "://" not in value:
        return expand_home(value)
    parts = address_parts(value.strip())
    if parts.scheme not in ("s3", "gs", "az") or not parts.netloc:
        raise ValueError("expected a folder, or s3://BUCKET/PREFIX (gs:// and az:// are known too)")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address has no keys or options in it: those are read from the environment")
    return value.strip()


def parse_length(value: object) -> object:
    """How long a report is to be: a name or a number of words."""
    try:
        return read_length(value) if isinstance(value, str | int) else value
    except UsageError as error:
        raise ValueError(str(error)) from None


def parse_language(value: str) -> str:
    """The code of a language, or nothing."""
    try:
        return read_language(value) if value.strip() else ""
    except UsageError as error:
        raise ValueError(str(error)) from None


def clean_key(value: object) -> object:
    """A key without the white space around it, as environment files end with; None when nothing is left.

    What no header can carry is refused here, where the value is not repeated: a client's own error would show it.
    """
    text = _reveal(value)
    if not isinstance(text, str):
        return value
    text = text.strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("a key is printable ASCII without spaces; look at what was pasted")
    return Secret(text) if text else None


def check_address(value: str) -> str:
    """The base of an API."""
    if not _is_web_address(value) or any(sign.isspace() or not sign.isprintable() for sign in value):
        raise ValueError("expected the base of an API, like http://127.0.0.1:8000/v1")
    return value


def clean_secret(value: object) -> object:
    """A text which is not shown; None for an empty one."""
    text = _reveal(value)
    return (Secret(text.strip()) if text.strip() else None) if isinstance(text, str) else value


def check_opensearch_address(value: object) -> object:
    """The address of OpenSearch."""
    text = _reveal(value)
    if not isinstance(text, str):
        return value
    if not _is_web_address(text.strip()):
        raise ValueError("expected https://USER:PASSWORD@HOST:9200")
    return Secret(text.strip())
