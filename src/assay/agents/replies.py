"""Reads models' replies: what they call and name, their faults, and what is still usable of a faulty one."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assay.agents.weak_models import stated_sentences
from assay.core.events import ToolsIgnored
from assay.core.lazy import regex
from assay.core.lexicon import stop_terms, terms
from assay.core.markers import strip_markers
from assay.core.messages import Message, Reply, Request, Task, ToolCall, ToolDefinition
from assay.core.relevance.topic_question import analysis_for
from assay.core.text import ends_sentence
from assay.core.translation import N_
from assay.core.translation import gettext as _
from assay.run.call_repair import decode_arguments as decode_arguments
from assay.run.call_repair import json_values as json_values
from assay.run.call_repair import read_calls as read_calls
from assay.run.call_repair import read_json as read_json
from assay.run.run import Run


def tool_names(tools: Iterable[ToolDefinition | ToolCall]) -> set[str]:
    """The names of tools, or of the called ones."""
    return {tool.name for tool in tools}


def first_call(calls: Sequence[ToolCall], name: str) -> ToolCall | None:
    """The first call of a tool; None if there is none."""
    return next((call for call in calls if call.name == name), None)


def one_line_text(value: object) -> str:
    """A text that a model wrote, on one line; anything else is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


_ID = regex(r"(?<![A-Za-z0-9.])S[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9]|\.[0-9])")
"""An id, with letters of other scripts around it too."""


def read_ids(ids: object) -> tuple[str, ...]:
    """The ids that a model wrote as a list or in a text, with whatever is around them: "[S1.1, S1.2]", "`S1.1`".

    A text without an id stands for itself, and names nothing; anything else is left out.
    """
    values = ids if isinstance(ids, list) else [ids]
    texts = (value.strip() for value in values if isinstance(value, str))
    return tuple(id for text in texts for id in _ID.findall(text) or [text.strip("[]")])


def retry_request(request: Request, reply: Reply, note: str) -> Request:
    """The request once more, after a reply that could not be read; `note` says what is wanted."""
    reply_messages = (Message(role="assistant", text=reply.text),) if reply.text.strip() else ()
    messages = (*request.messages, *reply_messages, Message(role="user", name="note", text=note))
    return msgspec.structs.replace(request, messages=messages)


# Texts of a model caught in a loop: found by what they say, not by their layout, and cut. Limits chosen by hand.

MIN_REPETITIONS = 4
"""Repetitions that make a loop."""
MIN_REPEATED_CHARS = 30
"""The least characters of a loop."""
MAX_LOOP_SENTENCES = 40
"""The most sentences or rows in one round of a loop."""
MAX_REPEATED_SHARE = 0.5
"""The share of a text that may repeat itself."""
_SHORT_ROUND, _LONG_ROUND, _ROUNDS = 6, 200, 6
_CITED = r"(?:[ \t]*\[[^\[\]\n]{1,80}\])+"
_CUT = regex(rf"\n|(?<=[.!?])(?:{_CITED}(?:[ \t]+|(?=\n)|\Z)|[ \t]+(?!\[))|(?<=[。！？])(?:{_CITED})?[ \t]*")
_NUMBER = regex(r"[ \t>]*[0-9]{1,4}\.")
_LINE_SIGNS = regex(r"[ \t>]*(?:[-*+•]|[0-9]{1,4}[.)]|\(?[a-z0-9]\))?[ \t]+|[ \t]+")
_RULE = regex(r"[\s|:=\-_*+.]*")
_TABLE_RULE = regex(r"[ \t>]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)*\|?[ \t]*")
_LABEL = regex(r".{0,80}[:：][*_ \t]*")


class TextUnit(msgspec.Struct, frozen=True):
    """A sentence, row or line at `[start, end)` of a text: its words, "" for mere structure."""

    start: int
    end: int
    words: str


def is_looping(text: str) -> bool:
    """True if a text is caught in a loop."""
    units = list(_units(text))
    return bool(_loops(units)) or _repeated_share(units) > MAX_REPEATED_SHARE or _final_round_length(text) > 0


