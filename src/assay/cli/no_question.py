"""What somebody types in a question's place which is none: a command in words, a file, an address.

Nothing here reads a language: words are compared with the names of commands, so what names anything else is a question.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

MOST_WORDS = 5
"""Who types more words than this has something to ask."""
NEAR = 0.75
"""How alike two words are to be one misspelt (difflib's ratio)."""
_FILLERS = frozenset("a all and in me my now our please pls some the these this us your".split())
"""What people put round the name of a command out of politeness or grammar. No word which asks is among them."""
_NOUNS = {
    "collection": "docs",
    "collections": "docs",
    "conversation": "threads",
    "conversations": "threads",
    "document": "docs",
    "documents": "docs",
    "key": "keys",
    "model": "models",
    "report": "runs",
    "reports": "runs",
    "run": "runs",
    "settings": "config",
    "user": "users",
}
"""What people call the things which a group of commands is about."""
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_PATH = re.compile(r"[\w.~/\\-]*(?:[/\\]|\.(?:csv|docx|epub|html?|json|md|pdf|rst|txt|xlsx|zip))", re.IGNORECASE)


Inside = Callable[[str], Mapping[str, str]]
"""Of a command which is a group, what its commands are called, and each one's name; nothing of another."""


def hint(words: str, names: Collection[str], habits: Mapping[str, str], inside: Inside) -> str:
    """What was meant, as the end of a message; nothing, where `words` may be a question.

    Args:
        names: the commands.
        habits: what else is understood as a first word, with the command line it stands for.
        inside: what is in a group of commands.
    """
    if _ADDRESS.fullmatch(words):
        return (
            "an address alone is no question; "
            f'to ask about the page: assay "QUESTION" --in {words}; to read it: assay fetch {words}'
        )
    if _is_path(words):
        path = shlex.quote(words)
        return f'a path alone is no question; to ask about it: assay "QUESTION" --in {path}'
    if not any(char.isalnum() for char in words):
        return 'a question has words; for example: assay "How does it work?" --in docs/'
    meant = _command(words, names, habits, inside)
    return f"did you mean '{meant}'? (to research the words: assay research {shlex.quote(words)})" if meant else ""


def _is_path(words: str) -> bool:
    if _PATH.fullmatch(words):
        return True
    try:
        return Path(words).is_file()
    except (OSError, ValueError):  # longer than a name may be
        return False


def _command(text: str, names: Collection[str], habits: Mapping[str, str], inside: Inside) -> str:
    """The command line of which `text` names each part, and nothing else."""
    words = [word.strip("?!.,:;'\"") for word in text.lower().split()]
    words = [word for word in words if word and word not in _FILLERS]
    if not 0 < len(words) <= MOST_WORDS or len(words) == 1 == len(text.split()):
        return ""
    named = {word: _NOUNS.get(word) or _near(word, names) for word in words}
    if not any(named.values()):
        meant = [_near(word, habits) for word in words]
        return f"assay {habits[meant[0]]}" if all(meant) else ""
    candidates = [(not inside(name), word != name, at) for at, (word, name) in enumerate(named.items()) if name]
    group = list(named.values())[min(candidates)[-1]]  # a group before a command, the very word before a like one
    parts = inside(group)
    verbs = [near for word, name in named.items() if name != group and (near := _near(word, [*parts, *habits, *names]))]
    if len(verbs) < sum(name != group for name in named.values()):
        return ""
    return " ".join(["assay", group, *[parts[verb] for verb in verbs if verb in parts][:1]])


def _near(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=NEAR)
    return near[0] if near else ""
