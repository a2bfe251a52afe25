"""Phrases used in several parts of reports, in the current language: verdicts, counts, endings, notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.core.clean import one_line
from assay.core.sources import Notice
from assay.core.translation import N_, count_phrase, format_report_date, gettext, record_statement

MISSING = N_("What could not be found")
"""The heading of the last section of a report."""
NOTHING = N_("Nothing about this was found.")
NOT_FOUND = N_("The documents searched hold nothing that answers this question.")
BUILT_IN_NOTE = N_(
    "Compiled by Assay's built-in extractive model: every sentence is quoted verbatim from the source it cites, "
    "or names a field of its header."
)
TABLES_NOTE = N_(
    "Compiled by Assay's built-in extractive model: every sentence is quoted verbatim from the source it cites, "
    "or states what code read in its fields and tables or computed from them."
)
CLOSEST = N_("Closest passages")
FURTHER = N_("Further passages")


def missing_heading() -> str:
    """The heading of what could not be found."""
    return record_statement(gettext(MISSING), "missing")


def closest_heading() -> str:
    """The heading of the passages nearest to a question that nothing answers."""
    return record_statement(gettext(CLOSEST))


def further_heading() -> str:
    """The heading of what was found for a question beside the answer."""
    return record_statement(gettext(FURTHER))


def nothing_found_text() -> str:
    """Replaces empty findings or an empty section."""
    return record_statement(gettext(NOTHING))


def no_answer_text() -> str:
    """Replaces an answer if the documents have none."""
    return record_statement(gettext(NOT_FOUND))


def built_in_note(tables: bool = False) -> str:
    """The built-in model's note about its reports, a paragraph in italics; `tables` says that it read tables."""
    return f"*{record_statement(gettext(TABLES_NOTE if tables else BUILT_IN_NOTE))}*"


def record_phrases() -> None:
    """Render all of them once: a model's reply or a finding from a log may contain one."""
    for phrase in (missing_heading, further_heading, nothing_found_text, no_answer_text, built_in_note):
        phrase()
    built_in_note(tables=True)


# Counted things in words, each with the plural form that the current language has for its number.

claims = count_phrase("{count} claim", "{count} claims")
citations_dropped = count_phrase("{count} citation of nothing dropped", "{count} citations of nothing dropped")
sources = count_phrase("{count} source", "{count} sources")
documents = count_phrase("{count} document", "{count} documents")
queries = count_phrase("{count} query", "{count} queries")
hits = count_phrase("{count} hit", "{count} hits")
model_calls = count_phrase("{count} model call", "{count} model calls")
unpriced_calls = count_phrase("{count} model call without a known price", "{count} model calls without a known price")
searches = count_phrase("{count} search", "{count} searches")
pages = count_phrase("{count} page", "{count} pages")
agents = count_phrase("{count} agent", "{count} agents")
checks = count_phrase("{count} check", "{count} checks")
revisions = count_phrase("revised {count} time", "revised {count} times")


# Verdicts, kinds of sources and notices, and statuses of steps, in words of the current language.

VERDICTS = {
    "supported": N_("supported"),
    "quoted": N_("quoted"),
    "partial": N_("partial"),
    "unsupported": N_("unsupported"),
    "contradicted": N_("contradicted"),
    "unchecked": N_("unchecked"),
}
MEANINGS = {
    "quoted": N_("Copied word for word from its source."),
    "supported": N_("The source says it in other words."),
    "partial": N_("The source says only a part of it."),
    "unsupported": N_("The passages it was compared with do not say it."),
    "contradicted": N_("A passage says something else."),
    "unchecked": N_("The check could not decide: read its source yourself."),
}
"""What each verdict says of a sentence."""
RELEVANCE = {
    "answers": N_("answers the question"),
    "related": N_("related to the question"),
    "unrelated": N_("not about the question"),
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


def _name_phrase(words: Mapping[str, str]) -> Callable[[str], str]:
    """Words for names, in the current language; an unknown name is unchanged."""
    return lambda name: gettext(words[name]) if name in words else name


verdict = _name_phrase(VERDICTS)
relevance = _name_phrase(RELEVANCE)
source_kind = _name_phrase(SOURCES)
step_status = _name_phrase(STEPS)
mode = _name_phrase(MODES)
depth = _name_phrase(DEPTHS)


def verdict_reason(text: str) -> str:
    """Why a claim has its verdict: a fixed reason of code in the current language, any other unchanged."""
    return gettext(text) if text else ""


def notice_line(notice: Notice) -> str:
    """A notice on a line: its kind and its date."""
    kind = one_line(notice.kind.replace("_", " "))
    return " ".join(filter(None, (_name_phrase(NOTICES)(kind), one_line(format_report_date(notice.date)))))


# Why a run ended, by its stop reason, for a reader.

STOP_REASONS: dict[str, str] = {
    "done": N_("Research ended by itself."),
    "no_evidence": N_("Nothing was found that answers the question."),
    "time": N_("The time limit was reached."),
    "usd": N_("The money limit was reached."),
    "tokens": N_("The token limit was reached."),
    "searches": N_("The limit of searches was reached."),
    "pages": N_("The limit of pages was reached."),
    "agents": N_("The limit of agents was reached."),
    "finished_early": N_("Research was ended early on request."),
    "stopped": N_("The agent was stopped on request."),
    "no_model": N_("No model could be used."),
    "no_search": N_("No search service could be used."),
    "unwritten": N_("No model could finish the report."),
    "cancelled": N_("The run was cancelled."),
    "failed": N_("The run failed."),
    "bug": N_("The run failed because of a bug in Assay."),
}
"""Every stop reason, and its sentence for a reader."""


def stop_reason_phrase(reason: str) -> str:
    """A stop reason inside a sentence: "the token limit was reached"; an unknown one unchanged."""
    if reason not in STOP_REASONS:
        return reason.removesuffix(".")
    text = gettext(STOP_REASONS[reason]).rstrip("。।.")
    return text[:1].lower() + text[1:]


def ended_by_text(reason: str) -> str:
    """What ended research before it was done: a limit, or its owner."""
    if reason == "finished_early":
        return stop_reason_phrase(reason)
    return gettext("research was ended by a limit: {why}").format(why=stop_reason_phrase(reason))


LIMIT_REASONS: frozenset[str] = frozenset(
    ("time", "usd", "tokens", "searches", "pages", "agents", "finished_early", "unwritten")
)
"""The stop reasons of runs that ended before everything was done, but with a report."""
UNANSWERED_REASONS: frozenset[str] = frozenset(("no_model", "no_search"))
"""The stop reasons of failed runs that ask again when they are resumed."""
