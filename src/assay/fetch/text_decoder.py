"""Decodes bytes to text: encodings, byte order marks, and characters that may not be in a document's text."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from assay.core.errors import ExtractError
from assay.core.later import later

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = later("charset_normalizer")

SAMPLE = 64_000
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# # Guesses of scripts other than Latin are accepted; among Latin code pages a guess is no better than the commonest
# one.
TRUSTED = re.compile(
    r"cp125[1356]|cp932|cp949|cp936|cp950|koi8|mac_cyrillic|shift_jis|euc_|gb|big5|hz|iso2022|iso8859_[5678]$|johab"
)
_HIGH, _RUNS = re.compile(rb"[\x80-\xff]"), re.compile(rb"[\x80-\xff]{2,}")
UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_CONTROLS = bytes((*range(0x09), *range(0x0E, 0x20), 0x7F))


def decode(data: bytes, declared: str = "") -> str:
    """Decode `data`: by its byte order mark, as UTF-8, as `declared`, as guessed, else as Windows-1252.

    Raises:
        ExtractError: the bytes are not text.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return clean(data.decode(encoding, errors="replace"))
    if b"\0" in data[:SAMPLE]:
        raise ExtractError("binary, not text")
    try:
        return clean(data.decode())
    except UnicodeDecodeError:
        return clean(data.decode(_known(declared) or _guess(data), errors="replace"))


def clean(text: str) -> str:
    """`text` in a form that can be stored: control characters and surrogate halves become U+FFFD."""
    if text.startswith("\ufeff"):
        text = text[1:]
    return text if _storable(text) else UNWANTED.sub("\ufffd", text)


def _storable(text: str) -> bool:
    """Whether `text` can be stored unchanged; testing its bytes takes less than half the time of a search."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name if encoding else ""
    except (LookupError, ValueError):  # a name may not contain a NUL
        return ""


def _guess(data: bytes) -> str:
    """Guess an encoding from the bytes. Scripts other than Latin are accepted only if their bytes are adjacent, as in
    words of these scripts, and not single among ASCII letters, as umlauts are.
    """
    high = len(_HIGH.findall(data[:SAMPLE]))
    if 2 * sum(map(len, _RUNS.findall(data[:SAMPLE]))) < high:
        return "cp1252"
    best = charset_normalizer.from_bytes(data[:SAMPLE]).best()
    return best.encoding if best is not None and TRUSTED.match(best.encoding) else "cp1252"
