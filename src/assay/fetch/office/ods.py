"""OpenDocument spreadsheets."""

from __future__ import annotations

from assay.fetch.office.xlsx import XlsxExtractor


class OdsExtractor(XlsxExtractor):
    """Like `XlsxExtractor`."""

    name = "ods/1"
    suffixes = (".ods",)
    media_type = "application/vnd.oasis.opendocument.spreadsheet"
