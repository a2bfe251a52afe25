"""The writer: it may look again at what research has read, then streams the report's text.

Findings that do not fit together are written up in parts. Unusable text is dropped and written once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from assay.agents.findings import drop_unavailable_items, resolve_citations
from assay.agents.history import (
    History,
    ModelTurn,
    message_room,
    output_cap,
    pluralize,
    rules_message,
    tool_result,
    total_tokens,
)
from assay.agents.loop import NO_CALLS_LEFT, execute_calls
from assay.agents.replies import read_calls, reply_defect, salvage_text, uncited_defect
from assay.agents.reply_text import tidy_reply, tidy_text
from assay.core.brief import word_limit
from assay.core.citations.reader import citation_reading
from assay.core.errors import ContextTooLong, LimitReached, ModelFailed, Refused
from assay.core.events import ReportDelta, ReportStarted
from assay.core.languages import language_name
from assay.core.messages import Message, Profile, Reply, Request, ToolCall, ToolDefinition
from assay.core.phrases import missing_heading, stop_reason_phrase
from assay.core.plan import Coverage, Plan
from assay.core.translation import ENGLISH, N_, current_phrases
from assay.core.translation import gettext as _
from assay.phases.case import Case, Research, to_json, user_message
from assay.phases.form import ReportOpening, read_opening
from assay.phases.material import FindingsPart, ReportPart, has_uncited_passages, part_slot, plan_part, split_findings
from assay.run.run import Run
from assay.run.voice import StreamHooks
from assay.verify.proofreader import Proofreader

RECALL_TOOL = "recall"
OPENING_TOKENS = 1_000
PARTS_AT_ONCE = 4
"""Parts of a report that are written at the same time."""
MIN_RECALL_TOKENS = 700
"""Tokens that must be free for recalled passages."""
MAX_CHARS_BESIDE_CALL = 1_000
"""A text longer than this, in code points, is the report, even if tools are called with it."""
CUT_OFF = N_("The model wrote more than it may: the end of the report is missing.")
REPEATED = N_("The model repeated itself: what it said again was left out of the report.")


class WriteRules(msgspec.Struct, frozen=True, kw_only=True):
    """The `rules` message of the writer: which part of the report this is, of how many, and its length.

    `language` is a name, "" for that of the question. `words` is the length, 0 for as many as needed; `asked` says that
    a user set it. `recalls` is the number of calls left. `missing` is the heading of the last section, on
    what could not be found, if it differs from the prompt's.
    """

    date: str
    language: str
    part: int = 1
    parts: int = 1
    words: int = 0
    asked: bool = False
    recalls: int = 0
    missing: str = ""
    opening: bool = False

    def sentences(self) -> str:
        sentences = [f"Today is {self.date}.", f"Write in {self.language or 'the language of the question'}."]
        if self.words:
            sentences.append(f"Write about {self.words:,} words.")
        if self.missing:
            sentences.append(f"The heading of the section on what could not be found is `## {self.missing}`.")
        if self.opening:
            sentences.append(
                "Write only the beginning of the report, and what leads from part to part: the parts are written."
            )
        if self.parts > 1:
            sentences.append(f"This is part {self.part} of {self.parts} of the report.")
        if self.recalls:
            sentences.append(f"You may call `recall` {pluralize(self.recalls, 'more time')}.")
        return " ".join(sentences)


class ReportWriter:
    """Writes one report; `texts` are the parts written so far, `unwritten` those still to write.

    `limits` are notices to the reader about how it was written.
    """

    def __init__(
        self,
        phase: Run,
        case: Case,
        research: Research,
        coverage: Sequence[Coverage],
        proofreader: Proofreader | None = None,
    ) -> None:
        self.phase, self.case, self.proofreader = phase, case, proofreader
        self.plan: Plan = research.plan
        self.coverage = coverage
        self.findings = [finding for finding in research.findings if finding.passages]
        self.texts: list[str] = []
        self.unwritten: list[FindingsPart] = []
        self.limits: dict[str, None] = {}
        self._research = research
        may_recall = RECALL_TOOL in case.tools and has_uncited_passages(case.ledger, self.findings)
        self._most_recalls = phase.rules.recalls if may_recall else 0
        self.recalls = self._most_recalls  # left to the current part
        self.turns = 0
        self._next_parts: Sequence[ReportPart] = ()
        self.has_recalled = False  # in the current part: a request that contains calls must define their tool

    @property
    def profile(self) -> Profile:
        """The abilities of the writer's model."""
        return self.phase.profile("complex")

    async def write(self) -> tuple[str, ...]:
        """Write the report and return its text as streamed: one piece, or parts if the findings exceed half the window.

        Raises:
            LimitReached, ModelFailed: it could not be completed.
        """
        tokens = self._room_for_findings()
        try:
            return await self._write_parts(self._divide_findings(tokens))
        except ContextTooLong:
            self.texts = []
            self._drop_part_text()
            return await self._write_parts(self._divide_findings(tokens // 2))

    def first_request(self) -> Request:
        return self._first_request_of(self._divide_findings(self._room_for_findings())[0])

    def _first_request_of(self, piece: ReportPart) -> Request:
        self._begin_part(piece)
        return self._request_for(self._history(piece), piece, self._tools(piece))

    def _room_for_findings(self) -> int:
        """The tokens of the window for findings: at most half of it."""
        request = self._request()
        single_part = ReportPart(part=FindingsPart(findings=(), messages=()), number=1, total=1)
        fixed_messages = [*self.case.question_messages(), *self._closing_messages(single_part)]
        free = message_room(self.profile, request.system, (), request.max_tokens) - total_tokens(fixed_messages)
        return min(free, self.profile.window // 2)

    def _divide_findings(self, tokens: int) -> list[ReportPart]:
        """The report in as few parts as possible, with at most `tokens` of findings each."""
        pieces = split_findings(self.findings, self.case.ledger, tokens)
        return [ReportPart(part=part, number=number, total=len(pieces)) for number, part in enumerate(pieces, 1)]

    def _begin_part(self, piece: ReportPart) -> None:
        """Begin a part: it has its own share of the calls of `recall`, so no part depends on another."""
        share, remainder = divmod(self._most_recalls, piece.total)
        self.has_recalled, self.recalls = False, share + (piece.number <= remainder)

    def _history(self, piece: ReportPart) -> History:
        return History([*self.case.question_messages(), *piece.part.messages])

    async def _write_parts(self, pieces: Sequence[ReportPart]) -> tuple[str, ...]:
        self.texts, self.unwritten = [], [report_part.part for report_part in pieces]
        for index, piece in enumerate(pieces):
            if self.texts:
                self.phase.emit(ReportDelta(text="\n\n"))
            self.texts.append(await self._write_part(piece, pieces[index + 1 : index + PARTS_AT_ONCE]))
            self.unwritten = [report_part.part for report_part in pieces[index + 1 :]]
        return tuple(self.texts)

    async def write_opening(self) -> ReportOpening:
        """The answer and the transitions of a report that was written in parts, by all of them.

        A part knows its own findings only. What cites nothing is left out. There is none if the report is in one part,
        or has a template.
        """
        if len(self.texts) < 2 or self.phase.brief.template or self.profile.quotes:
            return ReportOpening()
        write_rules = WriteRules(date=self.case.date, language=language_name(self.case.language), opening=True)
        total = len(self.texts)
        part_messages = (
            user_message("findings", f"Part {number} of {total}\n{tidy_text(text, self.case.ledger)}")
            for number, text in enumerate(self.texts, 1)
        )
        messages = (*self.case.question_messages(), *part_messages, rules_message(write_rules))
        max_tokens = min(OPENING_TOKENS, self._request().max_tokens)
        request = msgspec.structs.replace(self._request(), messages=messages, max_tokens=max_tokens)
        if total_tokens(messages) > message_room(self.profile, request.system, (), max_tokens):
            return ReportOpening()
        try:
            reply = await self.phase.ask(
                "complex", request, StreamHooks(reader_factory=citation_reading(self.case.ledger.knows))
            )
        except (LimitReached, ModelFailed) as failed:
            self.phase.warn(
                _("the report begins with its first part: {why}").format(why=stop_reason_phrase(failed.reason))
            )
            return ReportOpening()
        return ReportOpening() if reply_defect(reply) else read_opening(reply.text, total, self._cites)

    def _cites(self, text: str) -> bool:
        return bool(resolve_citations(text, self.case.ledger).passages)

    def _begin_next_parts(self, pieces: Sequence[ReportPart]) -> None:
        """Begin the following parts: what they are asked depends on no other part."""
        for piece in pieces:
            same = ReportWriter(self.phase, self.case, self._research, self.coverage)
            same._most_recalls = self._most_recalls
            self.phase.foresee(part_slot(piece.number), "complex", partial(same._first_request_of, piece), certain=True)

    async def _write_part(self, piece: ReportPart, next_parts: Sequence[ReportPart] = ()) -> str:
        """Write one part. A reply that is cut off or repeats itself is dropped and written once more.

        If that is no better, the part is the better of the two without its faults.

        Raises:
            LimitReached, ModelFailed: there is none.
        """
        self._begin_part(piece)
        self._next_parts = next_parts
        history = self._history(piece)
        first = await self._reply(history, piece)
        wrong = self._defect(first, piece)
        if not wrong:
            return first.text
        self._drop_part_text()
        history.add(ModelTurn(message=user_message("note", f"Your last reply could not be used: {wrong}.")))
        try:
            second = await self._reply(history, piece)
        except (LimitReached, ModelFailed):
            if not self._usable_text(first):
                raise
            return self._emit_usable_text([first], piece)
        return self._emit_usable_text([second, first], piece) if self._defect(second, piece) else second.text

    def _defect(self, reply: Reply, piece: ReportPart) -> str:
        """Why a reply is no report: a fault of its form, or it has nothing of the cited findings; "" if it is one."""
        reply = tidy_reply(reply, self.case.ledger)
        wrong, cited_texts = reply_defect(reply), [finding.text for finding in piece.part.findings if finding.passages]
        if wrong or not cited_texts or self._cites(reply.text):
            return wrong
        return uncited_defect(reply.text, self.case.question, cited_texts)

    def _usable_text(self, reply: Reply) -> str:
        """The usable text of a faulty reply; empty if it cites nothing, since findings say more."""
        text = salvage_text(tidy_reply(reply, self.case.ledger))
        return text if self._cites(text) else ""

    def _emit_usable_text(self, replies: Sequence[Reply], piece: ReportPart) -> str:
        """Emit the usable text of the best of `replies` in their place.

        Raises:
            ModelFailed: nothing is usable.
        """
        best = max(replies, key=lambda reply: len(self._usable_text(reply)))
        text, wrong = self._usable_text(best), self._defect(best, piece)
        if not text:
            raise ModelFailed(f"the report could not be used: {wrong}")
        self.phase.warn(_("the report was used in part: {why}").format(why=wrong.partition(";")[0]))
        reason = CUT_OFF if best.stop == "length" else REPEATED
        self.limits[_(reason)] = None
        self._drop_part_text()
        self.phase.emit(ReportDelta(text=text))
        return text

    async def _reply(self, history: History, piece: ReportPart) -> Reply:
        """Get the text of a part, after the writer has looked at passages again."""
        while True:
            tools = self._tools(piece)
            reply = await self._ask(history, piece, tools)
            calls = _recall_calls(reply, tools) if self.recalls else ()
            if not calls:
                return reply
            if reply.text:
                self._drop_part_text()
            await self._recall(history, reply, calls)

    async def _recall(self, history: History, reply: Reply, calls: Sequence[ToolCall]) -> None:
        """Carry out the calls, as many as are left."""
        allowed, refused = calls[: self.recalls], calls[self.recalls :]
        self.recalls -= len(allowed)
        self.turns += 1
        self.has_recalled = True
        recall_run = self.phase.child(f"recall-{self.turns}")
        question = self.case.question
        results = await execute_calls(
            recall_run, self.case.ledger, {RECALL_TOOL: self.case.tools[RECALL_TOOL]}, allowed, question
        )
        results += tuple(tool_result(call.id, NO_CALLS_LEFT, (), question) for call in refused)
        message = Message(role="assistant", text=reply.text, calls=tuple(calls))
        history.add(ModelTurn(message=message, results=results))

    async def _ask(self, history: History, piece: ReportPart, tools: tuple[ToolDefinition, ...]) -> Reply:
        """Ask for the text. A model that fails when tools are offered is asked once without: some accept none."""
        try:
            return await self._stream(history, piece, tools)
        except (ContextTooLong, Refused):
            raise
        except ModelFailed:
            if not tools or self.has_recalled:
                raise
            self.recalls = self._most_recalls = 0
            self._drop_part_text()
            return await self._stream(history, piece, ())

    def _request_for(self, history: History, piece: ReportPart, tools: tuple[ToolDefinition, ...]) -> Request:
        request = self._request()
        tokens = message_room(self.profile, request.system, tools, request.max_tokens)
        return msgspec.structs.replace(
            request,
            messages=history.messages(tokens, self._closing_messages(piece)),
            tools=tools,
            tool_choice="auto" if tools and self.recalls else "none",
        )

    async def _stream(self, history: History, piece: ReportPart, tools: tuple[ToolDefinition, ...]) -> Reply:
        return await self.phase.ask(
            "complex",
            self._request_for(history, piece, tools),
            StreamHooks(
                slot=part_slot(piece.number),
                on_begin=partial(self._begin_next_parts, self._next_parts),
                deltas=lambda text: ReportDelta(text=text),
                listener=self.proofreader.listener(self._text_so_far()) if self.proofreader else None,
                reader_factory=citation_reading(self.case.ledger.knows),
            ),
        )

    def _tools(self, piece: ReportPart) -> tuple[ToolDefinition, ...]:
        """`recall`, if there is something to look at and room for it. Once called, it stays defined."""
        if self.has_recalled:
            return (self.case.tools[RECALL_TOOL].definition,)
        if not self.recalls:
            return ()
        tools = (self.case.tools[RECALL_TOOL].definition,)
        request = self._request()
        used_tokens = total_tokens(
            [*self.case.question_messages(), *piece.part.messages, *self._closing_messages(piece)]
        )
        free = message_room(self.profile, request.system, tools, request.max_tokens) - used_tokens
        return tools if free >= MIN_RECALL_TOKENS else ()

    def _closing_messages(self, piece: ReportPart) -> list[Message]:
        """The last messages: clarifying answers, the rules, and the plan or the part of it to write."""
        write_rules = WriteRules(
            date=self.case.date,
            language=language_name(self.case.language),
            part=piece.number,
            parts=piece.total,
            words=-(-word_limit(self.phase.brief.length, self.phase.rules.words) // piece.total),
            asked=self.phase.brief.length != "normal",
            recalls=self.recalls,
            missing="" if current_phrases().locale == ENGLISH else missing_heading(),
        )
        plan = self.plan if piece.total == 1 else plan_part(self.plan, piece.part)
        coverage = [msgspec.structs.replace(part, passages=()) for part in self.coverage]  # which the findings have
        steps = tuple(msgspec.structs.replace(step, finding="") for step in plan.steps)
        return [
            user_message("coverage", to_json(coverage if piece.number == piece.total else [])),
            rules_message(write_rules),
            user_message("plan", to_json(msgspec.structs.replace(plan, steps=steps))),
        ]

    def _request(self) -> Request:
        return Request(
            task="write",
            system=drop_unavailable_items(self.phase.prompt("assay.phases", "write"), self.case.tools),
            messages=(),
            tool_choice="none",
            max_tokens=output_cap(self.profile, self.phase.rules.report_tokens),
        )

    def _drop_part_text(self) -> None:
        """Drop what was streamed of the current part."""
        self.phase.emit(ReportStarted(title=self.plan.title))
        if self.proofreader:
            self.proofreader.restart_text()
        if self.texts:
            self.phase.emit(ReportDelta(text=self._text_so_far()))

    def _text_so_far(self) -> str:
        """The text before the current part."""
        return "\n\n".join(self.texts) + "\n\n" if self.texts else ""


def _recall_calls(reply: Reply, tools: Sequence[ToolDefinition]) -> tuple[ToolCall, ...]:
    """The calls of a reply, including those written into its text; none of a long text without a call of `recall`."""
    if not tools:
        return ()
    recalls = any(call.name == RECALL_TOOL for call in reply.calls)
    return (
        ()
        if len(reply.text) > MAX_CHARS_BESIDE_CALL and not recalls
        else read_calls(reply, [tool.name for tool in tools])
    )
