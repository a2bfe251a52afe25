"""The bundle: a report with everything it rests on in one canonical zip, which can be checked without Assay's home."""

from __future__ import annotations

from assay.core.markers import CitationMode
from assay.export.bundle.archive import pack
from assay.export.bundle.check import check
from assay.export.bundle.contents import members
from assay.export.bundle.result import BundleCheck, Outcome, Verification
from assay.export.protocols import Record

__all__ = ["EXPORTER", "BundleCheck", "BundleExporter", "Outcome", "Verification", "check"]


class BundleExporter:
    """Writes `.zip` files."""

    suffix = ".zip"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The bundle of a run, the same bytes for the same log and documents.

        Raises:
            StoreError: a cited document or its snapshot is not there, or damaged; or the bundle would be too large.
        """
        return pack(members(record, citations))


EXPORTER = BundleExporter()
