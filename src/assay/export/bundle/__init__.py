"""The bundle: a report with all its evidence in one canonical zip, which can be checked without Assay's home."""

from __future__ import annotations

from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.export.bundle.check import check
from assay.export.bundle.contents import FORMAT, MANIFEST, BundleMember, members, pack, unpack
from assay.export.bundle.reports import BundleCheck, Outcome, Verification
from assay.export.bundle.signature import SIGNATURE, BundleSignature, sign

__all__ = ["EXPORTER", "BundleCheck", "BundleExporter", "BundleSignature", "Outcome", "Verification", "check", "signed"]


class BundleExporter:
    """Writes `.zip` files."""

    suffix = ".zip"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The bundle of a run, the same bytes for the same log and documents.

        Raises:
            StoreError: a cited document or its snapshot is not there, or damaged; or the bundle would be too large.
        """
        return pack(members(record, citations))


def signed(bundle: bytes, secret: str, run_id: str) -> bytes:
    """A bundle with its manifest signed; the same bytes for the same bundle and key.

    Raises:
        UsageError: `secret` is no key.
    """
    manifest, *others = unpack(bundle).members
    assert manifest.name == MANIFEST
    signature = BundleMember(SIGNATURE, sign(manifest.data, secret, f"{FORMAT} run {run_id}"))
    return pack([manifest, signature, *others])


EXPORTER = BundleExporter()
