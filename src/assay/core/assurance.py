"""What a run may be called: verified, where every claim holds and one of them answers; else what is missing.

That a sentence is true to its source and that it answers what was asked are two things. Each is told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from assay.core.claims import HOLDING, Claim
from assay.core.translation import gettext as _
from assay.core.translation import ngettext, number

if TYPE_CHECKING:
    from assay.core.view.model import RunView


class Assurance(msgspec.Struct, frozen=True, kw_only=True):
    """What the claims of a report amount to.

    `failing` counts those which are not true to their sources; `answered` says that one answers the question, None
    where that could not be told.
    """

    claims: int
    failing: int
    answered: bool | None

    @property
    def whole(self) -> bool:
        """Whether every claim holds, and nothing says that none answers."""
        return self.claims > 0 and not self.failing and self.answered is not False


def assured(claims: Iterable[Claim]) -> Assurance:
    """What these claims amount to."""
    found = list(claims)
    graded = [claim.relevance for claim in found if claim.relevance]
    return Assurance(
        claims=len(found),
        failing=sum(claim.verdict not in HOLDING for claim in found),
        answered="answers" in graded if graded else None,
    )


def told(view: RunView) -> str:
    """Whether a run's report is verified, in words of the language in force; if it is not, which part is missing."""
    if view.gate is not None and not view.gate.passed:
        return _("did not pass its final check")
    if view.brief is not None and not view.brief.verify:
        return _("not verified: checking was switched off")
    if view.graded and view.status == "completed":
        return _graded(assured(view.claims))
    return _("its citations and counts passed the final check") if view.verified else _("not verified")


def _graded(found: Assurance) -> str:
    """What is said of a run whose claims were held against the question."""
    if not found.claims:
        return _("not verified: it states nothing which could be checked")
    if found.failing:
        return _failing(found)
    if found.answered is None:
        return _("verified: every sentence is true to its source; whether one answers the question could not be told")
    if not found.answered:
        return _("not verified: every sentence is true to its source, but none was found to answer the question")
    return _("verified: every sentence is true to its source, and one at least answers the question")


def _failing(found: Assurance) -> str:
    said = ngettext(
        "not verified: {count} sentence is not confirmed by its sources",
        "not verified: {count} sentences are not confirmed by their sources",
        found.failing,
    ).format(count=number(found.failing))
    if found.answered is False:
        return _("{text}, and none was found to answer the question").format(text=said)
    return said
