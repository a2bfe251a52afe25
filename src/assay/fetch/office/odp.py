"""OpenDocument presentations."""

from __future__ import annotations

from assay.fetch.office.odt import OdtExtractor


class OdpExtractor(OdtExtractor):
    """One section per slide; its heading states the slide's number."""

    name = "odp/1"
    suffixes = (".odp",)
    media_type = "application/vnd.oasis.opendocument.presentation"
