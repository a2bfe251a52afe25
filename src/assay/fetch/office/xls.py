"""Spreadsheets of older programs, and Excel's binary ones."""

from __future__ import annotations

from assay.fetch.office.xlsx import XlsxExtractor


class XlsExtractor(XlsxExtractor):
    """Like `XlsxExtractor`."""

    name = "xls/1"
    suffixes = (".xls", ".xlsb")
    media_type = "application/vnd.ms-excel"
    old = True
