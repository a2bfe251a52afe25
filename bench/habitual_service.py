"""A model service on loopback with the habits of real ones: its answers, and their forms.

It speaks OpenAI's format and gives right answers about two documents. Habits are drawn by seed and request, so a
repeated run has the same ones.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from assay.run.prompt_files import prompt

QUESTION = "How far does the tide rise at Brest, and from where does the mistral blow?"
DOCUMENTS = {
    "tides.md": "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n\nThe moon causes most.\n",
    "winds.md": "# Winds\n\nThe mistral blows from the north-west. Sailors of Brest rarely meet it.\n",
}
FACTS = {"Tide at Brest": ("seven metres", "tide Brest"), "Winds of the mistral": ("north-west", "mistral blows")}
THOUGHT = "Okay, the user asks about tides and winds. Let me look at what was found, and we need to be exact."
THOUGHT_SIGN = "the user asks about"
PASSAGE = re.compile(r"^\[(S\d+\.\d+)\] (.+)$", re.MULTILINE)
CITED = re.compile(r"([^.\n]+\.) [^\w\s]{1,3}(S\d+\.\d+)")
TASK = re.compile(r"<task>\n(.*)")
CHANCE = re.compile(r"[^\s\"<]*/(?=\w+\.md)|\d{4}-\d\d-\d\d")
"""What is another in each run: the folder and the day."""
SIZE = 7
OFTEN = 0.15
"""How many calls go wrong the first time."""


class ScriptedReply(NamedTuple):
    """An answer: text, calls (name, arguments), thinking in a field of its own, why it stopped."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    thinking: str = ""
    stop: str = ""


class Asked(NamedTuple):
    """A request as the server sees it: what is asked, all its text, how many replies came before."""

    task: str
    text: str
    turn: int


PROMPTS = {
    "triage": ("assay.phases", "triage"),
    "background": ("assay.phases", "background"),
    "plan": ("assay.phases", "plan"),
    "plan_steps": ("assay.phases", "plan_steps"),
    "orchestrate": ("assay.phases", "orchestrate"),
    "research": ("assay.agents", "research"),
    "queries": ("assay.phases", "queries"),
    "reflect": ("assay.phases", "reflect"),
    "write": ("assay.phases", "write"),
    "find": ("assay.agents", "findings"),
    "judge": ("assay.verify", "judge"),
}
OPENING = 60
"""Characters of a prompt by which it is known."""


def asked(body: dict[str, Any]) -> Asked:
    """What the body of a chat completion asks."""
    texts = [str(message.get("content") or "") for message in body["messages"]]
    opening = texts[0][:OPENING]
    found = (name for name, place in PROMPTS.items() if prompt(*place)[:OPENING] == opening)
    task = next(found, "other").removesuffix("_steps")
    if task == "research" and any("<report_findings>" in text for text in texts):
        task = "find"
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    return Asked(task, "\n".join(texts), turn)


# right answers


def answer(question: Asked) -> ScriptedReply:
    """The right answer to a request, without any habit."""
    steps = [{"title": title, "description": "", "type": "research", "needs_search": True} for title in FACTS]
    searches = tuple(("search", {"query": query}) for _, query in FACTS.values())
    fixed = {
        "triage": ScriptedReply(calls=(("generate_plan", {"complexity": "moderate", "depth": "medium"}),)),
        "background": ScriptedReply(calls=searches),
        "queries": ScriptedReply(calls=searches),
        "plan": ScriptedReply(json.dumps({"title": "Brest", "thought": "Both are asked for.", "steps": steps})),
        "reflect": ScriptedReply(
            json.dumps({"reasoning": "One more is known.", "decision": "continue", "changes": []})
        ),
        "judge": ScriptedReply(calls=(("verdict", {"slots": [], "reason": "It says so.", "verdict": "supported"}),)),
    }
    match question.task:
        case "orchestrate":
            sent = tuple(("research_agent", {"task": title}) for title in FACTS)
            return ScriptedReply(calls=(("generate_report", {}),) if "[S1001" in question.text else sent)
        case "research":
            return _searched(question)
        case "find":
            return ScriptedReply(_found(question))
        case "write":
            return ScriptedReply(_written(question))
    return fixed.get(question.task, ScriptedReply("Yes."))


