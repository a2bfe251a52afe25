"""Who says a sentence of a conversation: a chat, a transcript, subtitles."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core import passage_context
from assay.core.log_headings import version_above
from assay.core.sources import ordinal_of
from assay.core.text import ends_sentence
from assay.core.turns import SpokenTurn, turns_in
from assay.models.shown_documents.passages import PassageSentence, one_line

MIN_TURNS = 4
"""The fewest turns of a conversation; they are of several speakers, one of whom has several."""
MAX_TURN_PASSAGES = 4
"""The passages in which a turn is followed: all that are quoted for its speaker."""


class _OpenTurn(msgspec.Struct, frozen=True):
    """A turn that goes on, and its passages so far."""

    turn: SpokenTurn
    passages: tuple[str, ...]


def with_speakers(
    sentences: Sequence[PassageSentence], passages: Sequence[passage_context.ShownPassage]
) -> list[PassageSentence]:
    """The sentences of a document, each with its speaker if the document is a conversation.

    Behind the first sentence of a turn, which the speaker's name precedes, that name is the sentence's.
    """
    turns = {passage.id: turns_in(passage.text) for passage in passages}
    if any(version_above(heading) for passage in passages for heading in passage.under.split(" > ")):
        return list(sentences)  # "Fixed: …" of a list of changes
    if not _is_conversation(list(turns.values())):
        return list(sentences)
    before = _turns_before(passages, turns)
    texts = {passage.id: one_line(passage.text) for passage in passages}
    return [
        _with_speaker(sentence, texts[sentence.passage], turns[sentence.passage], before.get(sentence.passage))
        for sentence in sentences
    ]


def _is_conversation(turns: Sequence[Sequence[SpokenTurn]]) -> bool:
    """True if most passages begin a turn, and most turns end like a sentence: the fields of records do not."""
    found = [turn for group in turns for turn in group]
    return (
        len(found) >= MIN_TURNS
        and 1 < len({turn.speaker for turn in found}) < len(found)
        and 2 * sum(map(bool, turns)) >= len(turns)
        and 2 * sum(ends_sentence(turn.said) for turn in found) >= len(found)
    )


def _turns_before(
    passages: Sequence[passage_context.ShownPassage], turns: dict[str, list[SpokenTurn]]
) -> dict[str, _OpenTurn]:
    """The turn that goes on at the beginning of each passage, if the passage with its beginning directly precedes."""
    before: dict[str, _OpenTurn] = {}
    last: passage_context.ShownPassage | None = None
    for passage in passages:
        follows = last is not None and (ordinal_of(last.id) + 1, last.under) == (ordinal_of(passage.id), passage.under)
        if last is not None and follows:
            if turns[last.id]:
                before[passage.id] = _OpenTurn(turns[last.id][-1], (last.id,))
            elif (open_turn := before.get(last.id)) and len(open_turn.passages) < MAX_TURN_PASSAGES:
                before[passage.id] = _OpenTurn(open_turn.turn, (*open_turn.passages, last.id))
        last = passage
    return before


def _with_speaker(
    sentence: PassageSentence, text: str, turns: Sequence[SpokenTurn], before: _OpenTurn | None
) -> PassageSentence:
    place = text.find(sentence.text)
    if turn := next((turn for turn in reversed(turns) if turn.start <= place), None):
        return msgspec.structs.replace(sentence, speaker=turn.speaker, name=turn.prefix if place > turn.start else "")
    if before is None:
        return sentence
    turn = before.turn
    return msgspec.structs.replace(sentence, speaker=turn.speaker, name=turn.prefix, said_from=before.passages)
