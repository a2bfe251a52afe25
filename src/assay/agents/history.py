"""An agent's messages: its history, made to fit the window, and the rules of a turn.

A tool result has three forms: in full, only its best passages, and a note with the ids of what was shown. If the
history is too long, the oldest results are shortened first; a shortened passage can still be cited and recalled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

import msgspec

from assay.agents.replies import retry_request
from assay.core.brief import Role
from assay.core.clean import one_line
from assay.core.errors import ContextTooLong
from assay.core.messages import Message, Profile, Reply, Request, ToolDefinition
from assay.core.passage_context import format_source
from assay.core.text import estimate_tokens, words
from assay.evidence.ledger import SourceBlock
from assay.run.run import Run
from assay.run.voice import HEARD, StreamHooks

# How much fits: output caps, and the room for a history in a window, in tokens.

T = TypeVar("T")
MARGIN = 0.05
MESSAGE_TOKENS = 8


def output_cap(profile: Profile, max_tokens: int) -> int:
    """An output cap: what is wanted, within the model's limit and a quarter of its window."""
    return max(1, min(max_tokens, profile.max_output, profile.window // 4))


def message_room(profile: Profile, system: str, tools: Sequence[ToolDefinition], max_tokens: int) -> int:
    """The part of the window left for messages."""
    fixed_tokens = estimate_tokens(system) + estimate_tokens(msgspec.json.encode(tools).decode()) + max_tokens
    return max(0, int(profile.window * (1 - MARGIN)) - fixed_tokens)


async def ask_with_halving(ask: Callable[[int], Awaitable[T]], tokens: int) -> T:
    """Ask with so many tokens of findings, and with half of them if the model says that they do not fit."""
    try:
        return await ask(tokens)
    except ContextTooLong:
        return await ask(tokens // 2)


async def ask_until_readable(
    run: Run, role: Role, request: Request, read: Callable[[str], T | None], note: str, hooks: StreamHooks = HEARD
) -> T | None:
    """The reply as `read` reads it; asked for once more, with a note, if it cannot be read."""
    reply = await run.ask(role, request, hooks)
    parsed = read(reply.text)
    return parsed if parsed is not None else read((await run.ask(role, retry_request(request, reply, note))).text)


def message_tokens(message: Message) -> int:
    """The size of a message, estimated on the safe side."""
    calls = msgspec.json.encode(message.calls).decode() if message.calls else ""
    return estimate_tokens(message.text) + estimate_tokens(calls) + MESSAGE_TOKENS


def total_tokens(messages: Sequence[Message]) -> int:
    """The size of messages together."""
    return sum(message_tokens(message) for message in messages)


BEST_PASSAGES = 3
FORMS = 3
TITLE_LENGTH = 80


class CallResult(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The full answer to one call; `shorten` makes its two shorter forms, if there is no room for it.

    `gist` is for a reader who cannot ask for more: its best passages, below their sources.
    """

    call_id: str
    text: str
    shorten: Callable[[], tuple[str, str]]
    gist: Callable[[], str] = str

    @cached_property
    def forms(self) -> tuple[str, str, str]:
        """The answer from the longest form to the shortest."""
        shortened, short = self.shorten()
        shortened = min(self.text, shortened, key=len)
        return self.text, shortened, min(shortened, short, key=len)


class ModelTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The model's message, the results of its calls, and the messages after them."""

    message: Message
    results: tuple[CallResult, ...] = ()
    note: str = ""


class History:
    """The opening messages and the turns since."""

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = tuple(opening)
        self._opening_tokens = sum(map(message_tokens, self._opening))
        self._turns: list[_RenderedTurn] = []

    def add(self, turn: ModelTurn) -> None:
        self._turns.append(_RenderedTurn(turn))

    def messages(self, tokens: int, closing_messages: Sequence[Message] = ()) -> tuple[Message, ...]:
        """The whole history with `closing_messages` at its end, shortened to `tokens` if possible.

        Results are shortened oldest first, then whole turns are left out, oldest first. The opening, the last turn and
        `closing_messages` always stay, and every result keeps its call.
        """
        spare = tokens - self._opening_tokens - sum(map(message_tokens, closing_messages))
        turn_forms = list(zip(self._turns, _choose_forms(self._turns, spare), strict=True))
        left_out = _count_dropped_turns([turn.size(form) for turn, form in turn_forms], spare)
        turn_messages = (message for turn, form in turn_forms[left_out:] for message in turn.messages(form))
        return (*self._opening, *turn_messages, *closing_messages)

    @property
    def opening(self) -> tuple[Message, ...]:
        """The messages that always stay."""
        return self._opening

    def hides_results(self, tokens: int, closing_messages: Sequence[Message] = ()) -> bool:
        """True if in so many tokens some results are only named."""
        spare = tokens - self._opening_tokens - sum(map(message_tokens, closing_messages))
        return FORMS - 1 in _choose_forms(self._turns, spare)


class _RenderedTurn:
    """A turn's messages in each form, made and measured once, since a history is rendered at every turn."""

    def __init__(self, turn: ModelTurn) -> None:
        self._turn = turn
        self._forms: dict[int, tuple[tuple[Message, ...], int]] = {}

    def messages(self, form: int) -> tuple[Message, ...]:
        return self._form(form)[0]

    def size(self, form: int) -> int:
        return self._form(form)[1]

    def _form(self, form: int) -> tuple[tuple[Message, ...], int]:
        if form not in self._forms:
            messages = _render(self._turn, form)
            self._forms[form] = messages, sum(map(message_tokens, messages))
        return self._forms[form]


def _choose_forms(turns: Sequence[_RenderedTurn], spare: int) -> list[int]:
    forms = [0] * len(turns)
    used_tokens = sum(turn.size(0) for turn in turns)
    for form in range(1, FORMS):
        for index, turn in enumerate(turns):
            if used_tokens <= spare:
                return forms
            used_tokens -= turn.size(forms[index]) - turn.size(form)
            forms[index] = form
    return forms


def _count_dropped_turns(sizes: Sequence[int], spare: int) -> int:
    """How many turns to leave out at the beginning."""
    used_tokens, count = sum(sizes), 0
    while used_tokens > spare and count < len(sizes) - 1:
        used_tokens -= sizes[count]
        count += 1
    return count


def _render(turn: ModelTurn, form: int) -> tuple[Message, ...]:
    results = (
        Message(role="tool", text=result.forms[form] if form else result.text, call_id=result.call_id)
        for result in turn.results
    )
    note = (Message(role="user", name="note", text=turn.note),) if turn.note else ()
    return (turn.message, *results, *note)


def tool_result(call_id: str, note: str, blocks: Sequence[SourceBlock], topic: str) -> CallResult:
    """A tool result; `topic` is the task, by which the best passages are chosen."""

    def shorten() -> tuple[str, str]:
        if not blocks:
            return note, note[:200]
        best = _best_blocks(blocks, topic)
        remaining = _exclude(blocks, best)
        shortened = _blocks_text(
            f"The best passages. Also shown were {_sources_line(remaining)}." if remaining else "", best
        )
        return shortened, f"Shortened; recall or open to read again: {_sources_line(blocks)}."

    return CallResult(
        call_id=call_id,
        text=_blocks_text(note, blocks),
        shorten=shorten,
        gist=lambda: _blocks_text("", _best_blocks(blocks, topic)) or note,
    )


def _blocks_text(note: str, blocks: Sequence[SourceBlock]) -> str:
    source_texts = (format_source(block.source, block.passages) for block in blocks)
    return "\n\n".join(text for text in (note, *source_texts) if text)


def _sources_line(blocks: Sequence[SourceBlock]) -> str:
    """Sources by id and title, with the ids of their passages."""
    descriptions = (
        f"{block.source.id} “{one_line(block.source.title)[:TITLE_LENGTH]}” ({', '.join(p.id for p in block.passages)})"
        for block in blocks
    )
    return "; ".join(descriptions)


def _exclude(blocks: Sequence[SourceBlock], excluded: Sequence[SourceBlock]) -> list[SourceBlock]:
    """The passages that are in none of `excluded`, below their sources."""
    excluded_ids = {passage.id for block in excluded for passage in block.passages}
    return _filter_blocks(blocks, lambda passage_id: passage_id not in excluded_ids)


def _best_blocks(blocks: Sequence[SourceBlock], topic: str) -> list[SourceBlock]:
    topic_words = set(words(topic))
    ranked = sorted(
        ((len(topic_words & set(words(passage.text))), passage.id) for block in blocks for passage in block.passages),
        key=lambda pair: -pair[0],
    )
    return _filter_blocks(blocks, {id for _, id in ranked[:BEST_PASSAGES]}.__contains__)


def _filter_blocks(blocks: Sequence[SourceBlock], keeps: Callable[[str], bool]) -> list[SourceBlock]:
    """The passages whose ids it keeps, below their sources."""
    filtered = (SourceBlock(source=b.source, passages=tuple(p for p in b.passages if keeps(p.id))) for b in blocks)
    return [block for block in filtered if block.passages]


# Asking with a history: it is made to fit, and shortened once more if the model says that it does not.


def fit_request(
    run: Run, role: Role, history: History, request: Request, closing_messages: Sequence[Message]
) -> tuple[Request, int]:
    """`request` with the messages of `history` and then `closing_messages`, and the tokens that these may have."""
    tokens = message_room(run.profile(role), request.system, request.tools, request.max_tokens)
    messages = history.messages(tokens, closing_messages)
    return msgspec.structs.replace(request, messages=messages, passing=len(closing_messages)), tokens


async def ask_with_history(
    run: Run,
    role: Role,
    history: History,
    request: Request,
    closing_messages: Sequence[Message],
    hooks: StreamHooks = HEARD,
) -> Reply:
    """Ask `request` with the messages of `history` and then `closing_messages`; see `Run.ask`.

    Raises:
        ModelFailed, LimitReached: as `Run.ask`; `ContextTooLong` if half of it is still too long.
    """
    fitted_request, tokens = fit_request(run, role, history, request, closing_messages)
    try:
        return await run.ask(role, fitted_request, hooks)
    except ContextTooLong:
        # The window may be far smaller than reported: half of it, or of the part that can be shortened.
        least = total_tokens(history.messages(0, closing_messages))
        half = min(tokens, total_tokens(fitted_request.messages) + least) // 2
        shorter = msgspec.structs.replace(fitted_request, messages=history.messages(half, closing_messages))
        return await run.ask(role, shorter, hooks)


# The rules of a turn as a message: sentences for the model, values for code.


class RuleTexts(Protocol):
    """Plain data that can be stated in sentences."""

    def sentences(self) -> str:
        """The data as English sentences."""
        ...


def rules_message(data: RuleTexts) -> Message:
    """The `rules` message."""
    return Message(role="user", name="rules", text=data.sentences(), values=msgspec.json.encode(data).decode())


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 step`, `2 steps`, `no steps`."""
    return f"{number or 'no'} {noun if number == 1 else plural or noun + 's'}"


def number_list(numbers: tuple[int, ...]) -> str:
    """Numbers as in a sentence: `2`, `2 and 3`, `2, 3 and 5`."""
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}" if before else last
