"""The table `[signing]`: the key bundles are signed with, and whose signatures are trusted."""

from __future__ import annotations

from pydantic import Field

from assay.settings.sections import Key, ServiceName, SettingsTable


class SigningSettings(SettingsTable):
    """Signatures of bundles (`assay runs export --sign`, `assay verify`)."""

    key: Key = Field(None, description="secret key for signing bundles; create one with `assay keys sign create`")
    trusted: dict[ServiceName, str] = Field({}, description="public keys of people whose signatures you trust, by name")
