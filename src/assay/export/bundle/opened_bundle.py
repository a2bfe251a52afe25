"""A bundle whose zip and log could be read: what the other checks look at."""

from __future__ import annotations

import msgspec

from assay.core.markers import CitationMode
from assay.core.view import RunView
from assay.export.bundle.contents import Manifest, release


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Members by name, the manifest where it can be read, and the run folded from the log."""

    members: dict[str, bytes | memoryview]
    manifest: Manifest | None
    view: RunView

    @property
    def citations(self) -> CitationMode:
        """How the citations of its report look."""
        return self.manifest.citations if self.manifest else "numbers"

    @property
    def ours(self) -> bool:
        """Whether the release installed here wrote it, so that everything in it can be made again."""
        return self.manifest is None or self.manifest.release == release()

    @property
    def writer(self) -> str:
        """Who wrote it, for a note."""
        return f"written by Assay {self.manifest.release if self.manifest else 'unknown'}, this is {release()}"
