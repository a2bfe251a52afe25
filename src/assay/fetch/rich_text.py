"""Rich text (RTF) as plain text: paragraphs and rows of tables, without fonts, styles, pictures and hidden text."""

from __future__ import annotations

import re

from assay.core.charsets import codec
from assay.core.lazy import regex
from assay.fetch.text_form import clean

MARK = "{\\rtf"
_TOKEN = regex(r"\\([a-z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)", re.IGNORECASE)
_OMITTED = frozenset(
    """
    fonttbl colortbl stylesheet info pict header headerl headerr headerf footer footerl footerr footerf object
    themedata colorschememapping latentstyles datastore listtable listoverridetable rsidtbl generator xmlnstbl fldinst
    annotation atnid atnauthor bkmkstart bkmkend filetbl revtbl pgptbl nonshppict
    """.split()
)
_SIGNS = {
    **dict.fromkeys(("par", "sect", "page"), "\n\n"),
    **dict.fromkeys(("emspace", "enspace", "tab"), " "),
    "line": "\n",
    "cell": " | ",
    "row": "\n\n",
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
}
_ESCAPES = {"~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}", "\n": "\n\n", "\r": "\n\n"}


def read_rich_text(text: str) -> str:
    """The text of a document in RTF, whose bytes were read as characters."""
    reader = _Reader()
    for match in _TOKEN.finditer(text):
        reader.read(match)
    paragraphs = (" ".join(part.split()).removesuffix(" |") for part in "".join(reader.pieces).split("\n\n"))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


class _Reader:
    """Reads tokens in order; `pieces` are what a reader of the document sees.

    A character by its number is followed by `fallback` others for older programs, which are skipped.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._groups: list[tuple[bool, int]] = []
        self._hidden, self._fallback, self._skip, self._encoding = False, 1, 0, "cp1252"

    def read(self, token: re.Match[str]) -> None:
        word, number, code, sign, brace, plain = token.groups()
        if brace == "{":
            self._groups.append((self._hidden, self._fallback))
        elif brace:
            self._hidden, self._fallback = self._groups.pop() if self._groups else (False, 1)
        elif sign == "*":
            self._hidden = True
        elif word:
            self._read_word(word, number or "")
        elif not self._hidden:
            self._add(
                bytes.fromhex(code).decode(self._encoding, "replace") if code else plain or _ESCAPES.get(sign, "")
            )

    def _read_word(self, word: str, number: str) -> None:
        if word in _OMITTED or (word == "v" and number != "0"):
            self._hidden = True
        elif word == "ansicpg":
            self._encoding = codec(f"cp{number}") or self._encoding
        elif word == "uc":
            self._fallback = int(number or 1)
        elif word == "u" and number and not self._hidden:
            self.pieces.append(clean(chr(int(number) % 0x10000)))
            self._skip = self._fallback
        elif not self._hidden:
            self.pieces.append(_SIGNS.get(word, ""))

    def _add(self, text: str) -> None:
        self.pieces.append(text[self._skip :])
        self._skip = max(0, self._skip - len(text))
