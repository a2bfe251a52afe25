"""Labels of runs: what their owner calls them, for lists, logs and limits; a name, or a name and a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assay.core.errors import UsageError

MOST_LABELS, LONGEST_LABEL = 50, 512
STARRED = "starred"
"""The label of runs which their owner wants to find again; the page shows it as a star."""


def checked_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels which a run may have.

    Raises:
        UsageError: too many, or too long ones.
    """
    if len(labels) > MOST_LABELS or any(len(each) > LONGEST_LABEL for pair in labels.items() for each in pair):
        raise UsageError(f"a run has up to {MOST_LABELS} labels, names and values of up to {LONGEST_LABEL} characters")
    return dict(labels)


def relabelled(labels: Mapping[str, str], added: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """`labels` without those which are `removed`, and with those which are `added`.

    Raises:
        UsageError: a run may not have these.
    """
    if not all(name.strip() and name.isprintable() for name in added):
        raise UsageError("a label has a name of printable characters: name one as `to-read` or `project=tides`")
    return checked_labels({name: value for name, value in labels.items() if name not in removed} | dict(added))


def read_label(text: str) -> tuple[str, str]:
    """The name and the value of `name` or `name=value`."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()
