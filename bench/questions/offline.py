"""The built-in model over its own small search, without the engine: for work on answers alone.

It sends the model the requests of a run, in the same order. `online` measures the engine itself.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence

import msgspec
import tantivy

from assay.core import markers
from assay.core.messages import Message, Reply, Request, Task, ToolCall, ToolDefinition
from assay.core.passage_context import format_source
from assay.core.plan import Coverage, Plan, PlanStep
from assay.core.sources import Passage, PassageSpan, Source, sha256, source_id
from assay.evidence.segment import segment
from assay.models.extractive import Extractive
from assay.tools.common import rank_passages, select_passages
from questions.corpus import Row
from questions.scoring import Report

HITS, PASSAGES, ROOM = 8, 4, 24_000
TOOLS = tuple(ToolDefinition(name=name, description="", parameters={}) for name in ("search", "open", "recall"))


class Shelves:
    """Documents with an index over them."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._spans: dict[int, tuple[PassageSpan, ...]] = {}
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("row", stored=True)
        builder.add_text_field("title", stored=False, tokenizer_name="en_stem")
        builder.add_text_field("body", stored=False, tokenizer_name="en_stem")
        self._index = tantivy.Index(builder.build())
        writer = self._index.writer(heap_size=100_000_000, num_threads=1)
        for place, row in enumerate(rows):
            numbers = " ".join(str(int(number)) for number in re.findall(r"\d+", row.url) if len(number) < 8)
            writer.add_document(tantivy.Document(row=place, title=f"{row.title} {row.url} {numbers}", body=row.text))
        writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str, limit: int) -> list[tuple[int, tuple[PassageSpan, ...]]]:
        """The best rows, each with its best passages."""
        plain = re.sub(r"[^\w\s]", " ", query)
        parsed = self._index.parse_query(plain, ["title", "body"], field_boosts={"title": 2.0})
        hits = self._searcher.search(parsed, limit).hits
        rows = [int(self._searcher.doc(address)["row"][0]) for _, address in hits]
        return [(row, tuple(rank_passages(self.spans(row), query)[:PASSAGES])) for row in rows]

    def spans(self, row: int) -> tuple[PassageSpan, ...]:
        """All passages of a row."""
        if row not in self._spans:
            self._spans[row] = segment(self.rows[row].text, "markdown")
        return self._spans[row]


class Lane:
    """An agent's sources and passages."""

    def __init__(self, number: int, shelves: Shelves) -> None:
        self.number, self.shelves = number, shelves
        self.sources: dict[int, Source] = {}
        self.passages: dict[str, Passage] = {}

    def show(self, row: int, spans: Sequence[PassageSpan]) -> str:
        """The lines for some passages of a row."""
        source = self.sources.setdefault(row, self._source(row))
        found = [self._passage(source, span) for span in spans]
        self.passages.update({passage.id: passage for passage in found})
        return format_source(source, found)

    def _source(self, row: int) -> Source:
        document = self.shelves.rows[row]
        return Source(
            id=source_id(self.number, len(self.sources) + 1),
            document_sha256=str(row),
            snapshot_sha256="",
            url=document.url,
            title=document.title,
            media_type="text/plain",
            fetched_at="",
        )

    def _passage(self, source: Source, span: PassageSpan) -> Passage:
        return Passage(
            id=f"{source.id}.{span.ordinal}",
            source=source.id,
            document_sha256=source.document_sha256,
            start=span.start,
            end=span.end,
            text=span.text,
            text_sha256=sha256(span.text.encode()),
        )

    def call(self, call: ToolCall) -> str:
        """What a tool answers."""
        if call.name == "search":
            hits = self.shelves.search(str(call.arguments["query"]), int(call.arguments.get("limit", HITS)))
            return "\n\n".join(self.show(row, spans) for row, spans in hits if spans) or "Nothing found."
        wanted = set(call.arguments.get("documents", ()))
        rows = [row for row, source in self.sources.items() if source.id in wanted]
        find, room = str(call.arguments.get("find", "")), ROOM // max(len(rows), 1)
        return "\n\n".join(self.show(row, select_passages(self.shelves.spans(row), find, room)) for row in rows)