def drop_loops(text: str) -> str:
    """The text with only the first round of each loop."""
    text = _drop_final_rounds(text)
    units = list(_units(text))
    dropped = {index for first, last in _loops(units) for index in range(first, last)}
    if _repeated_share([unit for index, unit in enumerate(units) if index not in dropped]) > MAX_REPEATED_SHARE:
        dropped.update(_repeated_units(units))
    pieces = [text[unit.start : unit.end] for index, unit in enumerate(units) if index not in dropped]
    return "".join(pieces).rstrip() if dropped else text


def whole_sentences(text: str) -> str:
    """The text up to its last complete sentence or row, without the rest that was cut off; "" if there is none."""
    units = list(_units(text))
    while units and not _ends_sentence(text, units[-1]):
        units.pop()
    return text[: units[-1].end].rstrip() if units else ""


def _ends_sentence(text: str, unit: TextUnit) -> bool:
    sentence = text[unit.start : unit.end].rstrip()
    return ends_sentence(strip_markers(sentence)) or (sentence[:1] == "|" and sentence.endswith("|"))


# units


def _units(text: str) -> Iterator[TextUnit]:
    """The text in pieces that together are the whole text."""
    start = 0
    lines = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n")[:-1])]  # where each begins
    structure = _structure_lines(text)
    cuts = (
        cut for cut in _CUT.finditer(text) if not _ends_item_number(text, _line_start(lines, cut.start()), cut.start())
    )
    for cut in [*cuts, None]:
        end = cut.end() if cut else len(text)
        if end > start:
            yield TextUnit(start, end, "" if _line_start(lines, start) in structure else _words_of(text[start:end]))
        start = end


def _line_start(lines: Sequence[int], position: int) -> int:
    """Where the line of the character at `position` begins; a long one is not searched again for each of its
    sentences.
    """
    return lines[bisect_right(lines, position) - 1]


def _ends_item_number(text: str, line: int, position: int) -> bool:
    """True if the number of a list item ends at `position`, in the line that begins at `line`."""
    return _NUMBER.fullmatch(text, line, position) is not None


def _structure_lines(text: str) -> set[int]:
    """Where the lines begin that are only structure."""
    line_starts = set()
    position = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        head = bool(line.strip()) and "-" in below and _TABLE_RULE.fullmatch(below) is not None
        if (
            head
            or line.lstrip(" \t>").startswith(("#", "```", "~~~"))
            or _RULE.fullmatch(line)
            or _LABEL.fullmatch(line)
        ):
            line_starts.add(position)
        position += len(line) + 1
    return line_starts


def _words_of(text: str) -> str:
    """The words of a piece, without markers, symbols and citations."""
    signs = _LINE_SIGNS.match(text)
    body = strip_markers(text[signs.end() :] if signs else text)
    return " ".join(re.findall(r"\w+", body.casefold()))


# loops


def _loops(units: Sequence[TextUnit]) -> list[tuple[int, int]]:
    """The rounds to leave out, as ranges of units: all of a loop except its first."""
    sentence_indexes = [index for index, unit in enumerate(units) if unit.words]
    sentences = [units[index].words for index in sentence_indexes]
    ranges: list[tuple[int, int]] = []
    position = 0
    while position < len(sentences):
        size, rounds = _loop_at(sentences, position)
        if size:
            last = position + size * rounds
            end = sentence_indexes[last] if last < len(sentence_indexes) else len(units)
            ranges.append((sentence_indexes[position + size], end))
            position = last
        position += 1
    return ranges


