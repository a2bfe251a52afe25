"""The table `[signing]`: the key bundles are signed with, and whose signatures are trusted."""

from __future__ import annotations

from pydantic import Field

from assay.settings.sections import Key, ServiceName, SettingsTable


class SigningSettings(SettingsTable):
    """Signatures of bundles (`assay runs export --sign`, `assay verify`)."""

    key: Key = Field(None, description="secret key which signs bundles; `assay keys sign create` makes one")
    trusted: dict[ServiceName, str] = Field(
        {}, description="public keys of those whose signatures of bundles you trust, by name"
    )
