"""Verdicts, kinds of sources and notices, and what a step came to, in words of the language in force."""

from __future__ import annotations

from assay.core.clean import one_line
from assay.core.sources import Notice
from assay.core.translation import N_, date_of, gettext

VERDICTS = {
    "supported": N_("supported"),
    "quoted": N_("quoted"),
    "partial": N_("partial"),
    "unsupported": N_("unsupported"),
    "contradicted": N_("contradicted"),
    "unchecked": N_("unchecked"),
}
RELEVANCE = {
    "answers": N_("answers the question"),
    "related": N_("related"),
    "unrelated": N_("not related"),
}
SOURCES = {
    "primary": N_("primary"),
    "official": N_("official"),
    "scholarly": N_("scholarly"),
    "news": N_("news"),
    "reference": N_("reference"),
    "forum": N_("forum"),
}
NOTICES = {
    "retraction": N_("retraction"),
    "withdrawal": N_("withdrawal"),
    "removal": N_("removal"),
    "correction": N_("correction"),
    "erratum": N_("erratum"),
    "expression of concern": N_("expression of concern"),
}
STEPS = {
    "pending": N_("pending"),
    "running": N_("running"),
    "completed": N_("completed"),
    "skipped": N_("skipped"),
    "partly": N_("answered in part"),
    "open": N_("open"),
}
MODES = {
    "simple": N_("Direct answer"),
    "web_search": N_("Web search"),
    "deep_research": N_("Deep research"),
    "agent": N_("One research agent"),
    "auto": N_("Mode chosen by the question"),
}
DEPTHS = {"light": N_("light"), "medium": N_("medium"), "extended": N_("extended")}


def verdict(name: str) -> str:
    """A verdict as a word; one that is not known, as it is."""
    return gettext(VERDICTS[name]) if name in VERDICTS else name


def relevance(name: str) -> str:
    """How far a sentence answers the question, in words."""
    return gettext(RELEVANCE[name]) if name in RELEVANCE else name


def source_kind(name: str) -> str:
    """What kind of source it is."""
    return gettext(SOURCES[name]) if name in SOURCES else name


def step_status(name: str) -> str:
    """What became of a step of the plan."""
    return gettext(STEPS[name]) if name in STEPS else name


def mode(name: str) -> str:
    """How the question was worked on."""
    return gettext(MODES[name]) if name in MODES else name


def depth(name: str) -> str:
    """How far research went."""
    return gettext(DEPTHS[name]) if name in DEPTHS else name


def reason(said: str) -> str:
    """Why a claim has its verdict: one of code's fixed reasons in the language in force, any other as it was given."""
    return gettext(said) if said else ""


def notice_line(notice: Notice) -> str:
    """A notice on a line: what it is, and its day."""
    kind = one_line(notice.kind.replace("_", " "))
    said = gettext(NOTICES[kind]) if kind in NOTICES else kind
    return " ".join(filter(None, (said, one_line(date_of(notice.date)))))