def _loop_at(sentences: Sequence[str], start: int) -> tuple[int, int]:
    """The length of a round of the loop that begins at `start`, and the number of rounds; (0, 0) for none."""
    for size in range(1, min(MAX_LOOP_SENTENCES, (len(sentences) - start) // MIN_REPETITIONS) + 1):
        if sentences[start] != sentences[start + size]:
            continue
        pattern = sentences[start : start + size]
        rounds = 1
        while sentences[start + size * rounds : start + size * (rounds + 1)] == pattern:
            rounds += 1
        if rounds >= MIN_REPETITIONS and sum(map(len, pattern)) >= MIN_REPEATED_CHARS:
            return size, rounds
    return 0, 0


def _repeated_units(units: Sequence[TextUnit]) -> list[int]:
    seen: set[str] = set()
    later = []
    for index, unit in enumerate(units):
        if len(unit.words) >= MIN_REPEATED_CHARS and unit.words in seen:
            later.append(index)
        seen.add(unit.words)
    return later


def _repeated_share(units: Sequence[TextUnit]) -> float:
    """The share of a text that repeats itself, if something is repeated often enough."""
    counts: dict[str, int] = {}
    for unit in units:
        counts[unit.words] = counts.get(unit.words, 0) + 1
    long = {sentence: count for sentence, count in counts.items() if len(sentence) >= MIN_REPEATED_CHARS}
    if not any(count >= MIN_REPETITIONS for count in long.values()):
        return 0.0
    repeated_chars = sum(len(sentence) * (count - 1) for sentence, count in long.items())
    return repeated_chars / max(1, sum(len(unit.words) for unit in units))


# loops inside one sentence


def _final_round_length(text: str) -> int:
    """The length of a round if a text ends by repeating the same few words, 0 if it does not."""
    tail = text.rstrip()[-_LONG_ROUND * _ROUNDS :]
    for size in range(_SHORT_ROUND, min(_LONG_ROUND, len(tail) // _ROUNDS) + 1):
        pattern = tail[-size:]
        if tail.endswith(pattern * _ROUNDS) and sum(map(str.isalpha, pattern)) >= size / 2:
            return size
    return 0


def _drop_final_rounds(text: str) -> str:
    """The text with one round of what its end repeats."""
    text = text.rstrip() if _final_round_length(text) else text
    size = _final_round_length(text)
    if not size:
        return text
    pattern, end = text[-size:], len(text)
    while text.endswith(pattern, 0, end - size):
        end -= size
    return text[:end]


def reply_defect(reply: Reply) -> str:
    """Why a reply's text cannot be used: empty, cut at its cap, or repeating itself; "" if it can."""
    if not reply.text.strip():
        return "it was empty"
    if reply.stop == "length":
        return "it was cut off because it was too long; be much shorter"
    if is_looping(reply.text):
        return "it repeated itself; say each thing once"
    return ""


# Reports that cite nothing: what they must have of the findings. Limits by hand.

MIN_TOPIC_SHARE = 0.25
"""The least share of a report's words that question and findings have; refusals have none of them."""
MIN_FOUND_SHARE = 0.6
"""The least share of a report's words that the findings have, if it says what was found."""
OFF_TOPIC = "it says nothing of the findings; write the report they give, and cite them"
UNCITED = "it cites nothing; write what the findings say, with the id of the passage after each sentence"


def uncited_defect(text: str, question: str, findings: Sequence[str]) -> str:
    """Why a report that cites nothing cannot be used: it refuses, or strays from the findings; "" if it can.

    One that only says what the findings do not say has nothing to cite.
    """
    if shared_share(text, "\n".join((question, *findings))) < MIN_TOPIC_SHARE:
        return OFF_TOPIC
    is_found = shared_share(text, "\n".join(findings)) >= MIN_FOUND_SHARE
    return "" if is_found or not stated_sentences(text) else UNCITED


def shared_share(text: str, topic: str) -> float:
    """The share (0 to 1) of a text's words, without the frequent ones, that `topic` has; 1 if it has no others."""
    analysis = analysis_for(topic)
    text_terms = {*terms(text, analysis)} - stop_terms(analysis)
    return len(text_terms.intersection(terms(topic, analysis))) / len(text_terms) if text_terms else 1.0


IGNORED = N_("{model} made no tool call: it may not support tools; try another model for the role analytical")


def log_ignored_tools(run: Run, model: str, task: Task) -> None:
    """Log that a model called no tool, although it was told to and reminded; `task` is the task of the request."""
    run.emit(ToolsIgnored(model=model, task=task, lane=run.lane))
    run.warn(_(IGNORED).format(model=model))


def salvage_text(reply: Reply) -> str:
    """The usable part of a reply's text: without rounds of a loop or a cut sentence; "" if nothing is."""
    text = drop_loops(reply.text)
    if reply.stop == "length":
        text = whole_sentences(text)
    return text.strip()
