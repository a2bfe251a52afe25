"""A chat: a thread whose questions are answered from documents already opened, or by research."""

from __future__ import annotations

import difflib
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from assay import Assay, RunHandle
from assay.cli import destinations
from assay.cli.ask import StreamingDisplay
from assay.cli.claims import cited_passages, write_cited
from assay.cli.display import Display
from assay.cli.english import english_view
from assay.cli.figures import cost, describe_cost, format_tokens, join_nonempty, outcome
from assay.cli.run_watch import Output, exit_code, show_events
from assay.cli.signals import signal_handlers
from assay.cli.terminal import Exit, clean, is_screen, say, write
from assay.cli.threads import HOW_TO_BEGIN, print_page
from assay.core.errors import AssayError, Cancelled, UsageError
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.milestones import pluralize, shorten
from assay.core.ports import RunStatus
from assay.core.report import Report, build_report
from assay.core.usage import Usage
from assay.core.view import RunView
from assay.services.arguments import suffix_of

# The commands of a chat: what each takes, and its line in the help.

COMMANDS = {
    "help": ("", "this list"),
    "research": ("[QUESTION]", "research a question anew; without one, the last"),
    "cite": ("N", "what citation [N] of the last answer cites; N alone does the same"),
    "sources": ("", "the sources of the last answer"),
    "claims": ("", "its claims with their verdicts"),
    "export": ("FILE", "write it to a file (.md, .html, .pdf, .docx …)"),
    "cost": ("", "what this chat has cost so far"),
    "new": ("[NAME]", "begin another conversation"),
    "threads": ("", "list the conversations"),
    "thread": ("NAME", "go on with another conversation"),
    "quit": ("", "end the chat (Ctrl-D does the same)"),
}
_OTHER = {"exit": "quit", "q": "quit", "bye": "quit", "?": "help", "h": "help", "source": "sources", "save": "export"}
_NUMBER = regex(r"\[?(\d{1,4})\]?")


def parse_line(line: str) -> tuple[str, str]:
    """Split a line into a command and its argument; the command is "" if the line is a question."""
    if number := _NUMBER.fullmatch(line):
        return "cite", number[1]
    if not line.startswith("/"):
        return "", line
    word, _, argument = line[1:].partition(" ")
    name = word.lower()
    return _OTHER.get(name, name) or "help", argument.strip()


def unknown_command(name: str) -> str:
    """The message for an unknown command."""
    matches = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
    return f"no command /{name}; " + (f"did you mean /{matches[0]}?" if matches else "/help lists those there are")


def help_lines() -> list[str]:
    """The help, one line per command."""
    width = max(len(f"/{name} {takes}") for name, (takes, _) in COMMANDS.items())
    return [f"  {f'/{name} {takes}'.ljust(width)}  {description}" for name, (takes, description) in COMMANDS.items()]


CONTINUABLE_STATUSES: tuple[RunStatus, ...] = ("completed",)
WEB = ("web", "domains", "not_domains", "since", "until", "country", "fresh")
"""Search options, which a question about opened documents does not need."""


@dataclass(frozen=True, slots=True)
class ChatTerms:
    """The settings of every question in a chat: where to look, and the options of `Assay.start`."""

    sources: Sequence[str] | None
    options: dict[str, Any] = field(default_factory=dict)
    citations: CitationMode = "numbers"
    verbosity: int = 0


