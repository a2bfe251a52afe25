"""Addresses of servers which hold what is stored, as they are written in the settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import SecretStr


def database(value: object) -> object:
    """The URL of a database; None for none, which is a file in the home."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    text = text.strip()
    if text.lower() in ("", "none"):
        return None
    if not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("wanted is postgresql://USER:PASSWORD@HOST/NAME, or none")
    return SecretStr(text)


def opensearch_address(value: object) -> object:
    """The address of OpenSearch."""
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("wanted is https://USER:PASSWORD@HOST:9200")
    return SecretStr(text.strip())
