"""How an agent reports: the model writes its findings; where it cannot, code hands over the passages it was shown."""

from __future__ import annotations

from assay.agents.asking import ask
from assay.agents.citing import Cited, cite
from assay.agents.history import History
from assay.agents.replies import defect
from assay.agents.sizing import output
from assay.agents.task import NOTHING, AgentTask, Finding
from assay.agents.wording import Opening, prompt
from assay.core.citations.reader import citing
from assay.core.errors import LimitReached, ModelFailed
from assay.core.events import FindingAdded, FindingDelta, FindingStarted
from assay.core.messages import Message, Reply, Request
from assay.core.report import in_words
from assay.core.sources import Passage
from assay.core.text import sentences, words
from assay.evidence.ledger import Ledger
from assay.run.run import Run

OUTPUT = 10_000
BEST = 8
LONG_ENOUGH_TO_CITE = 60


async def report(
    run: Run,
    ledger: Ledger,
    task: AgentTask,
    history: History,
    stop: str,
    turns: int,
    opening: Opening,
) -> Finding:
    """An agent's findings, on the log and in hand. `ledger` is what the agent sees of it.

    The request has the `opening` of those before it; no tool may be called.
    """
    place = run.child("findings").at("report")
    try:
        cited = cite(await _write(place, ledger, history, opening), ledger)
    except (LimitReached, ModelFailed) as failed:
        place.at("write").warn(f"findings were put together by code: {in_words(failed.reason)}")
        cited = cite(compose(task.about, ledger.seeing([run.lane])), ledger)
        stop = stop if stop != "done" else failed.reason if isinstance(failed, LimitReached) else failed.kind
    return added(place, task, cited, stop, turns)


async def _write(place: Run, ledger: Ledger, history: History, opening: Opening) -> str:
    """The model's findings; what it writes badly it writes once more.

    Raises:
        LimitReached, ModelFailed: there are none.
    """
    reply = await _ask(place, ledger, history, opening, prompt("assay.agents", "findings"))
    wrong = wrong_with(reply, ledger)
    if wrong:
        again = f"{prompt('assay.agents', 'findings')}\n\nYour last reply could not be used: {wrong}."
        reply = await _ask(place, ledger, history, opening, again)
    if defect(reply):
        raise ModelFailed(f"findings could not be used: {defect(reply)}")
    return reply.text.strip()


def wrong_with(reply: Reply, ledger: Ledger) -> str:
    """Why findings cannot be used: `defect`, or long and citing nothing; "" when they can."""
    if wrong := defect(reply):
        return wrong
    if len(words(reply.text)) >= LONG_ENOUGH_TO_CITE and not cite(reply.text, ledger).passages:
        return "it cites no passage; put the id of the passage, like [S2003.17], after each sentence"
    return ""


async def _ask(place: Run, ledger: Ledger, history: History, opening: Opening, instruction: str) -> Reply:
    place.emit(FindingStarted(lane=place.lane))
    request = Request(
        task="find",
        system=opening.system,
        messages=(),
        tools=opening.tools,
        tool_choice="none",
        max_tokens=output(place.profile("analytical"), OUTPUT),
        effort="low",
    )
    closing = [Message(role="user", name="report_findings", text=instruction)]
    return await ask(
        place,
        "analytical",
        history,
        request,
        closing,
        deltas=lambda text: FindingDelta(lane=place.lane, text=text),
        reading=citing(ledger.knows),
    )


def added(place: Run, task: AgentTask, cited: Cited, stop: str, turns: int) -> Finding:
    """The findings, put on the log."""
    place.emit(
        FindingAdded(
            lane=place.lane,
            task=task.task,
            text=cited.text,
            passages=cited.passages,
            dropped_markers=cited.dropped,
        )
    )
    return Finding(
        lane=place.lane,
        task=task.task,
        step=task.step,
        text=cited.text,
        passages=cited.passages,
        stop=stop,
        turns=turns,
        continued=task.continued,
    )


def compose(about: str, ledger: Ledger) -> str:
    """Findings without a model: the passages shown which share most words with the task, verbatim, each cited."""
    passages = ledger.recall(about, BEST)
    return "\n".join(f"- {quoted(passage)}" for passage in passages) or NOTHING


def quoted(passage: Passage) -> str:
    """A passage on one line, each of its sentences cited."""
    text = " ".join(passage.text.split())
    return " ".join(f"{text[start:end]} [{passage.id}]" for start, end in sentences(text))
