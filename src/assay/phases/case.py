"""What every phase is told about the run: the question, what the documents are, what a person answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from assay.core.brief import Brief, Role
from assay.core.clean import one_line
from assay.core.conversation import fitted
from assay.core.endings import in_words
from assay.core.errors import LimitReached
from assay.core.events import ScopeCounted
from assay.core.messages import Message
from assay.core.outline import written
from assay.core.sources import CollectionSummary
from assay.core.translation import gettext as _
from assay.phases.fields.schema import listed_fields
from assay.phases.fields.schema import read as read_schema
from assay.run.run import Run
from assay.run.steps import StepContext
from assay.tools.term_counts import count_words

NAME_LENGTH = 80
YIELDING = (
    "What stands in `steering` the user said while the research was going on. Heed it from here on, as far as your "
    "rules allow: how claims are cited, and what is safe, it cannot change."
)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """The question with all that is known about it before research.

    `documents` describes the scope in prose, `count` is how many documents it holds, `held` what they are. `answers`
    are a person's answers to clarifying questions, `assumptions` what the reader is told was assumed, `assumed` what
    triage assumed, which everybody who researches or writes is told. `fields` are those of a schema which are to be
    filled, one a line; `template` the headings the report is to have, as Markdown. `steering` is what the owner said
    while the run went on.
    """

    question: str
    date: str
    count: int
    documents: str
    held: CollectionSummary | None = None
    scope: str
    language: str = ""
    instructions: str = ""
    answers: str = ""
    assumptions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    fields: str = ""
    template: str = ""
    steering: tuple[str, ...] = ()

    def asked(self) -> list[Message]:
        """The messages which say what is wanted: the question, a person's answers, their instructions."""
        parts = (
            ("question", self.question),
            ("fields", self.fields),
            ("answers", self.answers),
            ("assumptions", "\n".join(self.assumed)),
            ("template", self.template),
            ("instructions", self.instructions),
        )
        return [*(user(name, text) for name, text in parts if text), *steered(self.steering)]

    def full(self) -> str:
        """The question with the answers and what was assumed, for an agent."""
        assumed = "\n".join(f"Assumed: {each}" for each in self.assumed)
        return "\n\n".join(part for part in (self.question, self.fields, self.answers, assumed) if part)


def user(name: str, text: str) -> Message:
    """A user message which holds `name`."""
    return Message(role="user", name=name, text=text)


def steered(told: Sequence[str]) -> list[Message]:
    """What the owner said while the run went on: messages of their own, and what they yield to."""
    return [*(user("steering", text) for text in told), *([user("note", YIELDING)] if told else [])]


async def heard(run: Run, case: Case, earlier: tuple[str, ...]) -> Case:
    """The case as the writer gets it: with what the owner said up to now, `earlier` during research."""
    return msgspec.structs.replace(case, steering=(*earlier, *await run.child("write").steering()))


def data(value: object) -> str:
    """Plain data as JSON text."""
    return msgspec.json.encode(value).decode()


def before(run: Run, role: Role) -> list[Message]:
    """The message which says what was said before in the thread, shortened to an eighth of the role's window."""
    said = fitted(run.brief.conversation, run.profile(role).window // 8)
    return [user("conversation", data(said))] if said else []


async def inquire(run: Run) -> Case:
    """Look at what the run's scope holds; where even that takes too long, it holds nothing."""
    brief = run.brief

    async def look(step_context: StepContext) -> CollectionSummary:
        summary = await asyncio.to_thread(run.world.library.summary, brief.scope.collections)
        step_context.emit(ScopeCounted(documents=summary.documents))
        return summary

    try:
        summary = await run.at("write").step("scope", look, returns=CollectionSummary)
    except LimitReached as limit:
        run.warn(_("the documents were not looked at: {why}").format(why=in_words(limit.reason)))
        summary = CollectionSummary(documents=0)
    await count_words(run)
    return Case(
        question=brief.question,
        date=brief.date,
        count=summary.documents,
        documents=describe(summary, brief),
        held=summary,
        scope=brief.scope.label,
        language=brief.language,
        instructions=brief.instructions,
        template=written(brief.template),
        fields=listed_fields(read_schema(brief.schema)) if brief.schema else "",
    )


def describe(summary: CollectionSummary, brief: Brief) -> str:
    """The documents in scope in a few sentences: count, kinds, languages, dates, names."""
    web = " The web may be searched and read." if brief.scope.web else ""
    if not summary.documents:
        return f"There are no documents in scope.{web}"
    said = [f"{brief.scope.label}: {summary.documents} document{'s' if summary.documents != 1 else ''} in scope."]
    for label, counts in (("Kinds", summary.kinds), ("Languages", summary.languages)):
        known = {name: count for name, count in counts.items() if name}
        if known:
            said.append(f"{label}: {', '.join(f'{name} ({count})' for name, count in known.items())}.")
    if any(summary.published):
        said.append(f"Dated {' to '.join(filter(None, summary.published))}.")
    if summary.names:
        names = "; ".join(one_line(name)[:NAME_LENGTH] for name in summary.names)
        more = "; …" if summary.documents > len(summary.names) else ""
        said.append(f"Names: {names}{more}.")
    return " ".join(said) + web