def _subject(question: Asked) -> str:
    named = TASK.findall(question.text)
    return next((title for title in FACTS for task in named if task.startswith(title)), next(iter(FACTS)))


def _searched(question: Asked) -> ScriptedReply:
    if PASSAGE.search(question.text):
        return ScriptedReply("That is all.")
    return ScriptedReply(calls=(("search", {"query": FACTS[_subject(question)][1]}),))


def _found(question: Asked) -> str:
    fact, _ = FACTS[_subject(question)]
    shown = dict(PASSAGE.findall(question.text))
    return "\n\n".join(f"{_sentence(text, fact)} [{id}]" for id, text in shown.items() if fact in text)


def _sentence(text: str, fact: str) -> str:
    return next(each for each in re.findall(r"[^.]+\.", text) if fact in each).strip()


def _written(question: Asked) -> str:
    cited = dict.fromkeys((quoted.strip(), id) for quoted, id in CITED.findall(question.text))
    facts = [fact for fact, _ in FACTS.values()]
    kept = {next((f for f in facts if f in quoted), ""): f"{quoted} [{id}]" for quoted, id in cited}
    return "\n\n".join(text for fact, text in kept.items() if fact)


# habits of models: each changes a right answer, or leaves it alone

Change = Callable[[ScriptedReply, Asked], ScriptedReply]
PROSE = ("find", "write")
CALLED = ("triage", "background", "research", "orchestrate")


def _text(change: Callable[[str], str], *tasks: str) -> Change:
    """A change of the text of an answer to one of these tasks, to all where none is named."""
    return lambda said, at: (
        said._replace(text=change(said.text)) if said.text and (not tasks or at.task in tasks) else said
    )


def _ids(form: str) -> Change:
    """Citations in another form."""
    return _text(lambda text: re.sub(r"\[(S\d+\.\d+)\]", lambda found: form.format(found[1]), text), *PROSE)


def _in_words(form: str) -> Change:
    def change(said: ScriptedReply, at: Asked) -> ScriptedReply:
        if at.task not in CALLED or len(said.calls) != 1:
            return said
        ((name, arguments),) = said.calls
        return ScriptedReply(text=form.replace("NAME", name).replace("ARGUMENTS", json.dumps(arguments)))

    return change


def _besides(*more: tuple[str, Any]) -> Change:
    return lambda said, at: said._replace(calls=(*said.calls, *more)) if at.task == "research" and said.calls else said


MODELS: dict[str, Change] = {
    "none": lambda said, at: said,
    "<think>": _text(lambda text: f"<think>\n{THOUGHT}\n</think>\n\n{text}"),
    "<thinking>": _text(lambda text: f"<thinking>{THOUGHT}</thinking>{text}"),
    "[THINK]": _text(lambda text: f"[THINK]{THOUGHT}[/THINK]{text}"),
    "lone </think>": _text(lambda text: f"{THOUGHT}\n</think>\n\n{text}"),
    "harmony": _text(
        lambda text: (
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{text}"
        )
    ),
    "unmarked": _text(lambda text: f"{THOUGHT}\n\n{text}", "plan", "reflect", *PROSE),
    "reasoning field": lambda said, at: said._replace(thinking=THOUGHT),
    "chatty JSON": _text(lambda text: f"Here it is:\n\n{text}\n\nI hope this helps.", "plan", "reflect"),
    "call in JSON": _in_words('I call it: {"name": "NAME", "arguments": ARGUMENTS}'),
    "call in tags": _in_words("<tool_call>\n<function=NAME>ARGUMENTS</function>\n</tool_call>"),
    "call in a channel": _in_words(
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>commentary to=functions.NAME "
        "<|constrain|>json<|message|>ARGUMENTS<|call|>"
    ),
    "unknown tool": _besides(("google", {"q": "tide"})),
    "missing arguments": _besides(("search", {})),
    "broken arguments": _besides(("search", '{"query": "ti')),
    "two kinds of tool": _besides(("open", {"documents": ["nothing.md"]})),
    "prose beside": lambda said, at: said._replace(text="I search for it now.") if said.calls else said,
}