class ChatSession:
    """The conversation so far: `last` is the run of the last answer, `code` how the last question ended.

    It is grounded after the first documents from which a question can be answered were opened.
    """

    def __init__(self, assay: Assay, terms: ChatTerms) -> None:
        self._assay, self._terms = assay, terms
        self.thread, self.last, self.question, self._grounded = "", "", "", False
        self.usage, self.run_count, self.code = Usage(), 0, Exit.DONE

    async def resume(self, thread: str, run: str) -> None:
        """Continue a thread, which may be new, or a run.

        Raises:
            UnknownName: there is no such run.
            UsageError: it has not ended.
        """
        self.thread, self.last, self.question, self._grounded = thread, "", "", False
        if run:
            row = await self._assay.find(run)
            if row.status not in CONTINUABLE_STATUSES:
                raise UsageError(f"run {row.run_id} is {row.status}; a chat can only continue from a completed run")
            self.last, self.thread, self.question = row.run_id, row.thread, row.question
        elif thread:
            page = await self._assay.page(thread=thread, status=CONTINUABLE_STATUSES, limit=1)
            if page.runs:
                self.last, self.question = page.runs[0].run_id, page.runs[0].question
        if self.last:  # documents named now must be read first
            self._grounded = self._terms.sources is None and bool((await self._assay.view(self.last)).sources)

    def greeting(self) -> str:
        """The first line: the state of the chat."""
        if self.last:
            return f"going on after “{shorten(clean(self.question), 60)}” (run {self.last}); /help lists the commands"
        return "ask a question; /help lists the commands, Ctrl-D ends the chat"

    def farewell(self) -> str:
        """The last line: the cost, and how to continue."""
        option = f"--thread {self.thread}" if self.thread else f"--continue {self.last}" if self.last else ""
        return join_nonempty((self._total(), f"to continue: assay chat {option}" if option else ""), "; ")

    async def handle_line(self, line: str) -> bool:
        """Answer a question or run a command; False if the chat is to end. Failures are printed."""
        name, argument = parse_line(line)
        if name == "quit":
            return False
        try:
            if not name:
                await self._answer_from_documents(argument)
            elif name in COMMANDS:
                await self._commands()[name](argument)
            else:
                say(unknown_command(name))
        except Cancelled:
            say("cancelled")
            self.code = Exit.CANCELLED
        except click.ClickException as error:
            say(error.format_message())
        except AssayError as error:
            say(f"assay: {clean(str(error))}")
            self.code = Exit.FAILED if not name else self.code
        return True

    # questions

    async def _answer_from_documents(self, question: str) -> None:
        """Answer from the documents opened so far; if they do not hold the answer, by research."""
        if self.last and self._grounded:
            options = {name: value for name, value in self._terms.options.items() if name not in WEB}
            options["thread"] = self.thread
            view = await self._run(self._assay.ask(self.last, question, **options), question, streams=True)
            if view.stop_reason != "no_evidence":
                return
            say("what was read so far does not answer it; researching")
        await self._research(question)

    async def _research(self, question: str) -> None:
        """Research a question, by default the last one."""
        question = question or self.question
        if not question:
            raise click.UsageError("/research needs a question")
        display = self._output.display()
        run = self._assay.start(
            question,
            sources=None if self._terms.sources is None else list(self._terms.sources),
            progress=display.show_progress,
            **{**self._terms.options, "thread": self.thread, "continues": self.last},
        )
        await self._run(run, question, display)

    async def _run(
        self, run: RunHandle, question: str, research_display: Display | None = None, *, streams: bool = False
    ) -> RunView:
        """Show a run until it ends, its answer and its cost. Ctrl-C cancels only the run.

        Raises:
            Cancelled, AssayError: it could not be started.
        """
        self.run_count += 1
        output, streaming_display = self._output, None
        if streams:  # the documents are at hand, so there is little progress to report
            output = replace(output, verbosity=output.verbosity or -1)
        if streams and is_screen():
            streaming_display = StreamingDisplay(output.verbosity, output.citations)
            output = replace(output, remaining_text=streaming_display.remaining_text)
        display = research_display or streaming_display or output.display()
        with signal_handlers() as heed:
            heed(signal.SIGINT, run.cancel)
            with display:
                await show_events(aiter(run), output, display)
            view = await run.view()
        self.code = exit_code(view)
        self.usage += view.usage.total
        if streaming_display is not None and streaming_display.printed and view.status != "completed":
            write("\n")
        self._print_answer(view, output, searches_again=streams)
        if view.status == "completed" and not (streams and view.stop_reason == "no_evidence"):
            self.last, self.question = view.run_id, question
            self.thread = self.thread or (view.brief.thread if view.brief else "") or view.run_id
            self._grounded = self._grounded or bool(view.sources)
        return view

    def _print_answer(self, view: RunView, output: Output, *, searches_again: bool) -> None:
        """Print the answer on stdout, and a line or two on stderr.

        If `searches_again`, an answer that found nothing is not printed.
        """
        if view.status == "completed" and not (searches_again and view.stop_reason == "no_evidence"):
            write(output.remaining_text(_answer(build_report(view, output.citations))))
        if self._terms.verbosity >= 0:
            say(join_nonempty((outcome(view), cost(view), self._total() if self.run_count > 1 else "")))

    @property
    def _output(self) -> Output:
        return Output(citations=self._terms.citations, verbosity=self._terms.verbosity)

    def _total(self) -> str:
        """`this chat: 3 questions, 4.1k tokens, $0.03`."""
        used = join_nonempty(
            (pluralize(self.run_count, "run"), format_tokens(self.usage), describe_cost(self.usage)), ", "
        )
        return f"this chat: {used}"

    # commands

    def _commands(self) -> dict[str, Callable[[str], Awaitable[None]]]:
        return {
            "help": self._help, "research": self._research, "cite": self._cite, "sources": self._sources,
            "claims": self._claims, "export": self._export, "cost": self._cost, "new": self._new,
            "threads": self._threads, "thread": self._thread,
        }  # fmt: skip

    async def _help(self, _: str) -> None:
        for line in help_lines():
            say(line)

    async def _cost(self, _: str) -> None:
        say(self._total())

    async def _new(self, name: str) -> None:
        await self.resume(name, "")
        say(self.greeting())

    async def _thread(self, name: str) -> None:
        if not name:
            raise click.UsageError("/thread needs a name; /threads lists them")
        await self._new(name)

    async def _threads(self, _: str) -> None:
        print_page(await self._assay.threads(), HOW_TO_BEGIN, as_json=False)

    async def _cite(self, number: str) -> None:
        if not number.isdigit() or not number.isascii():
            raise click.UsageError("/cite needs the number of a citation: /cite 1")
        write_cited(*await cited_passages(self._assay, self._latest(), int(number)))

    async def _sources(self, _: str) -> None:
        report = build_report(await self._assay.view(self._latest()))
        for line in _sources(report):
            write(line)
        if not any(_sources(report)):
            say("the last answer cites no source")

    async def _claims(self, _: str) -> None:
        report = build_report(english_view(await self._assay.view(self._latest())))
        for claim in report.claims:
            citations = "".join(f" [{number}]" for number in claim.numbers)
            reason_note = f" ({clean(claim.reason)})" if claim.reason else ""
            write(f"{claim.verdict}{reason_note}: {clean(claim.text)}{citations}")
        if not report.claims:
            say("the last answer states nothing that could be checked")

    async def _export(self, path: str) -> None:
        if not path:
            raise click.UsageError("/export needs a file: /export answer.html")
        run_id, (target,) = self._latest(), destinations.check_paths([_path(path)])
        destinations.save(target, await self._assay.export(run_id, suffix_of(target), self._terms.citations))
        say(f"written to {target}")

    def _latest(self) -> str:
        if not self.last:
            raise click.UsageError("there is no answer yet")
        return self.last


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _answer(report: Report) -> str:
    """An answer as shown in a conversation: its text, and the sources it cites."""
    return "\n".join((report.markdown.rstrip(), "", *_sources(report), "")).replace("\n\n\n", "\n\n")


def _sources(report: Report) -> Iterator[str]:
    for source in report.sources:
        if source.number is not None:
            yield join_nonempty((f"[{source.number}] {clean(source.title)}", clean(source.url)), "  ")
