"""An agent's task and its finding: plain data, so that a lane is the same on every replay; and how an agent reports.

The model writes the findings; if it cannot, code returns the passages it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Annotated

import msgspec

from assay.agents.findings_request import PromptOpening, request_findings
from assay.agents.history import History
from assay.agents.replies import reply_defect, salvage_text
from assay.agents.reply_text import tidy_reply
from assay.agents.weak_models import is_copied_statement, may_answer, mentions_passages, states
from assay.core.citations.whole_source import WholeSource
from assay.core.clean import Edit, EditedText
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import FindingAdded
from assay.core.lazy import regex
from assay.core.markers import Marker, parse_markers
from assay.core.messages import Reply
from assay.core.phrases import NOTHING, nothing_found_text, stop_reason_phrase
from assay.core.report_sentences import read_sentences
from assay.core.sources import Passage, Source
from assay.core.tables.cells import without_place
from assay.core.text import sentences, words
from assay.core.translation import gettext as _
from assay.evidence.ledger import Ledger
from assay.run.protocols import Tool
from assay.run.run import Run
from assay.tools.arguments import define


class FinishedWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work of an agent that finished earlier."""

    task: str
    searched: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class AgentTask(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's task, with the brief that it never loses.

    `step` is the plan step it serves, 0 for none. `lanes` are those of the ledger it may see besides its own. `earlier`
    has findings that it builds on. `calls` is the number of its tool calls, 0 for no limit. An agent that continues
    others has their lanes in `continued`, and passages they were shown in `seen`. With `analysis` it searches nothing,
    and works on the findings so far. `held` says that there are documents in scope.
    """

    task: str
    question: str
    date: str
    turns: int
    step: int = 0
    language: str = ""
    documents: str = ""
    finished: tuple[FinishedWork, ...] = ()
    lanes: tuple[int, ...] = (0,)
    earlier: str = ""
    calls: int = 0
    continued: tuple[int, ...] = ()
    seen: str = ""
    analysis: bool = False
    held: bool = True

    @property
    def about(self) -> str:
        """The text by which code chooses passages: a task may say too little without its question."""
        return f"{self.task}\n{self.question}"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's report. `stop`: done, or what ended it early. `continued`: the lanes it continues, oldest first.

    `uncited` says that it cites nothing: its passages are the nearest to its text among those it was shown.
    """

    lane: int
    task: str
    step: int = 0
    text: str = NOTHING
    passages: tuple[Passage, ...] = ()
    stop: str = "done"
    turns: int = 0
    continued: tuple[int, ...] = ()
    uncited: bool = False


def brief_json(task: AgentTask) -> str:
    """The `brief` message, as JSON: question, language, date, documents, the work of finished agents, findings."""
    brief = {
        "question": task.question,
        "language": task.language,
        "date": task.date,
        "documents": task.documents,
        "finished": task.finished,
        "earlier": task.earlier,
    }
    return msgspec.json.encode(brief).decode()


# Prompts, and the beginning of every request of an agent.


class DoneArguments(msgspec.Struct, frozen=True):
    """`done`: the agent has what its task needs, or cannot find it."""


class Think(msgspec.Struct, frozen=True):
    """`think`: reason before deciding."""

    reasoning: Annotated[str, msgspec.Meta(description="What is known, what is missing, what to do next.")] = ""


DONE = define("done", "End your research: you are asked for your findings next.", DoneArguments, control=True)
THINK = define(
    "think", "Reason in writing before you decide. Nothing else happens.", Think, control=True, thought="reasoning"
)
CONTROL_TOOLS = frozenset({DONE.name, THINK.name})


_ITEM = regex(r"^- \{([a-z_]+)\} (.*\n(?: .*\n)*)", re.MULTILINE)


def drop_unavailable_items(text: str, available: Collection[str]) -> str:
    """A prompt without its items about missing tools or places (`- {open} Open the …`, `- {web} …`)."""
    return _ITEM.sub(lambda found: f"- {found[2]}" if found[1] in available else "", text)


def prompt_opening(run: Run, task: AgentTask, tools: Mapping[str, Tool]) -> PromptOpening:
    """The opening of an agent with `tools`; `think` only if its model does not reason by itself."""
    may_think = run.rules.thoughts and not run.profile("analytical").native_reasoning
    think = (THINK,) if may_think else ()
    definitions = (*(tool.definition for tool in tools.values()), DONE, *think)
    scopes = {"web": run.brief.scope.web, "documents": task.held}
    available = {tool.name for tool in definitions} | {scope for scope, is_available in scopes.items() if is_available}
    return PromptOpening(
        system=drop_unavailable_items(run.prompt("assay.agents", "research"), available), tools=definitions
    )


# The citations of a text: its markers resolved in the ledger, without those that do not exist.

PASSAGES_PER_SOURCE = 2
"""Passages that stand for a source cited as a whole, if no sentence that cites it shares a word with any."""


class CitedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text whose markers all resolve, and what they stand for, in order of first mention.

    For a source cited as a whole, `passages` has what each sentence that cites it means (`WholeSource.best_passages`).
    `dropped` counts the unknown ids. An `uncited` text cites none: its passages are the nearest.
    """

    text: str
    passages: tuple[Passage, ...] = ()
    sources: tuple[Source, ...] = ()
    dropped: int = 0
    uncited: bool = False


def resolve_citations(text: str, ledger: Ledger) -> CitedText:
    """Resolve the markers of `text`. An unknown id is dropped and counted, never mapped to another."""
    edits: list[Edit] = []
    passages: dict[str, Passage] = {}
    sources: dict[str, Source] = {}
    dropped = 0
    for marker in parse_markers(text):
        resolution = ledger.resolve(marker.ids)
        passages.update((passage.id, passage) for passage in resolution.passages)
        sources.update((source.id, source) for source in resolution.sources)
        dropped += sum(id not in marker.implied for id in resolution.dropped)
        if resolution.dropped:
            edits.append(_drop_ids(text, marker, resolution.dropped))
    for source in sources:
        passages.update((passage.id, passage) for passage in _whole_source_passages(source, text, ledger))
    return CitedText(
        text=EditedText(text, edits).text,
        passages=tuple(passages.values()),
        sources=tuple(sources.values()),
        dropped=dropped,
    )


def _drop_ids(text: str, marker: Marker, dropped_ids: tuple[str, ...]) -> Edit:
    """The marker without the dropped ids; if none is left, without the space before it either."""
    kept_ids = [id for id in marker.ids if id not in dropped_ids]
    if kept_ids:
        return Edit(marker.start, marker.end, f"[{', '.join(kept_ids)}]")
    start = marker.start
    while start > 0 and text[start - 1] == " ":
        start -= 1
    return Edit(start, marker.end, "")


def _whole_source_passages(source: str, text: str, ledger: Ledger) -> Sequence[Passage]:
    """The passages meant by sentences that cite a source as a whole; one in other words still rests on its first."""
    whole_source = WholeSource(ledger.passages(source))
    sentence_texts = [
        sentence.text
        for sentence in read_sentences(text)
        if any(source in marker.sources for marker in sentence.markers)
    ]
    return [
        passage for sentence in sentence_texts for passage in whole_source.best_passages(sentence)
    ] or whole_source.passages[:PASSAGES_PER_SOURCE]


# How an agent reports.

MAX_NEAREST_PASSAGES = 8
MIN_CITED_WORDS = 60
COPIED = "it is copied from your instructions; say what the passages say about your task"
UNCITED = "it cites no passage; put the id of the passage, like [S2003.17], after each sentence"
FROM_MEMORY = "it states what no passage says; say what the passages say, and cite them"


class AgentWork(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's work at its end: its task, its history, why it ended, and after how many turns.

    `opening` is the beginning of its requests; that for the findings has it too.
    """

    task: AgentTask
    history: History
    opening: PromptOpening
    stop: str
    turns: int


async def report_findings(run: Run, ledger: Ledger, work: AgentWork) -> Finding:
    """Write an agent's findings and log them. `ledger` is what the agent sees of it; no tool may be called."""
    findings_run, task, stop = run.child("findings").with_gate("report"), work.task, work.stop
    try:
        cited_text = citations_or_nearest(
            await _write(findings_run, ledger, task, work.history, work.opening), task, ledger, findings_run.lane
        )
    except (LimitReached, ModelFailed) as failed:
        findings_run.with_gate("write").warn(
            _("findings were put together by code: {why}").format(why=stop_reason_phrase(failed.reason))
        )
        cited_text = resolve_citations(
            quote_nearest_passages(task.about, ledger.seeing([run.lane])) or nothing_found_text(), ledger
        )
        stop = stop if stop != "done" else failed.reason if isinstance(failed, LimitReached) else failed.kind
    return log_finding(findings_run, task, cited_text, stop, work.turns)


async def _write(run: Run, ledger: Ledger, task: AgentTask, history: History, opening: PromptOpening) -> str:
    """Write the model's findings; if they are badly written, once more.

    Raises:
        LimitReached, ModelFailed: there are none.
    """
    instruction = run.prompt("assay.agents", "findings")

    async def ask(note: str) -> Reply:
        noted_instruction = f"{instruction}\n\n{note}" if note else instruction
        return await request_findings(run, ledger, history, opening, noted_instruction, task.about)

    return await ask_for_findings("findings", ask, run, ledger, task)


async def ask_for_findings(
    kind: str, ask: Callable[[str], Awaitable[Reply]], run: Run, ledger: Ledger, task: AgentTask
) -> str:
    """The text of a reply, findings or an analysis by `kind`; if it is badly written, that of a second one.

    `ask` gets a note on what was wrong, "" at first. If the second is unusable too, what is usable of both counts.

    Raises:
        ModelFailed: nothing can be used.
    """
    first = last = tidy_reply(await ask(""), ledger)
    prompt = run.prompt("assay.agents", "findings")
    if wrong := _findings_defect(first, prompt, task, ledger):
        last = tidy_reply(await ask(f"Your last reply could not be used: {wrong}."), ledger)
        wrong = _form_defect(last, prompt, task) or _memory_defect(last.text, task, ledger)
    if not wrong:
        return last.text.strip()
    own_replies = [reply for reply in (first, last) if not is_copied_statement(reply.text, prompt, task.about)]
    salvaged = [text for text in map(salvage_text, own_replies) if resolve_citations(text, ledger).passages]
    if not salvaged:
        raise ModelFailed(f"{kind} could not be used: {wrong}")
    run.warn(f"{kind} were used in part: {wrong.partition(';')[0]}")
    return max(salvaged, key=len)


def _form_defect(reply: Reply, prompt: str, task: AgentTask) -> str:
    """Why findings cannot be used, whatever was read: `reply_defect`, or a copy of their prompt; "" if they can."""
    return reply_defect(reply) or (COPIED if is_copied_statement(reply.text, prompt, task.about) else "")


def _findings_defect(reply: Reply, prompt: str, task: AgentTask, ledger: Ledger) -> str:
    """Why findings cannot be used: their form, or statements without citations; "" if they can."""
    form = _form_defect(reply, prompt, task)
    if form or resolve_citations(reply.text, ledger).passages:
        return form
    return UNCITED if _must_cite(reply.text, task, ledger) else _memory_defect(reply.text, task, ledger)


def _memory_defect(text: str, task: AgentTask, ledger: Ledger) -> str:
    """Why findings cannot be used that state what no passage says, although some may answer; "" if they can."""
    if not states(text) or resolve_citations(text, ledger).passages or _must_cite(text, task, ledger):
        return ""
    return FROM_MEMORY if any(may_answer(topic, ledger) for topic in (task.question, task.task)) else ""


def _must_cite(text: str, task: AgentTask, ledger: Ledger) -> bool:
    """True if a text is long, or says something about the passages shown; not if it says that nothing was found."""
    if text.strip() == nothing_found_text():
        return False
    return len(words(text)) >= MIN_CITED_WORDS or mentions_passages(text, task.about, ledger)


def citations_or_nearest(text: str, task: AgentTask, ledger: Ledger, lane: int) -> CitedText:
    """The citations of a text; if it says something without citing, the nearest passages that its agent was shown."""
    cited_text = resolve_citations(text, ledger)
    if cited_text.passages or not _must_cite(text, task, ledger):
        return cited_text
    lane_ledger = ledger.seeing([lane])
    nearest = (lane_ledger if lane_ledger.count() else ledger).recall(f"{text}\n{task.task}", MAX_NEAREST_PASSAGES)
    return msgspec.structs.replace(cited_text, passages=tuple(nearest), uncited=bool(nearest))


def log_finding(run: Run, task: AgentTask, cited_text: CitedText, stop: str, turns: int) -> Finding:
    """Log the findings and return them."""
    run.emit(
        FindingAdded(
            lane=run.lane,
            task=task.task,
            text=cited_text.text,
            passages=cited_text.passages,
            dropped_markers=cited_text.dropped,
            uncited=cited_text.uncited,
        )
    )
    return Finding(
        lane=run.lane,
        task=task.task,
        step=task.step,
        text=cited_text.text,
        passages=cited_text.passages,
        stop=stop,
        turns=turns,
        continued=task.continued,
        uncited=cited_text.uncited,
    )


def quote_nearest_passages(topic: str, ledger: Ledger) -> str:
    """Findings without a model: the shown passages that share most words with the task, verbatim and cited, if any."""
    passages = ledger.recall(topic, MAX_NEAREST_PASSAGES)
    return "\n".join(f"- {cited_sentences(passage)}" for passage in passages)


def finding_text(finding: Finding) -> str:
    """A finding for a reader; without citations, its passages word for word."""
    return (
        "\n".join(f"- {cited_sentences(passage)}" for passage in finding.passages) if finding.uncited else finding.text
    )


def cited_sentences(passage: Passage) -> str:
    """A passage on one line, with each of its sentences cited."""
    text = " ".join(without_place(passage.text).split())
    return " ".join(f"{text[start:end]} [{passage.id}]" for start, end in sentences(text))