CITING: dict[str, Change] = {
    "fenced": _text(
        lambda text: f"```json\n{text}\n```" if text[:1] == "{" else f"```markdown\n{text}\n```",
        "plan",
        "reflect",
        "write",
    ),
    "【id】": _ids("【{}】"),
    "`[id]`": _ids("`[{}]`"),
    "(id)": _ids("({})"),
    "[id](url)": _ids("[{}](https://example.org)"),
    "^id": _ids("[^{}]"),
}
"""How models cite, and wrap what they write."""


# habits of services: what goes over HTTP


def _event(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices} | more
    return f"data: {json.dumps(body)}\n\n".encode()


USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


def _arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def streamed(said: ScriptedReply, *, finish: bool = True, done: bool = True) -> bytes:
    """The events of an answer."""
    events = [_event({"reasoning_content": said.thinking[at : at + SIZE]}) for at in range(0, len(said.thinking), SIZE)]
    events += [_event({"content": said.text[at : at + SIZE]}) for at in range(0, len(said.text), SIZE)]
    for place, (name, arguments) in enumerate(said.calls):
        text = _arguments(arguments)
        head = {"index": place, "id": f"call-{place}", "type": "function", "function": {"name": name, "arguments": ""}}
        events.append(_event({"tool_calls": [head]}))
        for at in range(0, len(text), SIZE):
            events.append(_event({"tool_calls": [{"index": place, "function": {"arguments": text[at : at + SIZE]}}]}))
    stop = said.stop or ("tool_calls" if said.calls else "stop")
    return b"".join(
        (*events, _event({}, stop) if finish else b"", _event(None, usage=USAGE), b"data: [DONE]\n\n" * done)
    )


def whole(said: ScriptedReply) -> bytes:
    """The same as one body."""
    calls = [
        {"id": f"call-{place}", "type": "function", "function": {"name": name, "arguments": _arguments(arguments)}}
        for place, (name, arguments) in enumerate(said.calls)
    ]
    message = {"role": "assistant", "content": said.text, "reasoning_content": said.thinking} | (
        {"tool_calls": calls} if calls else {}
    )
    choice = {"index": 0, "message": message, "finish_reason": said.stop or ("tool_calls" if calls else "stop")}
    return json.dumps({"id": "c", "choices": [choice], "usage": USAGE}).encode()


