"""The milestones of a run which are read out to who cannot see the screen, in the language of the page."""

from __future__ import annotations

from functools import singledispatch

from assay.core import events
from assay.core.claims import VERDICTS
from assay.core.events import Event
from assay.core.phrases import in_words, verdict
from assay.core.translation import N_, gettext, listed
from assay.server.page.words import counted, measure_word

_CONTROLLED = {"pause": N_("Paused"), "steer": N_("What you said is heeded")}


@singledispatch
def announcement(event: Event) -> str:
    """The sentence for an event, empty for one which is not read out."""
    return ""


@announcement.register
def _(event: events.RunResumed) -> str:
    return gettext("The run was taken up again")


@announcement.register
def _(event: events.RunWaiting) -> str:
    return (
        gettext("Waiting for you to approve the plan") if event.topic == "plan" else gettext("Waiting for your answers")
    )


@announcement.register
def _(event: events.PlanApproved) -> str:
    return counted(len(event.plan.steps), "The plan is ready: {count} step", "The plan is ready: {count} steps")


@announcement.register
def _(event: events.AgentFailed) -> str:
    return gettext("Agent {number} failed: {why}").format(number=event.lane, why=event.error)


@announcement.register
def _(event: events.FindingAdded) -> str:
    cited = counted(len(event.passages), "{count} passage cited", "{count} passages cited")
    if event.uncited:
        return gettext("Agent {number} reported and cited nothing").format(number=event.lane)
    return gettext("Agent {number} reported: {cited}").format(number=event.lane, cited=cited)


@announcement.register
def _(event: events.ReportStarted) -> str:
    return gettext("The report is being written")


@announcement.register
def _(event: events.VerifySummary) -> str:
    found = [f"{count} {verdict(name)}" for name in VERDICTS if (count := getattr(event.summary, name))]
    checked = counted(event.summary.claims, "{count} claim was checked", "{count} claims were checked")
    return f"{checked}: {listed(found)}" if found else checked


@announcement.register
def _(event: events.BudgetLow) -> str:
    return gettext("80 % of the limit is used: {measure}").format(measure=measure_word(event.measure))


@announcement.register
def _(event: events.RunExhausted) -> str:
    return gettext("Research ends: {why}").format(why=in_words(event.reason))


@announcement.register
def _(event: events.RunCancelled) -> str:
    return gettext("Cancelled; what was found is kept")


@announcement.register
def _(event: events.ControlApplied) -> str:
    if event.lane:
        return gettext("Agent {number} is stopped").format(number=event.lane)
    return gettext(_CONTROLLED[event.action]) if event.action in _CONTROLLED else ""


@announcement.register
def _(event: events.ControlRejected) -> str:
    return gettext("Not heeded: {why}").format(why=event.why)


READ_OUT = frozenset(kind.kind for kind in announcement.registry if issubclass(kind, Event) and kind is not Event)
"""The kinds of events which are read out."""
