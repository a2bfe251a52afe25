"""A scripted research over a few invented documents, for measuring the engine: every request and its reply.

A model in the process (`reply`) and a server that only sees the HTTP requests (`reply_to`) give the same replies.
`needs` says which call needs the results of which others; the longest chain of a run follows from that.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from assay.core.messages import Message, Reply, Request, ToolCall
from assay.core.ports.store import Store
from assay.core.sources import Document, Snapshot, sha256

SIGNS_A_TOKEN = 4
MAX_PARTS = 12
"""Parts of the question and the plan which are judged at most."""
_JUDGED = [{"part": number, "status": "answered", "reason": ""} for number in range(1, MAX_PARTS + 1)]
QUESTION = "How do the tides of Brest, Genoa, Bergen and Lisbon compare?"
SHARED_QUERY, SHARED_PAGE = "tide gauges of Europe", "page-0"
PASSAGE = re.compile(r"^\[(S\d+\.\d+)\] (.+)$", re.MULTILINE)
STEP_DONE = re.compile(r"Step (\d+) has just been worked on")
FRAMED = re.compile(r"<(\w+)>\n(.*)\n</\1>", re.DOTALL)


class Subject(NamedTuple):
    """What one agent works on: the calls of each of its turns, and how many tokens its findings have."""

    title: str
    turns: tuple[tuple[tuple[str, str], ...], ...]
    finding: int


SUBJECTS = (
    Subject(
        "Tides of Brest",
        (
            (("search", "tide range of Brest"), ("search", SHARED_QUERY)),
            (("fetch", SHARED_PAGE), ("fetch", "page-1")),
        ),
        150,
    ),
    Subject(
        "Tides of Genoa",
        (
            (("search", SHARED_QUERY), ("search", "tide range of Genoa")),
            (("fetch", SHARED_PAGE), ("fetch", "page-2")),
            (("search", "Ligurian sea level"), ("fetch", "page-3")),
        ),
        250,
    ),
    Subject(
        "Tides of Bergen",
        (
            (("search", "tide range of Bergen"),),
            (("search", "Norwegian tide tables"), ("fetch", "page-4")),
            (("fetch", "page-5"),),
            (("search", "storm surges at Bergen"),),
        ),
        200,
    ),
    Subject("Tides of Lisbon", ((("search", "tide range of Lisbon"),), (("fetch", "page-6"),)), 200),
)
BACKGROUND = ("tides of European ports", "tide range", "mean sea level")
FIRST_SENT = 3
TASK_OF = {
    "generate_plan": "triage",
    "research_agent": "orchestrate",
    "fetch": "research",
    "open": "research",
    "verdict": "judge",
}
"""What a call is for, by a tool it offers."""
FILLER = "And {:06d}? "
"""States nothing, and says something else each time: what is said again and again is a model caught in a loop."""
REPORT = 600
_REPORTS = itertools.count(1)
"""Every report has a title of its own: what is kept of one report must not make the next one cheap."""


class Asked(NamedTuple):
    """A question to the model: its task, the agent's subject or the judge's sentence, how many replies came before,
    passages shown.
    """

    task: str
    subject: str
    turn: int
    passages: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """What the call is called in `needs`."""
        return f"{self.task}:{self.subject}:{self.turn}"


class ScriptedReply(NamedTuple):
    """The answer to it."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def asked(request: Request) -> Asked:
    """What a request asks."""
    return _asked(request.task, request.messages)


def asked_over_http(body: Mapping[str, Any]) -> Asked:
    """What the body of a chat completion asks; what it is for is told by its tools and by the names of its parts."""
    messages = tuple(map(_message, body["messages"]))
    return _asked(_task({tool["function"]["name"] for tool in body.get("tools", ())}, messages), messages)


def _message(sent: Mapping[str, Any]) -> Message:
    role, text = sent["role"], sent.get("content") or ""
    if role == "system":
        return Message(role="user", name="system")
    framed = FRAMED.fullmatch(text) if role == "user" else None
    return Message(role=role, name=framed[1], text=framed[2]) if framed else Message(role=role, text=text)


def _task(tools: set[str], messages: Sequence[Message]) -> str:
    names = {message.name for message in messages}
    if "report_findings" in names:
        return "find"
    if {"coverage", "plan"} <= names:
        return "write"
    if "parts" in names and "plan" not in names:
        return "assess"
    if tools:
        for tool, task in TASK_OF.items():
            if tool in tools:
                return task
        return "background"
    rules = next((message.text for message in messages if message.name == "rules"), "")
    if STEP_DONE.search(rules):
        return "reflect"
    return "plan"


