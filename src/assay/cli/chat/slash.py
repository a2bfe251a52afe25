"""The commands of a chat: what each takes, and its line in the help."""

from __future__ import annotations

import difflib
import re

SLASH = {
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
_NUMBER = re.compile(r"\[?(\d{1,4})\]?")


def read(line: str) -> tuple[str, str]:
    """A line as a command and what it is given; the command is "" where the line is a question."""
    if number := _NUMBER.fullmatch(line):
        return "cite", number[1]
    if not line.startswith("/"):
        return "", line
    word, _, rest = line[1:].partition(" ")
    name = word.lower()
    return _OTHER.get(name, name) or "help", rest.strip()


def unknown(name: str) -> str:
    """What to say of a command there is none of."""
    near = difflib.get_close_matches(name, SLASH, n=1, cutoff=0.6)
    return f"no command /{name}; " + (f"did you mean /{near[0]}?" if near else "/help lists those there are")


def listed() -> list[str]:
    """The help, a line each."""
    width = max(len(f"/{name} {takes}") for name, (takes, _) in SLASH.items())
    return [f"  {f'/{name} {takes}'.ljust(width)}  {about}" for name, (takes, about) in SLASH.items()]
