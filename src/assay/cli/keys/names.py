"""Whose keys there can be."""

from __future__ import annotations

from assay import settings
from assay.app.access import KEYS
from assay.core.errors import UnknownName


def setting_of(provider: str) -> str:
    """The setting which holds the key of `provider`.

    Raises:
        UnknownName: no provider of that name takes a key.
    """
    known = [name.removeprefix("keys.") for name in settings.names() if name.startswith("keys.")]
    provider = KEYS.get(provider, provider)
    if provider not in known:
        hint = f"(the key of a service of yours is services.{provider}.key in {settings.config_path()})"
        raise UnknownName("provider with a key", provider, known, hint=hint)
    return f"keys.{provider}"
