"""A model on loopback that researches real pages: `python bench/real_pages_server.py`.

It answers at once: eight agents in three rounds, each with four searches, and four found pages that it opens. Like
`simulated_server`, it prints its port first, and what it served when its input ends.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence

from scenario import Asked, ScriptedReply, written
from simulated_server import Server, serve

from assay.verify.judge.control import CONTROL_QUESTIONS

QUESTION = "How does Python's standard library help with files, processes, networks, dates, text, numbers and data?"
TOPICS = {
    "Reading and writing files": (
        "open file read write",
        "pathlib Path glob",
        "tempfile directory",
        "shutil copy tree",
    ),
    "Starting processes": ("subprocess run process", "multiprocessing pool", "signal handler", "threading lock"),
    "Talking over networks": ("asyncio streams connection", "socket server", "http client request", "ssl certificate"),
    "Dates and times": ("datetime timezone", "calendar month", "time sleep clock", "zoneinfo daylight saving"),
    "Working with text": ("regular expression match", "string formatting", "unicode normalize", "textwrap indent"),
    "Numbers": ("decimal rounding context", "fractions rational", "random sample choice", "statistics mean median"),
    "Keeping data": ("sqlite3 cursor connection", "json encoder", "pickle protocol", "csv dialect reader"),
    "Finding mistakes": ("logging handler level", "unittest mock patch", "pdb debugger breakpoint", "traceback format"),
}
BACKGROUND = ("python standard library overview", "what is new in python", "python tutorial")
ROUNDS = ((0, 3), (3, 6), (6, 8))
"""Which topics are sent in each round."""
FINDING, REPORT = 1_200, 6_000
"""Characters of a finding, and of the report."""
PARTS = [{"part": number, "status": "answered", "reason": ""} for number in range(1, 13)]


def answer(question: Asked) -> ScriptedReply:
    """The reply to a question."""
    match question.task:
        case "triage":
            return ScriptedReply(calls=(("generate_plan", {"complexity": "moderate", "depth": "medium"}),))
        case "background":
            return ScriptedReply(calls=tuple(("search", {"query": query}) for query in BACKGROUND))
        case "plan":
            steps = [{"title": title, "description": f"{title} in Python."} for title in tuple(TOPICS)[:6]]
            return ScriptedReply(
                json.dumps({"title": "Python's library", "thought": "Topic by topic.", "steps": steps})
            )
        case "orchestrate":
            return _sent(question.turn)
        case "assess":
            return ScriptedReply(json.dumps({"parts": PARTS}))
        case "research":
            return _researched(question)
        case "find":
            return ScriptedReply(written(question.passages, FINDING))
        case "write":
            return ScriptedReply("# Python's standard library\n\n" + written(question.passages, REPORT))
        case "judge":
            is_control = any(control.sentence in question.subject for control in CONTROL_QUESTIONS)
            ruling = "unsupported" if is_control else "supported"
            verdict = {"slots": [], "reason": "It says so.", "verdict": ruling}
            return ScriptedReply(calls=(("verdict", verdict),))
    return ScriptedReply("supported")


def _sent(turn: int) -> ScriptedReply:
    if turn >= len(ROUNDS):
        return ScriptedReply(calls=(("generate_report", {}),))
    topics = tuple(TOPICS)[slice(*ROUNDS[turn])]
    return ScriptedReply(
        calls=tuple(("research_agent", {"task": f"{topic}\nFind the modules and calls."}) for topic in topics)
    )


def _researched(question: Asked) -> ScriptedReply:
    """A search, the best page found, and so on; two pages at once in between."""
    queries = TOPICS[question.subject]
    found = _sources(question.passages)
    turns: tuple[tuple[tuple[str, object], ...], ...] = (
        (("search", {"query": queries[0]}),),
        (("search", {"query": queries[1]}), ("open", {"documents": found[:2]})),
        (("search", {"query": queries[2]}), ("search", {"query": queries[3]})),
        (("open", {"documents": found[-2:]}),),
    )
    if question.turn >= len(turns):
        return ScriptedReply("That is what was to be found.")
    return ScriptedReply(calls=turns[question.turn])  # type: ignore[arg-type]


def _sources(passages: Sequence[tuple[str, str]]) -> list[str]:
    """The sources shown, in the order in which they were."""
    return list(dict.fromkeys(found[0] for id, _ in passages if (found := re.match(r"S\d+", id))))


if __name__ == "__main__":
    asyncio.run(serve(Server(answer, paced=False)))
