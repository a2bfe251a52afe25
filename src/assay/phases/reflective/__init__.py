"""The reflective strategy: one step after another, and after each a second look at the plan.

`work` goes through the steps; a step is done by `classic` (searches and pages chosen by code), by the research agent
all strategies share, or by `phases.analysis` (no search). `reflector` decides after each, `replanning` changes the
plan.
"""

from assay.phases.reflective.work import reflect

__all__ = ["reflect"]