def _asked(task: str, messages: Sequence[Message]) -> Asked:
    named = (message.text.partition("\n")[0] for message in messages if message.name in ("task", "sentence"))
    subject = next(named, "")
    turn = sum(message.role == "assistant" for message in messages)
    if task == "reflect":
        rules = next(message.text for message in messages if message.name == "rules")
        turn = int(STEP_DONE.findall(rules)[0])
    if task == "find":
        turn = 0
    shown = (PASSAGE.findall(message.text) for message in messages)
    return Asked(task, subject, turn, tuple(pair for found in shown for pair in found))


def answer(question: Asked, *, after: bool = False) -> ScriptedReply:
    """The reply to a question. With `after` the orchestrator sends the last agent at once: it needs only the first."""
    match question.task:
        case "triage":
            return ScriptedReply(calls=(("generate_plan", {"complexity": "moderate", "depth": "medium"}),))
        case "background":
            return ScriptedReply(calls=tuple(("search", {"query": query}) for query in BACKGROUND))
        case "plan":
            steps = [{"title": each.title, "description": f"{each.title}, in metres"} for each in SUBJECTS]
            return ScriptedReply(json.dumps({"title": "Tides", "thought": "Port by port.", "steps": steps}))
        case "orchestrate":
            return _decided(question.turn, after)
        case "reflect":
            decided = {"reasoning": "One more port is known.", "decision": "continue", "changes": []}
            return ScriptedReply(json.dumps({**decided, "coverage": _JUDGED}))
        case "assess":
            return ScriptedReply(json.dumps({"parts": _JUDGED}))
        case "research":
            return _researched(question)
        case "find":
            return ScriptedReply(written(question.passages, _subject(question.subject).finding * SIGNS_A_TOKEN))
        case "write":
            return ScriptedReply(
                f"# Tides, no. {next(_REPORTS)}\n\n" + written(question.passages, REPORT * SIGNS_A_TOKEN)
            )
    return ScriptedReply("supported")


def _decided(turn: int, after: bool) -> ScriptedReply:
    sent = ((SUBJECTS,) if after else (SUBJECTS[:FIRST_SENT], SUBJECTS[FIRST_SENT:]))[turn:][:1]
    if not sent:
        return ScriptedReply(calls=(("generate_report", {}),))
    return ScriptedReply(calls=tuple(("research_agent", _wanted(each, after)) for each in sent[0]))


def _wanted(subject: Subject, after: bool) -> dict[str, Any]:
    task = f"{subject.title}\nFind how far the tide rises there, when, and who measured it; give dates."
    return {"task": task, "after": [1]} if after and subject in SUBJECTS[FIRST_SENT:] else {"task": task}


def _researched(question: Asked) -> ScriptedReply:
    turns = _subject(question.subject).turns
    if question.turn >= len(turns):
        return ScriptedReply("That is what was to be found.")
    keys = {"search": "query", "fetch": "page"}
    return ScriptedReply(calls=tuple((tool, {keys[tool]: argument}) for tool, argument in turns[question.turn]))


def _subject(title: str) -> Subject:
    return next(each for each in SUBJECTS if each.title == title)


def written(passages: Sequence[tuple[str, str]], signs: int) -> str:
    """Prose of about `signs` characters: whole passages word by word, each cited, then words which claim nothing.

    So nothing is left to a judge or to be mended, which would be calls of their own.
    """
    text = ""
    for id, quoted in dict(passages).items():
        cited = f"{quoted} [{id}]\n\n"
        if len(text) + len(cited) > signs:
            break
        text += cited
    more = (signs - len(text)) // len(FILLER.format(0))
    return text + "".join(FILLER.format(number) for number in range(more))


def reply(request: Request) -> Reply:
    """The reply of a model in this process."""
    answered = answer(asked(request))
    calls = tuple(ToolCall(id=f"c{n}", name=name, arguments=args) for n, (name, args) in enumerate(answered.calls))
    return Reply(text=answered.text, calls=calls, stop="calls" if calls else "end")


# what needs what


class Node(NamedTuple):
    """A call and what it waits for: (another call, the place of the tool call in its reply; -1: the whole reply).

    `any`: it waits for the first of them only, since several agents ask the same.
    """

    needs: tuple[tuple[str, int], ...] = ()
    any: bool = False


