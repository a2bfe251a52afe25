"""Bytes changed as those who attack change them: cut, doubled, nested, spliced, with the signs of formats."""

from __future__ import annotations

import random
from collections.abc import Sequence

SIGNS = [
    *(b"\x00", b"\xff", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", "\u2028".encode(), b"\x1b["),
    *(b"{", b"[", b'"', b"\\", b"'", b",", b":", b"null", b"true", b"-1", b"1e999", b"NaN", b"9" * 30, b"0.1", b"[[]]"),
    *(
        b"<",
        b">",
        b"&",
        b"<!--",
        b"<![CDATA[",
        b"<!ENTITY a 'b'>",
        b"<a ",
        b"</",
        b"<p>",
        b"<table>",
        b"<br>",
        b"&#x0;",
    ),
    *(b"#", b"*", b"_", b"`", b"```", b"|", b"- ", b"1. ", b"> ", b"[a](b", b"![", b"---\n", b"===\n", b"[^1]", b"$"),
    *(
        b"[S1001.1]",
        b"[1]",
        b"7.5 %",
        b"2019-02-30",
        b"\xe2\x80\x9c",
        b"//",
        b"http://",
        b"%00",
        b"..",
        b"@",
        b"data: ",
    ),
    *(
        b"PK\x03\x04",
        b"%PDF-",
        b"endobj",
        b"stream\n",
        b"<<",
        b">>",
        b"From ",
        b"=?utf-8?b?",
        b"--x",
        b"\xd0\xcf\x11\xe0",
    ),
]
LONGEST = 20_000


def mutated(seeds: Sequence[bytes], dice: random.Random, longest: int = LONGEST) -> bytes:
    """One of `seeds`, changed in some places."""
    data = bytearray(dice.choice(seeds))
    for _ in range(dice.choice((1, 1, 2, 3, 5, 12))):
        _change(data, seeds, dice, longest)
    return bytes(data[:longest])


def _change(data: bytearray, seeds: Sequence[bytes], dice: random.Random, longest: int) -> None:
    at = dice.randint(0, len(data))
    end = min(len(data), at + dice.choice((1, 1, 2, 4, 16, 100, 1000)))
    match dice.randrange(9):
        case 0 if data:
            data[min(at, len(data) - 1)] ^= 1 << dice.randrange(8)
        case 1 if data:
            data[min(at, len(data) - 1)] = dice.randrange(256)
        case 2:
            del data[at:end]
        case 3:
            data[at:at] = dice.choice(SIGNS)
        case 4:
            data[at:end] = dice.choice(SIGNS)
        case 5:
            data[at:at] = data[at:end] * dice.choice((1, 2, 10, 100, 1000))
        case 6:
            data[at:at] = dice.choice(SIGNS) * dice.choice((2, 50, 500, 5000))
        case 7:
            other = dice.choice(seeds)
            first = dice.randint(0, len(other))
            data[at:end] = other[first : first + dice.choice((4, 50, 1000))]
        case _:
            del data[at:]
    del data[longest:]
