"""Rich text (RTF) as plain text: paragraphs and rows of tables, without fonts, styles, pictures and hidden text."""

from __future__ import annotations

import re

from assay.core.charsets import codec
from assay.core.lazy import regex
from assay.fetch.text_form import clean

MARK = "{\\rtf"
_TOKEN = regex(
    r"\\([a-z]{1,32})(-?\d{1,10})?[ ]?|((?:\\'[0-9a-f]{2}[\r\n]*)+)|\\([^a-z])|([{}])|([^\\{}\r\n]+)", re.IGNORECASE
)
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
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[1] == "bin":  # so many bytes of a picture follow
            position += max(0, int(token[2] or 0))
        reader.read(token)
    paragraphs = (" ".join(part.split()).removesuffix(" |") for part in reader.text().split("\n\n"))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


class _Reader:
    """Reads tokens in order; `text` is what a reader of the document sees.

    A character by its number is followed by `fallback` others for older programs, which are skipped.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._groups: list[tuple[bool, bool, int]] = []
        self._omitted, self._hidden, self._fallback = False, False, 1
        self._skip, self._encoding = 0, "cp1252"

    def text(self) -> str:
        """What was read; a character outside the first 65,536 is written as two halves."""
        return clean("".join(self._pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def read(self, token: re.Match[str]) -> None:
        word, number, codes, sign, brace, plain = token.groups()
        if brace:
            self._skip = 0
        if brace == "{":
            self._groups.append((self._omitted, self._hidden, self._fallback))
        elif brace:
            self._omitted, self._hidden, self._fallback = self._groups.pop() if self._groups else (False, False, 1)
        elif sign == "*":
            self._omitted = True
        elif word:
            self._read_word(word, number or "")
        elif self._omitted or self._hidden:
            return
        elif codes:
            data = bytes.fromhex(codes.replace("\\'", ""))
            shown = data[self._skip :].decode(self._encoding, "replace")  # of some scripts, two are one character
            self._skip = max(0, self._skip - len(data))
            self._pieces.append(shown)
        else:
            self._add(plain or _ESCAPES.get(sign, ""))

    def _read_word(self, word: str, number: str) -> None:
        if word in _OMITTED:
            self._omitted = True
        elif word in ("v", "plain"):
            self._hidden = word == "v" and number != "0"
        elif word == "ansicpg":
            self._encoding = codec(f"cp{number}") or self._encoding
        elif word == "uc":
            self._fallback = max(0, int(number or 1))
        elif self._omitted or self._hidden:
            return
        elif word == "u" and number:
            self._pieces.append(chr(int(number) % 0x10000))
            self._skip = self._fallback
        else:
            self._pieces.append(_SIGNS.get(word, ""))

    def _add(self, text: str) -> None:
        self._pieces.append(text[self._skip :])
        self._skip = max(0, self._skip - len(text))
