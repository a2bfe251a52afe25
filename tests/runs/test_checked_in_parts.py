"""Reports which are written in parts, and in tables, are checked while they stream like any other."""

from __future__ import annotations

import msgspec
from research import MISTRAL, TIDE, Log, Sea, agent, planned, report_wanted, sends
from slow_writing import SLOW, Slow, of_claims, places_are_right

from assay.core import events as e
from assay.core.messages import Reply
from assay.core.view import fold_events
from assay.models.script import Scene, says

SMALL = msgspec.structs.replace(SLOW, window=8_192, max_output=2_000)
LONG = {
    TIDE: " ".join(f"Fact {at} of the tide at Brest in the year of the great storm. [S1001.1]" for at in range(130)),
    MISTRAL: " ".join(f"Fact {at} of the mistral, of which sailors tell so much. [S2001.1]" for at in range(130)),
}
ONE = (
    "It rises a good deal at Brest. [S1001.1]\n\n## Tide at Brest\n\nIt turns twice a day. [S1001.1]\n\nSo it goes on."
)
TWO = (
    "## Winds of the mistral\n\nThe mistral blows from the north-west. [S2001.1]\n\n"
    "| wind | from |\n|---|---|\n| mistral | north-west [S2001.1] |\n| none | nowhere |\n\nThat is all."
)


UNOPENED = says("It depends.", task="write", contains="only the beginning")


def large(*writer: Scene) -> Slow:
    agents = [*agent(TIDE, "tide Brest", LONG[TIDE]), *agent(MISTRAL, "mistral", LONG[MISTRAL])]
    model = Slow([], profile=SMALL)
    model._scenes = [*planned(), sends(TIDE, MISTRAL), *agents, report_wanted(), *writer, UNOPENED, *model._scenes[-1:]]
    return model


def part(number: int, answer: Reply) -> Scene:
    return Scene(answer=answer, task="write", contains=f"part {number} of 2")


async def written(*writer: Scene) -> Log:
    model = large(*writer)
    return await Sea().run(model, checks_off=())


async def test_the_claims_of_both_parts_are_found_while_they_stream() -> None:
    log = await written(part(1, Reply(text=ONE)), part(2, Reply(text=TWO)))
    places_are_right(log.envelopes)
    events = of_claims(log.envelopes)
    assert len(events) == len(set(events))
    early = [
        msg.text
        for each in log.envelopes
        if each.path == ("write",) and isinstance(msg := e.decode(each), e.ClaimFound)
    ]
    assert early[0] == "It rises a good deal at Brest."
    assert "It turns twice a day." in early
    assert any("north-west" in text and "|" in text for text in early)  # a row of the table
    assert log.last(e.VerifySummary).passed


async def test_a_part_which_is_taken_back_leaves_the_part_before_with_its_claims() -> None:
    cut = part(2, Reply(text="## Winds\n\nThe mistral is a fish. [S2001.1]\n\nIt bl", stop="length"))
    log = await written(part(1, Reply(text=ONE)), cut, part(2, Reply(text=TWO)))
    places_are_right(log.envelopes)
    view = fold_events(log.envelopes)
    assert not any("fish" in each.text for each in (*view.claims, *view.removed))
    whole = fold_events((await written(part(1, Reply(text=ONE)), part(2, Reply(text=TWO)))).envelopes)
    assert (view.claims, view.checks, view.removed) == (whole.claims, whole.checks, whole.removed)
    texts = [event.text for event in log.of(e.ClaimFound)]
    assert texts.count("It rises a good deal at Brest.") == 2  # told again, since all was taken back
