"""What was asked for and a model which only quotes cannot do."""

from __future__ import annotations

from assay.core.languages import language_name
from assay.core.translation import N_, speech
from assay.core.translation import gettext as _
from assay.phases.case import Case
from assay.run.run import Run

INSTRUCTIONS = N_("The instructions were not followed: the model which wrote this report, {name}, can only quote.")
LANGUAGE = N_(
    "The report was asked for in {language}: the model which wrote it, {name}, can only quote, and writes no language "
    "but those of its sources."
)


def unheeded(run: Run, case: Case) -> tuple[str, ...]:
    """A sentence for each wish the writer could not heed; none where it writes text of its own."""
    writer = run.profile("complex")
    if not writer.quotes:
        return ()
    instructions = (_(INSTRUCTIONS).format(name=writer.name),) if case.instructions.strip() else ()
    return (*_language(run, case, writer.name), *instructions)


def _language(run: Run, case: Case, name: str) -> tuple[str, ...]:
    """What is quoted from documents which are in the language asked for is in it."""
    asked = run.brief.language if run.brief.language_asked else ""
    held = {language for language in case.held.languages if language} if case.held else set()
    wanted = asked.partition("-")[0]
    if not asked or (held == {wanted} and not run.brief.scope.web):
        return ()
    return (_(LANGUAGE).format(language=language_name(asked, speech().locale), name=name),)
