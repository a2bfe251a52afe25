"""How near passages are in meaning to what is asked: cosines, as an embedder sees both."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.core.passage_context import ShownPassage, ShownSource
from assay.core.text import words


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """Cosines by question, and of each question by the id of the passage."""

    cosines: dict[str, dict[str, float]] = {}

    def of(self, question: str) -> Mapping[str, float]:
        """The cosines of passages with `question`; where it was not compared, with the one most like it in words."""
        if question in self.cosines:
            return self.cosines[question]
        asked = set(words(question))
        best, most = "", 0.0
        for known in self.cosines:
            said = set(words(known))
            share = len(asked & said) / (len(asked | said) or 1)
            if share > most:
                best, most = known, share
        return self.cosines.get(best, {})


def passage_text(above: str, about: str, text: str) -> str:
    """A passage as an embedder reads it: the heading or title it stands under, what it is about, its words."""
    return "\n".join(filter(None, (above, about, text)))


def shown_text(source: ShownSource, passage: ShownPassage) -> str:
    """The same of a passage as a model was shown it."""
    return passage_text(passage.under.rpartition(" > ")[2] or source.title, passage.about, passage.text)
