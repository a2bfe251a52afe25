"""OpenDocument presentations."""

from __future__ import annotations

from assay.fetch.office.odt import OdtExtractor


class OdpExtractor(OdtExtractor):
    """A section for each slide, whose heading says its number."""

    name = "odp/1"
    suffixes = (".odp",)
    media_type = "application/vnd.oasis.opendocument.presentation"
