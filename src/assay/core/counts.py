"""Counted things in words, each with the plural which the language in force has for its number."""

from __future__ import annotations

from assay.core.translation import ngettext, number


def _counted(said: str, count: int) -> str:
    return said.format(count=number(count))


def claims(count: int) -> str:
    """`3 claims`."""
    return _counted(ngettext("{count} claim", "{count} claims", count), count)


def citations_dropped(count: int) -> str:
    """`2 citations of nothing dropped`."""
    return _counted(
        ngettext("{count} citation of nothing dropped", "{count} citations of nothing dropped", count), count
    )


def sources(count: int) -> str:
    """`3 sources`."""
    return _counted(ngettext("{count} source", "{count} sources", count), count)


def documents(count: int) -> str:
    """`3 documents`."""
    return _counted(ngettext("{count} document", "{count} documents", count), count)


def queries(count: int) -> str:
    """`3 queries`."""
    return _counted(ngettext("{count} query", "{count} queries", count), count)


def hits(count: int) -> str:
    """`3 hits`."""
    return _counted(ngettext("{count} hit", "{count} hits", count), count)


def model_calls(count: int) -> str:
    """`3 model calls`."""
    return _counted(ngettext("{count} model call", "{count} model calls", count), count)


def unpriced_calls(count: int) -> str:
    """`3 model calls without a known price`."""
    said = ngettext("{count} model call without a known price", "{count} model calls without a known price", count)
    return _counted(said, count)


def searches(count: int) -> str:
    """`3 searches`."""
    return _counted(ngettext("{count} search", "{count} searches", count), count)


def pages(count: int) -> str:
    """`3 pages`."""
    return _counted(ngettext("{count} page", "{count} pages", count), count)


def agents(count: int) -> str:
    """`3 agents`."""
    return _counted(ngettext("{count} agent", "{count} agents", count), count)


def checks(count: int) -> str:
    """`3 checks`."""
    return _counted(ngettext("{count} check", "{count} checks", count), count)


def revisions(count: int) -> str:
    """`revised 3 times`."""
    return _counted(ngettext("revised {count} time", "revised {count} times", count), count)