def _fault(message: str, param: str | None = None, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": param} | more}).encode()


class Sent(NamedTuple):
    """What goes over HTTP; `cut` drops the connection after it."""

    data: bytes
    status: int = 200
    kind: str = "text/event-stream"
    cut: bool = False


def _miscalled(said: ScriptedReply) -> Sent:
    if len(said.calls) != 1:
        return Sent(streamed(said))
    ((name, arguments),) = said.calls
    failed = json.dumps({"name": name, "arguments": arguments if isinstance(arguments, dict) else {}})
    data = _fault("Tool call validation failed", code="tool_use_failed", failed_generation=failed)
    return Sent(_event({"role": "assistant", "content": ""}) + b"event: error\ndata: " + data + b"\n\n")


SERVICES: dict[str, Callable[[ScriptedReply], Sent]] = {
    "none": lambda said: Sent(streamed(said)),
    "no finish": lambda said: Sent(streamed(said, finish=False)),
    "no [DONE]": lambda said: Sent(streamed(said, done=False)),
    "whole body": lambda said: Sent(whole(said), kind="application/json"),
    "tool_use_failed": _miscalled,
}
ONCE: dict[str, Callable[[ScriptedReply], Sent]] = {
    "500": lambda said: Sent(_fault("overloaded"), 500, "application/json"),
    "429": lambda said: Sent(_fault("slow down"), 429, "application/json"),
    "cut": lambda said: Sent(streamed(said)[: len(streamed(said)) // 2], cut=True),
    "fault": lambda said: Sent(
        _event({"content": said.text[:5]}) + b"data: " + _fault("overloaded", code=503) + b"\n\n"
    ),
    "thinks until its cap": lambda said: Sent(streamed(ScriptedReply(thinking=THOUGHT, stop="length"))),
    "empty": lambda said: Sent(streamed(ScriptedReply())),
    "cut at its cap": lambda said: Sent(streamed(ScriptedReply(stop="length"))),
}
"""What happens to a call the first time, and not when it is tried again."""


def _forced(body: dict[str, Any]) -> bool:
    return body.get("tool_choice") == "required" or isinstance(body.get("tool_choice"), dict)


def _system(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


REFUSALS: dict[str, tuple[Callable[[dict[str, Any]], bool], int, str, str | None]] = {
    "required": (_forced, 400, "tool_choice: only 'auto' and 'none' are supported", None),
    "none": (lambda body: body.get("tool_choice") == "none", 400, "Unsupported value", "tool_choice"),
    "stream_options": (
        lambda body: "stream_options" in body,
        422,
        "stream_options: extra inputs are not permitted",
        None,
    ),
    "max_tokens": (lambda body: "max_tokens" in body, 400, "Use 'max_completion_tokens' instead.", "max_tokens"),
    "response_format": (lambda body: "response_format" in body, 400, "response_format is not supported", None),
    "system": (_system, 400, "messages[0].role does not support 'system' with this model", "messages[0].role"),
    "tools": (lambda body: "tools" in body, 400, "m does not support tools", None),
}


class Service:
    """One run's model service: what it refuses, and the habits drawn for each call."""

    def __init__(
        self, seed: int, strategy: str, *, plain: bool = False, citing: bool = True, weak: Change = MODELS["none"]
    ) -> None:
        """`plain` is a service without any habit but the `weak` one; without `citing` its model cites as it is told
        to.
        """
        drawn = random.Random(seed)
        self._seed, self.strategy, self.plain = seed, strategy, plain
        self._weak = weak
        self._models = MODELS | (CITING if citing else {})
        self.refused = [] if plain else drawn.sample(sorted(REFUSALS), drawn.choice((0, 0, 1, 2)))
        self.habits: Counter[str] = Counter(f"refuses {each}" for each in self.refused)
        self._seen: set[str] = set()

    def reply(self, body: dict[str, Any]) -> Sent:
        """What is sent for a request; what is drawn for it does not depend on what else is asked meanwhile."""
        for name in self.refused:
            when, status, message, param = REFUSALS[name]
            if when(body):
                return Sent(_fault(message, param), status, "application/json")
        question = asked(body)
        key = CHANCE.sub("", question.text)
        answered, drawn = answer(question), random.Random(f"{self._seed} {self.strategy} {key}")
        first = question.text not in self._seen
        self._seen.add(question.text)
        if self.plain:
            return Sent(streamed(self._weak(answered, question)))
        if first and drawn.random() < OFTEN:
            name = drawn.choice(sorted(ONCE))
            self.habits[f"{question.task}: {name}"] += 1
            return ONCE[name](answered)
        model, service = drawn.choice(sorted(self._models)), drawn.choice(sorted(SERVICES))
        self.habits.update((f"{question.task}: {model}", service))
        return SERVICES[service](self._models[model](answered, question))


@asynccontextmanager
async def serving(service: Service) -> AsyncIterator[str]:
    """The base of its API while the block lasts."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().lower():
                length = re.search(r"content-length: (\d+)", head)
                data = await reader.readexactly(int(length[1]) if length else 0)
                posted = head.startswith("post ") and "/chat/completions" in head
                sent = service.reply(json.loads(data)) if posted else Sent(b"{}", 404, "application/json")
                writer.write(_http(sent))
                await writer.drain()
                if sent.cut:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def _http(sent: Sent) -> bytes:
    head = f"HTTP/1.1 {sent.status} OK\r\ncontent-type: {sent.kind}\r\nretry-after: 0\r\n"
    head += "transfer-encoding: chunked\r\n\r\n"
    end = b"" if sent.cut else b"0\r\n\r\n"
    return head.encode() + f"{len(sent.data):x}\r\n".encode() + sent.data + b"\r\n" + end
