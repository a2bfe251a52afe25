"""A small library about a harbour, in a home of its own, for servers which are started over it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from assay import Assay, settings

HARBOUR = """# Harbour of Vendel

The harbour of Vendel was built in 1902. In 1954 it was enlarged by 40 hectares.
In 2003 a container terminal with a capacity of 1.2 million containers was opened.
"""
FERRIES = "# Ferries of Vendel\n\nThe ferry to Oster takes 35 minutes. It has sailed since 1911.\n"
LETTERS = "# Letters\n\nThe harbour master of Vendel is to be dismissed in May.\n"
QUESTION = "When was the harbour of Vendel built?"


def make_home(folder: Path) -> Path:
    """A home with a default collection, one named `ferries`, and a private one named `letters`.

    The private document is in the collection `mixed` too.
    """
    return asyncio.run(fill_home(folder))


async def fill_home(folder: Path) -> Path:
    """As `make_home`, inside a running loop."""
    home = folder / "home"
    async with Assay(settings.load(), home=home) as assay:
        for name, collection, text in (
            ("harbour.md", "default", HARBOUR),
            ("ferries.md", "ferries", FERRIES),
            ("letters.md", "letters", LETTERS),
        ):
            path = folder / name
            path.write_text(text)
            await assay.add([path], collection)
        await assay.add([folder / "letters.md"], "mixed")
        await assay.mark("letters", private=True)
    return home
