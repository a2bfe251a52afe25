"""What a report by the built-in model opens with: with who did it, and with the superlative that was asked for."""

from __future__ import annotations

from pathlib import Path

import assay
from assay.core.report import Report

FILMS = {
    "spire.md": "# The Spire\n\nThe Spire is a film of 1974 directed by Anna Berg. It was shown in Brest first.\n\n"
    "The film The Spire is based on the book The Tower, which was written by Carl Dorn.\n",
    "harbour.md": "# The harbour of Brest\n\nThe harbour of Brest was opened in 1860 by the engineer Ole Hansen.\n",
}
BRIDGES = {
    "anna.md": "# Anna Bridge\n\nThe Anna Bridge is a bridge of the town of Ulm. The bridge is 300 metres long.\n",
    "berta.md": "# Berta Bridge\n\nThe Berta Bridge is a bridge of the town of Ulm. The bridge is 450 metres long.\n",
    "clara.md": "# Clara Bridge\n\nThe Clara Bridge is the oldest bridge of the town of Ulm. It was built in 1443.\n",
}


async def report(folder: Path, question: str, files: dict[str, str]) -> Report:
    for name, text in files.items():
        (folder / name).write_text(text)
    return await assay.research(question, sources=[str(folder)])


def opening(found: Report) -> str:
    return found.markdown.split("\n#")[0]


async def test_who_did_what_is_asked_is_named(tmp_path: Path) -> None:
    found = await report(tmp_path, "Who wrote the book on which the film The Spire is based?", FILMS)
    assert "Carl Dorn" in opening(found)


async def test_what_states_the_superlative_is_first(tmp_path: Path) -> None:
    found = await report(tmp_path, "Which is the oldest bridge of Ulm?", BRIDGES)
    assert found.markdown.startswith("The Clara Bridge is the oldest bridge of the town of Ulm.")
