"""Small PDFs, written by hand so that what is in them is known."""

from __future__ import annotations

from collections.abc import Sequence

# Too short and random for any password: what a document encrypted with an unknown one looks like.
LOCK = b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <" + b"5a" * 32 + b"> /U <" + b"a5" * 32 + b"> >>"

Placed = tuple[float, float, str]
"""Where a line stands, in points from the lower left corner, and its text (ASCII)."""


def pdf(
    pages: Sequence[Sequence[Placed]], *, info: dict[str, str] | None = None, locked: bool = False, height: int = 842
) -> bytes:
    """A document with these pages, in Helvetica of 12 points."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    facts = "".join(f"/{key} ({_escaped(value)})" for key, value in (info or {}).items())
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        drawn = "\n".join(f"BT /F1 12 Tf {x} {y} Td ({_escaped(text)}) Tj ET" for x, y, text in lines).encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 {height}] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    objects.append(f"<< {facts} >>".encode())
    trailer = f"/Root 1 0 R /Info {len(objects)} 0 R"
    if locked:
        objects.append(LOCK)
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<00112233> <00112233>]"
    return _assembled(objects, trailer.encode())


def column(*lines: str, left: float = 72, top: float = 770, step: float = 14) -> list[Placed]:
    """Lines one below the other; "" leaves a line free."""
    return [(left, top - number * step, line) for number, line in enumerate(lines) if line]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _assembled(objects: Sequence[bytes], trailer: bytes) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
