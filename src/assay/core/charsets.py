"""Names of character encodings, as web pages and mails state them, and the codecs that read these."""

from __future__ import annotations

import codecs

from assay.core.lazy import regex

_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso2022_jp": "iso2022_jp_ext",
    "utf-8-sig": "utf-8",
}
"""What is stated, and what is meant by it: who states Latin-1 sends Windows-1252 (WHATWG's Encoding Standard)."""
_LABELS = {"windows-874": "cp874", "dos-874": "cp874", "windows-949": "cp949"}
"""Names that Python does not know."""
_PROBE = rb"<p>\u0041+A-" + b"\xff"
"""All encodings of pages extend ASCII; compressions, UTF-16, UTF-7 and EBCDIC do not read this as it is."""
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHARSET = regex(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})")


def codec(encoding: str) -> str:
    """The Python codec for a stated encoding; "" if none is known, or it is not an encoding of text that is sent."""
    label = encoding.strip().lower().removeprefix("x-").removeprefix("x-").removesuffix("-i")
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name if label else ""
        is_known = bool(name) and _PROBE.decode(name, errors="replace").startswith(_PROBE[:-1].decode())
    except (LookupError, ValueError):  # a name may not contain a NUL
        return ""
    return _WIDER.get(name, name) if is_known else ""


def charset(content_type: str) -> str:
    """The encoding that a `Content-Type` states; "" if none."""
    match = _CHARSET.search(content_type.lower())
    return match[1] if match else ""


def to_utf8(body: bytes, content_type: str) -> bytes:
    """A text as UTF-8 with a byte order mark, if only its `Content-Type` may say in which encoding it is.

    A byte order mark counts more, and what is valid UTF-8 is UTF-8, whatever its server says.
    """
    name = codec(charset(content_type))
    if name in ("", "utf-8") or body.startswith(_MARKS):
        return body
    if not is_escaped(name, body):
        try:
            body.decode()
        except UnicodeDecodeError:
            pass
        else:
            return body
    return codecs.BOM_UTF8 + body.decode(name, errors="replace").encode(errors="replace")


def is_escaped(name: str, data: bytes) -> bool:
    """True if the codec switches between scripts by escapes, and the data has some: to UTF-8 they are plain ASCII."""
    return name.startswith("iso2022") and b"\x1b" in data
