"""Calls with a keyword nobody knows: `make types` reads this file, and fails where one of them is not seen."""

from __future__ import annotations

import assay


def known() -> None:
    assay.research_sync("q", depth="light", model="ollama:m")


def unknown() -> None:
    assay.research_sync("q", dept="light")  # type: ignore[call-arg]
    assay.Assay(hom=".")  # type: ignore[call-arg]