class Harness:
    """Runs questions through the model."""

    def __init__(self, shelves: Shelves) -> None:
        self.shelves, self.model = shelves, Extractive()

    def run(self, question: str) -> Report:
        """A report, with what it cites."""
        started = time.perf_counter()
        text, lanes = asyncio.run(self._run(question))
        passages = {id: passage for lane in lanes for id, passage in lane.passages.items()}
        cited = [id for marker in markers.parse_markers(text) for id in marker.passages]
        urls = {self.shelves.rows[int(passages[id].document_sha256)].url for id in cited if id in passages}
        exact = sum(id in passages and self._exact(passages[id]) for id in cited)
        return Report(text, tuple(urls), len(cited), exact, time.perf_counter() - started)

    def _exact(self, passage: Passage) -> bool:
        text = self.shelves.rows[int(passage.document_sha256)].text.encode()
        return sha256(text[passage.start : passage.end]) == passage.text_sha256

    async def _ask(self, task: Task, messages: Sequence[Message], tools: tuple[ToolDefinition, ...] = ()) -> Reply:
        request = Request(task=task, system="", messages=tuple(messages), tools=tools)
        async for delta in self.model.stream(request):
            if isinstance(delta, Reply):
                return delta
        raise AssertionError("a stream without a reply")

    async def _run(self, question: str) -> tuple[str, list[Lane]]:
        asked = _user("question", question)
        triage = (await self._ask("triage", [asked])).calls[0].arguments
        least, most, agents = {"simple": (1, 3, 2), "moderate": (3, 6, 3)}.get(triage["complexity"], (5, 6, 3))
        planned = await self._ask("plan", [asked, _user("rules", f'{{"min_steps":{least},"max_steps":{most}}}')])
        steps = msgspec.json.decode(planned.text)["steps"]
        plan = Plan(title=question, steps=tuple(_step(place, step) for place, step in enumerate(steps, 1)))
        tasks = await self._dispatch(asked, plan, agents)
        lanes = [Lane(number, self.shelves) for number in range(1, len(tasks) + 1)]
        found = [(task, await self._agent(question, task, lane)) for task, lane in zip(tasks, lanes, strict=True)]
        return await self._write(asked, plan, found, lanes), lanes

    async def _dispatch(self, asked: Message, plan: Plan, agents: int) -> list[str]:
        messages = [asked, _user("plan", _json(plan))]
        tasks: list[str] = []
        for cycle in range(1, 9):
            rules = _user("rules", f'{{"cycle":{cycle},"cycles":8,"agents_at_once":{agents}}}')
            reply = await self._ask("orchestrate", [*messages, rules])
            if any(call.name == "generate_report" for call in reply.calls):
                break
            messages.append(Message(role="assistant", calls=reply.calls))
            tasks.extend(str(call.arguments["task"]) for call in reply.calls)
        return tasks

    async def _agent(self, question: str, task: str, lane: Lane) -> str:
        messages = [_user("brief", _json({"question": question})), _user("task", task)]
        for turn in range(1, 4):
            rules = _user("rules", f'{{"turn":{turn},"turns":3}}')
            reply = await self._ask("research", [*messages, rules], TOOLS)
            messages.append(Message(role="assistant", text=reply.text, calls=reply.calls))
            messages += [Message(role="tool", text=lane.call(call), call_id=call.id) for call in reply.calls]
            if not reply.calls:
                break
        return (await self._ask("find", [*messages, _user("report_findings", "Report.")])).text

    async def _write(self, asked: Message, plan: Plan, found: list[tuple[str, str]], lanes: list[Lane]) -> str:
        coverage = [
            Coverage(step=step.id, part=step.title, status="answered" if markers.parse_markers(text) else "not")
            for step, (_, text) in zip(plan.steps, found, strict=False)
        ]
        messages = [
            asked,
            *(_user("findings", f"Task: {task}\n{text}") for task, text in found),
            _user("evidence", "\n\n".join(_evidence(text, lane) for (_, text), lane in zip(found, lanes, strict=True))),
            _user("coverage", _json(coverage)),
            _user("rules", "{}"),
            _user("plan", _json(plan)),
        ]
        return (await self._ask("write", messages)).text


def _evidence(text: str, lane: Lane) -> str:
    cited = dict.fromkeys(id for marker in markers.parse_markers(text) for id in marker.passages)
    by_source: dict[str, list[Passage]] = {}
    for id in cited:
        by_source.setdefault(lane.passages[id].source, []).append(lane.passages[id])
    return "\n\n".join(
        format_source(source, by_source[source.id]) for source in lane.sources.values() if source.id in by_source
    )


def _step(place: int, step: dict[str, str]) -> PlanStep:
    return PlanStep(id=place, title=step["title"], description=step.get("description", ""))


def _user(name: str, text: str) -> Message:
    return Message(role="user", name=name, text=text)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
