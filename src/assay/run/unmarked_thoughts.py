"""Thinking which a model writes before its prose and does not mark: "Okay, the user asks … Let me start with …".

Nothing tells it for certain. It is cut where all of this holds: the text opens as thoughts do, every paragraph which is
cut speaks of the task itself, none of them cites anything, and what is left begins with a heading or cites passages.
"""

from __future__ import annotations

import re

_ASKED = r"the user (?:asks|wants|is asking|asked|has asked|would like)|the question (?:asks|is)|let(?:'s|’s| me)"
_WE = r"we (?:need|have to|are asked|should|must)"
_OPENS = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|hmm+|well|so|right|first|now)\b[,.:… ]*)*"
    rf"(?:{_ASKED}|{_WE}|i(?:'ll|’ll| need| should| will| have to| must| am asked| can| want)|my task"
    r"|looking at the (?:findings|passages))\b"
    r"|(?:好的|首先|嗯)[，,].{0,40}?(?:用户|我)|用户(?:问|想|要)",
    re.IGNORECASE,
)
_OF_THE_TASK = re.compile(
    rf"\b(?:{_ASKED}|{_WE}|i(?:'ll|’ll|'m|’m| need| should| will| have| must| can| think| want)"
    r"|my (?:task|answer|report)|the (?:findings|instructions|rules) (?:say|state|show|give|require))\b"
    r"|用户|我(?:需要|应该|要|会)",
    re.IGNORECASE,
)
_CITES = re.compile(r"\bS\d+\.\d+")
_HEADING = re.compile(r"#{1,6} ")
_BREAK = re.compile(r"\n[ \t]*(?:\n|(?=#{1,6} ))|\n(?=---+\s*\n)")


def musing(text: str) -> int:
    """How many code points of thinking `text` begins with; 0 where it is not clear that it does."""
    start = len(text) - len(text.lstrip())
    if not _OPENS.match(text, start):
        return 0
    while start < len(text):
        found = _BREAK.search(text, start)
        end = found.end() if found else len(text)
        paragraph = text[start:end].strip()
        if paragraph and not _thinks(paragraph):
            break
        start = end
    rest = text[start:]
    return start if _HEADING.match(rest) or _CITES.search(rest) else 0


def _thinks(paragraph: str) -> bool:
    """Whether a paragraph speaks of the task and not of its subject."""
    if _HEADING.match(paragraph) or _CITES.search(paragraph):
        return False
    return not paragraph.strip("-* \n") or _OF_THE_TASK.search(paragraph) is not None
