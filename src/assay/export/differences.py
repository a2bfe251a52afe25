"""The words in which two texts differ, for readers who check a sentence against its source."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import msgspec

_TOKEN = re.compile(r"\w+(?:[.,'’]\w+)*|\W+?")
_LONGEST = 4_000
"""The most characters of a text that are compared: the time grows with the square."""


class DiffPiece(msgspec.Struct, frozen=True):
    """A span of one of the texts; `differs` means that the other lacks it."""

    text: str
    differs: bool


class TextDifference(msgspec.Struct, frozen=True):
    """Both texts in pieces; the joined pieces are the texts."""

    claim: tuple[DiffPiece, ...]
    passage: tuple[DiffPiece, ...]

    @property
    def is_none(self) -> bool:
        """Whether the passage has every word of the claim, in its order."""
        return not any(piece.differs for piece in (*self.claim, *self.passage))


def differing(claim: str, passage: str) -> TextDifference:
    """The words of `claim` that `passage` lacks, and the words that the passage has instead.

    Case and punctuation do not count. The passage's text before the first common word and after the last is context,
    not difference. Longest matching blocks (Ratcliff and Metzener 1988).
    """
    ours, theirs = _tokens(claim[:_LONGEST]), _tokens(passage[:_LONGEST])
    a, b = _words(ours), _words(theirs)
    blocks = SequenceMatcher(None, [word for word, _ in a], [word for word, _ in b], autojunk=False)
    shared = [(at, there, size) for at, there, size in blocks.get_matching_blocks() if size]
    same = {a[at + step][1] for at, _, size in shared for step in range(size)}
    alike = {b[there + step][1] for _, there, size in shared for step in range(size)}
    first, last = (min(alike), max(alike)) if alike else (len(theirs), -1)
    missing = {at for _, at in a} - same
    instead = {at for _, at in b if first < at < last} - alike
    return TextDifference(
        (*_pieces(ours, missing), *_rest(claim)),
        (*_pieces(theirs, instead), *_rest(passage)),
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _words(tokens: list[str]) -> list[tuple[str, int]]:
    """The words in the compared form, and the place of each among the tokens."""
    return [(token.casefold(), at) for at, token in enumerate(tokens) if token[0].isalnum()]


def _rest(text: str) -> tuple[DiffPiece, ...]:
    return (DiffPiece(text[_LONGEST:], differs=False),) if len(text) > _LONGEST else ()


def _pieces(tokens: list[str], marked: set[int]) -> list[DiffPiece]:
    """Joined tokens; white space between two marked words is marked too."""
    pieces: list[DiffPiece] = []
    held = ""
    for at, token in enumerate(tokens):
        if at in marked:
            joins = bool(pieces) and pieces[-1].differs and not held.strip()
            if joins:
                pieces[-1] = DiffPiece(f"{pieces[-1].text}{held}{token}", differs=True)
            else:
                pieces += [DiffPiece(held, differs=False), DiffPiece(token, differs=True)]
            held = ""
        else:
            held += token
    pieces.append(DiffPiece(held, differs=False))
    return [piece for piece in pieces if piece.text]
