"""The reflective strategy: one step at a time, and a new look at the plan after each.

`work` goes through the steps and changes the plan. A step is done by the classic researcher (code chooses searches and
pages), by the research agent that all strategies share, or by `phases.analysis` (no search). `reflector` decides after
each step.
"""

from assay.phases.reflective.work import reflect

__all__ = ["reflect"]
