"""Labels of runs as stores keep them: one text, in which a label is found to the letter."""

from __future__ import annotations

import msgspec

from assay.core.ports.lists import read_label


class _Brief(msgspec.Struct, frozen=True):
    labels: dict[str, str] = {}


def given_labels(brief: bytes) -> dict[str, str]:
    """The labels which a run was begun with."""
    try:
        return msgspec.json.decode(brief, type=_Brief).labels
    except msgspec.MsgspecError:  # of another release
        return {}


def written_labels(labels: dict[str, str]) -> str:
    """Labels as one text: those of a JSON object, each between two commas; "" for none."""
    return f",{msgspec.json.encode(labels, order='sorted').decode()[1:-1]}," if labels else ""


def stored_labels(text: str) -> dict[str, str]:
    """The labels of such a text."""
    return msgspec.json.decode(f"{{{text[1:-1]}}}", type=dict[str, str]) if text else {}


def label_marks(wanted: str) -> tuple[str, ...]:
    """What stands in the text of whatever has the label `wanted`: one of these.

    A quotation mark within a name or a value stands behind a backslash: no text looks like the begin of a label.
    """
    name, value = read_label(wanted)
    named = f",{msgspec.json.encode(wanted).decode()}:"
    if "=" not in wanted:
        return (named,)
    return (named, f",{msgspec.json.encode(name).decode()}:{msgspec.json.encode(value).decode()},")