def needs(strategy: str) -> dict[str, Node]:
    """The calls of a run, by key, with what each waits for; none waits for more than its input."""
    nodes = {"triage::0": Node(), "background::0": Node((("triage::0", -1),))}
    for place, query in enumerate(BACKGROUND):
        nodes[f"search:{query}"] = Node((("background::0", place),))
    nodes["plan::0"] = Node(tuple((f"search:{query}", -1) for query in BACKGROUND))
    (_orchestrated if strategy == "orchestrated" else _reflective)(nodes)
    return nodes


def _orchestrated(nodes: dict[str, Node]) -> None:
    nodes["orchestrate::0"] = Node((("plan::0", -1),))
    for place, subject in enumerate(SUBJECTS[:FIRST_SENT]):
        _agent(nodes, subject, ("orchestrate::0", place), together=True)
    nodes["orchestrate::1"] = Node(tuple((f"find:{each.title}:0", -1) for each in SUBJECTS[:FIRST_SENT]))
    _agent(nodes, SUBJECTS[FIRST_SENT], ("orchestrate::1", 0), together=True)
    nodes["orchestrate::2"] = Node(((f"find:{SUBJECTS[FIRST_SENT].title}:0", -1),))
    nodes["assess::0"] = Node((("orchestrate::2", -1),))
    nodes["write::0"] = Node((("assess::0", -1),))


def _reflective(nodes: dict[str, Node]) -> None:
    before = "plan::0"
    for number, subject in enumerate(SUBJECTS, 1):
        _agent(nodes, subject, (before, -1), together=False)
        before = f"reflect::{number}"
        nodes[before] = Node(((f"find:{subject.title}:0", -1),))
    nodes["write::0"] = Node(((before, -1),))


def _agent(nodes: dict[str, Node], subject: Subject, sent: tuple[str, int], *, together: bool) -> None:
    """`together` says that agents work at once: then what several ask waits for the first of them to ask it."""
    ready: tuple[tuple[str, int], ...] = (sent,)
    for turn, calls in enumerate(subject.turns):
        key = f"research:{subject.title}:{turn}"
        nodes[key] = Node(ready)
        ready = tuple((f"{tool}:{argument}", -1) for tool, argument in calls)
        for place, (tool, argument) in enumerate(calls):
            asked = nodes.get(f"{tool}:{argument}", Node()).needs
            if not asked or together:
                nodes[f"{tool}:{argument}"] = Node((*asked, (key, place)), any=True)
    last = f"research:{subject.title}:{len(subject.turns)}"
    nodes[last] = Node(ready)
    nodes[f"find:{subject.title}:0"] = Node(((last, -1),))


# documents


def documents() -> Iterator[tuple[Snapshot, Document, bytes]]:
    """Made-up pages: `page-0` to `page-9`, some sixty sentences each."""
    for number in range(10):
        text = f"# page-{number}\n\n" + "\n\n".join(_paragraph(number, place) for place in range(20)) + "\n"
        data = text.encode()
        hashed = sha256(data)
        when, kind = "2026-01-01T00:00:00.000Z", "text/markdown"
        url = f"https://tides.example/page-{number}"
        snapshot = Snapshot(sha256=hashed, url=url, media_type=kind, size=len(data), fetched_at=when)
        yield (
            snapshot,
            Document(
                sha256=hashed,
                snapshot_sha256=hashed,
                extractor="markdown/1",
                url=url,
                title=f"page-{number}",
                name=f"page-{number}",
                media_type=kind,
                syntax="markdown",
                size=len(data),
                fetched_at=when,
            ),
            data,
        )


def _paragraph(number: int, place: int) -> str:
    year, metres = 1900 + 7 * place + number, 1 + (3 * place + number) % 9
    return (
        f"The gauge of harbour {number}-{place} was read four times a day in {year} by the pilots of the port. "
        f"It showed a mean range of {metres}.{place % 10} metres between low and high water at springs. "
        f"The tables printed for {year + 1} took these readings over without any correction."
    )


def fill(store: Store) -> None:
    """Put the documents into a store's default collection."""
    made = list(documents())
    for _, _, data in made:
        store.blobs.put(data)
    store.library.add([(snapshot, document) for snapshot, document, _ in made], "default")


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """A call's arguments as JSON."""
    return msgspec.json.encode(arguments).decode()
