"""An agent's history, made to fit the window.

A tool result has three forms: in full, its best passages only, and a note with the ids of what was shown. When the
history is too long, the oldest results are shortened first; a shortened passage can be cited and recalled all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.agents.sizing import size
from assay.core.messages import Message
from assay.core.shown import show
from assay.core.text import words
from assay.evidence.ledger import Block

BEST = 3
FORMS = 3


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one call; `forms` from the longest to the shortest."""

    call_id: str
    forms: tuple[str, str, str]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the model said, what its calls gave, and what it was told after."""

    said: Message
    results: tuple[Result, ...] = ()
    told: str = ""


class History:
    """The opening messages and the turns since."""

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = tuple(opening)
        self.turns: list[Turn] = []

    def add(self, turn: Turn) -> None:
        """Append a turn."""
        self.turns.append(turn)

    def messages(self, tokens: int, closing: Sequence[Message] = ()) -> tuple[Message, ...]:
        """The whole history with `closing` at its end, shortened to `tokens` where that can be done.

        Results are shortened oldest first, then whole turns are left out, oldest first; the opening, the last turn and
        `closing` always stay, and no result stands without its call.
        """
        turns = [[_said(turn, form) for form in range(FORMS)] for turn in self.turns]
        sizes = [[sum(map(size, form)) for form in turn] for turn in turns]
        spare = tokens - sum(map(size, (*self._opening, *closing)))
        forms = _shorten(sizes, spare)
        kept = [turn[form] for turn, form in zip(turns, forms, strict=True)]
        left_out = _left_out([each[form] for each, form in zip(sizes, forms, strict=True)], spare)
        return (*self._opening, *(message for turn in kept[left_out:] for message in turn), *closing)


def _shorten(sizes: Sequence[Sequence[int]], spare: int) -> list[int]:
    """Which form each turn takes."""
    forms = [0] * len(sizes)
    taken = sum(each[0] for each in sizes)
    for form in range(1, FORMS):
        for place, each in enumerate(sizes):
            if taken <= spare:
                return forms
            taken -= each[forms[place]] - each[form]
            forms[place] = form
    return forms


def _left_out(sizes: Sequence[int], spare: int) -> int:
    """How many turns to leave out at the beginning."""
    taken, count = sum(sizes), 0
    while taken > spare and count < len(sizes) - 1:
        taken -= sizes[count]
        count += 1
    return count


def _said(turn: Turn, form: int) -> tuple[Message, ...]:
    results = (Message(role="tool", text=each.forms[form], call_id=each.call_id) for each in turn.results)
    told = (Message(role="user", name="note", text=turn.told),) if turn.told else ()
    return (turn.said, *results, *told)


def result(call_id: str, note: str, blocks: Sequence[Block], about: str) -> Result:
    """A tool result; `about` is the task, by which the best passages are chosen."""
    full = _joined(note, blocks)
    few = _joined("Shortened. " + _ids(blocks), _best(blocks, about)) if blocks else note
    short = "Shortened; recall or open to read again. " + _ids(blocks) if blocks else note[:200]
    forms = sorted((full, few, short), key=len, reverse=True)
    return Result(call_id=call_id, forms=(forms[0], forms[1], forms[2]))


def _joined(note: str, blocks: Sequence[Block]) -> str:
    shown = (show(block.source, block.passages) for block in blocks)
    return "\n\n".join(text for text in (note, *shown) if text)


def _ids(blocks: Sequence[Block]) -> str:
    shown = (f"{block.source.id}: {', '.join(each.id for each in block.passages)}" for block in blocks)
    return "Shown were " + "; ".join(shown) + "."


def _best(blocks: Sequence[Block], about: str) -> list[Block]:
    wanted = set(words(about))
    rated = sorted(
        ((len(wanted & set(words(each.text))), each.id) for block in blocks for each in block.passages),
        key=lambda pair: -pair[0],
    )
    best = {id for _, id in rated[:BEST]}
    kept = (Block(source=b.source, passages=tuple(p for p in b.passages if p.id in best)) for b in blocks)
    return [block for block in kept if block.passages]
