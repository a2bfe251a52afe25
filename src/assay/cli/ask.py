"""`assay ask`: streams an answer to the terminal, with its citations numbered as in the final text."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from assay import settings
from assay.cli import options, run_options
from assay.cli.display import PlainDisplay
from assay.cli.library import open_existing
from assay.cli.run_options import GroupedCommand, question_from
from assay.cli.run_watch import Output, OutputOptions, execute_run, gather_output_options
from assay.cli.terminal import Exit, TerminalOptions, first_word, is_screen, strip_controls
from assay.core.events import Envelope, ReportDelta
from assay.core.lazy import regex
from assay.core.markers import CitationMode, parse_markers
from assay.core.report import build_report
from assay.core.sources import Passage, Source
from assay.core.view import RunView, ViewBuilder

_OPEN = regex(r"\s*(?:[\[【［][^\]】］]{0,80})?\S*\Z")
"""The end of a text that the next words may still change: an unfinished marker or word, or the space before it."""
_END = 400
"""Code points at the end that are searched for it: the search takes quadratic time."""


@click.command("ask", cls=GroupedCommand)
@options.run_argument("RUN")
@click.argument("question", metavar="QUESTION")
@options.output_options("answer")
@run_options.run_options("ask")
@options.citation_options
@options.common_options
@click.pass_obj
@gather_output_options
def command(
    state: TerminalOptions,
    /,
    reference: str,
    question: str,
    wanted: OutputOptions,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Answer QUESTION (- reads it from stdin) from the documents and pages that RUN opened. RUN is an id, the start
    of one, or last.

    Nothing new is searched. The answer has citations and verdicts like a report, and is stored as a run in the same
    thread.
    Exits with 6 if those sources do not answer the question.

    \b
        assay ask last "Who measured it, and when?"
        assay ask k3v9 "Which of these figures are estimates?" --json
    """
    question = question_from([question], ())
    output = wanted.output(settings.load(), state.verbosity)
    return asyncio.run(_ask(reference, question, option_values, output, home))


async def _ask(reference: str, question: str, option_values: dict[str, Any], output: Output, home: Path | None) -> Exit:
    async with open_existing(home) as assay:
        row = await assay.find(reference, "evidence")
        run = assay.ask(row.run_id, question, **option_values)
        if output.stdout != "report" or output.files or not is_screen():
            return await execute_run(assay, run, output)
        display = StreamingDisplay(output.verbosity, output.citations)
        return await execute_run(assay, run, replace(output, remaining_text=display.remaining_text), display)


class StreamingDisplay(PlainDisplay):
    """Milestones on stderr, and the answer on stdout as it grows; `printed` is the text already shown."""

    def __init__(self, verbosity: int, citations: CitationMode) -> None:
        super().__init__(verbosity)
        self._citations, self._folder = citations, ViewBuilder()
        self.printed = ""

    def show(self, envelope: Envelope) -> None:
        """Print the event's milestone; for a piece of the answer, print the piece."""
        self._folder.apply(envelope)
        if envelope.type == ReportDelta.kind:
            self._print_settled()
        else:
            super().show(envelope)

    def _print_settled(self) -> None:
        """Print what is certain of the answer and not yet printed; nothing more if the answer was taken back."""
        view = self._folder.view
        text = _settled_text(view.report.text)
        body = build_report(_set_report_text(view, text), self._citations).markdown.rstrip()
        if body.startswith(self.printed) and body != self.printed:
            first_word.erase()
            click.echo(strip_controls(body[len(self.printed) :]), nl=False)
            self.printed = body

    def remaining_text(self, text: str) -> str:
        """The part of `text` that is not yet printed; all of it, after an empty line, if its beginning changed."""
        if not self.printed:
            return text
        if text.startswith(self.printed):
            return text.removeprefix(self.printed)
        unprinted = _unprinted_part(self.printed, text)
        return f"\n\n{text}" if unprinted is None else unprinted


def _unprinted_part(printed: str, text: str) -> str | None:
    """The part of `text` beside the printed paragraphs, for example a date that code inserted; None if some of them are
    gone.
    """
    paragraphs, unprinted, continuation = printed.split("\n\n"), list[str](), ""
    for paragraph in text.rstrip("\n").split("\n\n"):
        if paragraphs and (
            paragraph == paragraphs[0] or (len(paragraphs) == 1 and paragraph.startswith(paragraphs[0]))
        ):
            continuation = paragraph.removeprefix(paragraphs.pop(0))
        else:
            unprinted.append(paragraph)
    return None if paragraphs else "".join((continuation, *(f"\n\n{paragraph}" for paragraph in unprinted), "\n"))


def _settled_text(text: str) -> str:
    """The text without its end, which may still change."""
    start = max(0, len(text) - _END)
    return text[:start] + _OPEN.sub("", text[start:])


def _set_report_text(view: RunView, text: str) -> RunView:
    """The run with this much of its report; its citations are assumed to exist, and are checked at the end."""
    sources = {id: view.sources.get(id.partition(".")[0]) for marker in parse_markers(text) for id in marker.passages}
    passages = {id: _placeholder_passage(id, source) for id, source in sources.items() if source is not None}
    report = msgspec.structs.replace(view.report, text=text)
    return msgspec.structs.replace(view, report=report, passages=passages | view.passages)


def _placeholder_passage(id: str, source: Source) -> Passage:
    digest = source.document_sha256
    return Passage(id=id, source=source.id, document_sha256=digest, start=0, end=0, text="", text_sha256="")
