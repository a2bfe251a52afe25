"""What is done ahead of need."""

from __future__ import annotations

from pydantic import Field

from assay.settings.sections import SettingsTable


class SpeculationSettings(SettingsTable):
    """What runs search and read before anybody asks for it. They find the same without it, and take longer."""

    question: bool = Field(False, description="whether to search the web for the question during triage")
    names: bool = Field(False, description="whether to search for names in the question while the plan is written")
    pages: bool = Field(True, description="whether to fetch the best pages of a search before an agent opens them")
    paid: bool = Field(False, description="whether to use search providers with a key for this too")
    share: float = Field(
        0.15,
        ge=0,
        le=0.15,
        description="largest share of a run's searches and pages that may turn out unused; 0: no speculation",
    )
