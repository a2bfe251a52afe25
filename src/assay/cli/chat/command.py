"""The command `assay chat`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay import Assay, settings
from assay.cli import budget_options, checking_options, options, scope_options, web_options
from assay.cli.arguments import ResearchCommand, paths_from
from assay.cli.chat.line_input import LineInput
from assay.cli.chat.session import ChatSession, ChatTerms
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, termination
from assay.cli.library import opened
from assay.cli.runs.ids import run_ids
from assay.cli.runs.retention import keep_to_rules
from assay.cli.terminal import TerminalOptions, say
from assay.cli.threads.thread_names import thread_names
from assay.core.markers import CitationMode

RECENT = 100
"""Earlier questions which the arrow keys bring back."""


@click.command("chat", cls=ResearchCommand)
@click.argument("question", metavar="[QUESTION]", required=False, default="")
@click.option("--thread", default="", metavar="NAME", shell_complete=thread_names, help="Conversation to go on with.")
@click.option(
    "--continue",
    "continues",
    default="",
    is_flag=False,
    flag_value="last",
    metavar="[RUN]",
    shell_complete=run_ids,
    help="Go on from a run (its id, the start of it; without one the last).",
)
@scope_options.scope
@web_options.web
@budget_options.calls("answer")
@options.models
@options.citations
@checking_options.checking
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    question: str,
    thread: str,
    continues: str,
    paths: Sequence[str],
    citations: CitationMode | None,
    home: Path | None,
    **ways: Any,
) -> int:
    """Ask questions and follow-ups in one sitting; QUESTION is the first.

    A follow-up is answered from what the conversation has opened so far; what that does not hold is researched.
    /research QUESTION researches at once, 3 shows citation [3], /help lists the rest. Ctrl-C ends the answer at work,
    Ctrl-D the chat. Without a terminal, stdin holds a question or command a line.

    \b
        assay chat --in papers/
        assay chat --thread harbour
        printf 'Who built it?\\nWhen?\\n' | assay chat --continue
    """
    if thread and continues:
        raise click.UsageError("--thread and --continue both say what to go on with; give one of them")
    if "-" in paths:
        raise click.UsageError("stdin holds the questions of a chat; name the documents with --in PATH")
    configured = settings.load()
    terms = ChatTerms(
        sources=paths_from(paths) if paths else None,
        options={**ways, "ask": "never"},
        citations=citations or configured.citations,
        verbosity=state.verbosity,
    )
    return asyncio.run(_chat(question, thread, continues, terms, home, configured))


async def _chat(
    question: str, thread: str, continues: str, terms: ChatTerms, home: Path | None, configured: settings.Settings
) -> int:
    async with opened(home, configured) as assay:
        session = ChatSession(assay, terms)
        await session.resume(thread, continues)
        person = sys.stdin.isatty() and settings.surroundings().interactive
        entered = LineInput(await _recent(assay), person=person)
        if person and terms.verbosity >= 0:
            say(session.greeting())
        try:
            with termination():
                code = await _served(session, entered, question)
        except Terminated:
            say("ended; to go on: assay chat --continue")
            return Exit.TERMINATED
        if terms.verbosity >= 0 and session.asked:
            say(session.farewell())
        await keep_to_rules(assay, terms.verbosity)
        return code


async def _served(session: ChatSession, entered: LineInput, question: str) -> int:
    """Answer line after line; the exit code is that of the last answer where no person looks on."""
    line: str | None = question or await entered.line()
    while line is not None and await session.serve(line):
        line = await entered.line()
    return Exit.DONE if entered.person else session.code


async def _recent(assay: Assay) -> list[str]:
    """The latest questions, the oldest of them first."""
    return list(dict.fromkeys(row.question for row in reversed(await assay.runs(RECENT))))
