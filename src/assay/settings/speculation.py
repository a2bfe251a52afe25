"""What is done ahead of need."""

from __future__ import annotations

from pydantic import Field

from assay.settings.sections import SettingsTable


class SpeculationSettings(SettingsTable):
    """What runs search and read before anybody asks for it. They find the same without it, and take longer."""

    question: bool = Field(False, description="whether the web is searched for the question while triage decides")
    names: bool = Field(False, description="whether what the question names is searched for while the plan is written")
    pages: bool = Field(True, description="whether the best pages of a search are read before anybody opens them")
    paid: bool = Field(False, description="whether search providers with a key are asked ahead too")
    share: float = Field(
        0.15, ge=0, le=0.15, description="most of a run's searches and pages which are done for nothing; 0: none ahead"
    )
