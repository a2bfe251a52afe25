"""`assay chat`: questions and follow-ups in one session."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay import Assay, settings
from assay.cli import options, run_options
from assay.cli.chat_session import COMMANDS, ChatSession, ChatTerms
from assay.cli.completion import run_ids, thread_names
from assay.cli.library import open_assay
from assay.cli.run_options import ResearchCommand, paths_from
from assay.cli.runs.removal import apply_retention
from assay.cli.signals import TerminationSignal, cancel_on_signal, interruptible_prompt
from assay.cli.terminal import Exit, TerminalOptions, clean, say
from assay.core.markers import CitationMode

# Input: typed lines with history and completion, or the lines of a file or pipe.

try:
    import readline
except ImportError:  # Windows has no readline: its console edits lines by itself
    readline = None  # type: ignore[assignment]
PROMPT = "assay> "
MAX_LINE_CHARS = 100_000
"""The most characters of a line that are read."""


class LineInput:
    """Reads lines, one at a time. `recent` are those for the arrow keys; `person`: somebody is typing."""

    def __init__(self, recent: Sequence[str], *, person: bool) -> None:
        self.person = person
        if person and readline is not None:
            _set_up_readline(recent)

    async def next_line(self) -> str | None:
        """Return the next line that is not empty, None at the end. Ctrl-C discards an unfinished line."""
        while True:
            try:
                line = self._read_line() if self.person else await asyncio.to_thread(sys.stdin.readline, MAX_LINE_CHARS)
            except EOFError:
                say("")
                return None
            except KeyboardInterrupt:
                say("\n(Ctrl-D or /quit ends the chat)")
                continue
            if not self.person and not line:
                return None
            if line.strip():
                return line.strip()

    def _read_line(self) -> str:
        """A line from the terminal; blocks everything else.

        Raises:
            EOFError, KeyboardInterrupt: Ctrl-D, Ctrl-C.
        """
        with interruptible_prompt():
            return input(PROMPT)


def _set_up_readline(recent: Sequence[str]) -> None:
    """Set up earlier questions, and Tab for commands. No history file is kept, because the runs have the questions."""
    readline.clear_history()
    for question in recent:
        readline.add_history(" ".join(clean(question).split()))
    readline.set_completer_delims(" ")
    readline.set_completer(_complete)
    readline.parse_and_bind("tab: complete")


def _complete(text: str, state: int) -> str | None:
    matches = [f"/{name} " for name in COMMANDS if text.startswith("/") and f"/{name}".startswith(text)]
    return matches[state] if state < len(matches) else None


RECENT = 100
"""Earlier questions that the arrow keys bring back."""


@click.command("chat", cls=ResearchCommand)
@click.argument("question", metavar="[QUESTION]", required=False, default="")
@click.option("--thread", default="", metavar="NAME", shell_complete=thread_names, help="Conversation to continue.")
@click.option(
    "--continue",
    "continues",
    default="",
    is_flag=False,
    flag_value="last",
    metavar="[RUN]",
    shell_complete=run_ids,
    help="Continue from a run: its id or the start of it; the last run if none is named.",
)
@run_options.places_option()
@run_options.run_options("chat")
@options.citation_options
@options.common_options
@click.pass_obj
@options.run_async
async def command(
    state: TerminalOptions,
    /,
    question: str,
    thread: str,
    continues: str,
    paths: Sequence[str],
    citations: CitationMode | None,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Ask questions and follow-up questions interactively, starting with QUESTION.

    A follow-up is answered from the sources the conversation has opened so far. If they do not answer it, Assay
    researches it.
    /research QUESTION skips that and researches, 3 shows citation [3], /help lists all commands. Ctrl-C stops the
    current answer, Ctrl-D leaves the chat. Without a terminal, stdin is read as one question or command per line.

    \b
        assay chat --in papers/
        assay chat --thread harbour
        printf 'Who built it?\\nWhen?\\n' | assay chat --continue
    """
    if thread and continues:
        raise click.UsageError("--thread and --continue exclude each other: give one")
    if "-" in paths:
        raise click.UsageError("stdin holds the questions of a chat; name the documents with --in PATH")
    config = settings.load()
    terms = ChatTerms(
        sources=paths_from(paths) if paths else None,
        options={**option_values, "ask": "never"},
        citations=citations or config.citations,
        verbosity=state.verbosity,
    )
    async with open_assay(home, config) as assay:
        session = ChatSession(assay, terms)
        await session.resume(thread, continues)
        person = sys.stdin.isatty() and settings.terminal_environment().interactive
        line_input = LineInput(await _recent(assay), person=person)
        if person and terms.verbosity >= 0:
            say(session.greeting())
        try:
            with cancel_on_signal():
                code = await _answer_lines(session, line_input, question)
        except TerminationSignal:
            say("ended; to continue: assay chat --continue")
            return Exit.TERMINATED
        if terms.verbosity >= 0 and session.run_count:
            say(session.farewell())
        await apply_retention(assay, terms.verbosity)
        return code


async def _answer_lines(session: ChatSession, line_input: LineInput, question: str) -> int:
    """Answer line after line. The exit code is that of the last answer if no person is watching."""
    line: str | None = question or await line_input.next_line()
    while line is not None and await session.handle_line(line):
        line = await line_input.next_line()
    return Exit.DONE if line_input.person else session.code


async def _recent(assay: Assay) -> list[str]:
    """The latest questions, the oldest of them first."""
    return list(dict.fromkeys(row.question for row in reversed(await assay.runs(RECENT))))
