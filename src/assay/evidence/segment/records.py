"""Lines with a key and a value: the header of a document, and records elsewhere."""

from __future__ import annotations

from assay.evidence.segment.lines import FIELD, LONG_KEY, LONG_VALUE, SENTENCE, TextLine, is_record

LONG_LINE = 4_000
"""What of a line is looked at to tell whether it is prose."""
FEWEST, MORE = 2, 3
"""Lines with keys which are records: in a paragraph of nothing else, and where other lines follow."""


def record_run(lines: list[TextLine], at: int) -> tuple[int, int]:
    """Where the lines with keys end which begin at a line, and how many there are."""
    first, keys = at, 0
    while at < len(lines) and (body := lines[at].body):
        deeper = at > first and lines[at].indent > lines[first].indent
        if not deeper:
            if not is_record(body) or (at == first and SENTENCE.search(body, 0, LONG_LINE)):
                break
            keys += 1
        at += 1
    return at, keys


def is_header(group: list[TextLine]) -> bool:
    """Whether all lines are `key: value` or go on with the value above: several, or a single short one.

    Where the first goes on with another sentence it is prose.
    """
    if SENTENCE.search(group[0].body, 0, LONG_LINE):
        return False
    keys = 0
    for number, line in enumerate(group):
        if line.text[0] in " \t" and number:
            continue
        match = FIELD.match(line.body)
        if match is None or len(match["key"]) > LONG_KEY:
            return False
        keys += 1
    if keys > 1:
        return True
    return len(group) == 1 and len(group[0].body) <= LONG_VALUE and group[0].body[-1] not in ".!?:;,。！？"
