"""The prompts of a package, as agents and phases ask for them."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.run.wording import hashes as hashes
from assay.run.wording import prompt as prompt

_ITEM = re.compile(r"^- \{([a-z_]+)\} (.*\n(?: .*\n)*)", re.MULTILINE)


def for_tools(text: str, tools: Collection[str]) -> str:
    """A prompt without its items about tools (`- {open} Open the …`) which are not there: nobody is told of them."""
    return _ITEM.sub(lambda found: f"- {found[2]}" if found[1] in tools else "", text)
