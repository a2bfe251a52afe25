"""Runs for commands, which speak English whatever the language of a report: its own text stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from assay.core.claims import Claim
from assay.core.events import Envelope
from assay.core.lazy import lazy_module
from assay.core.milestones import progress_lines
from assay.core.view import RunView

english = lazy_module("assay.locale.english")  # only runs need it


class ProgressLines:
    """The lines of a run's events, one after another, at a verbosity."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity, self._decode = verbosity, english.EnglishEvents().decode

    def lines_of(self, envelope: Envelope) -> list[str]:
        return progress_lines(envelope, self._verbosity, self._decode)


def english_view(view: RunView) -> RunView:
    """A run with its warnings and the reasons of its verdicts and coverage in English."""
    locale = view.brief.locale if view.brief else ""
    if not locale:
        return view
    say = partial(_in_english, locale)
    replace = msgspec.structs.replace
    return replace(
        view,
        warnings=tuple(replace(warning, message=say(warning.message)) for warning in view.warnings),
        coverage=tuple(replace(part, reason=say(part.reason)) for part in view.coverage),
        claims=english_claims(view.claims, locale),
        removed=tuple(replace(claim, reason=say(claim.reason), why=say(claim.why)) for claim in view.removed),
    )


def english_claims(claims: Iterable[Claim], locale: str) -> tuple[Claim, ...]:
    """Claims with the reasons of their verdicts in English."""
    return tuple(msgspec.structs.replace(claim, reason=_in_english(locale, claim.reason)) for claim in claims)


def _in_english(locale: str, text: str) -> str:
    return english.in_english(text, locale) if locale and text else text
