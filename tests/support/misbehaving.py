"""Everything a model does wrong, in one script; and documents of which one cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from research import DOCUMENTS, Sea, WordSearch, call

from assay.core.errors import ContextTooLong, StoreError
from assay.core.messages import Profile, Reply, Request
from assay.core.ports import Hit, World
from assay.core.sources import Document
from assay.models.script import Scene, Scripted, calls, fails, says

TITLES = ("Tide at Brest", "Winds of the mistral", "Moon and tide")
WRITTEN = (
    "The tide at Brest rises seven metres. [S1001.1, S9009.9] The mistral blows from the north-west. [S2001.1] "
    "The moon causes most of it. [S4001.2] Everybody knows it. [S77.7]"
)
FENCED_PLAN = (
    "Here is my plan:\n```json\n"
    '{"title": "Brest", "steps": [' + ", ".join(f'{{"title": "{title}"}}' for title in TITLES) + "]}\n```\nGood luck!"
)
REFUSED = Reply(text="I cannot help with that.", stop="refused")


class Careful(WordSearch):
    """A search whose index still knows a document that cannot be read any more."""

    def _hit(self, document: Document, wanted: set[str]) -> Hit:
        try:
            return super()._hit(document, wanted)
        except StoreError:
            return Hit(document=document, score=0.0, spans=())


class Wild(Sea):
    """Documents of which one is dead, and a second model to fall back on."""

    def __init__(self, spare: Scripted) -> None:
        super().__init__({**DOCUMENTS, "dead.md": "# Dead\n\nNobody reads this any more.\n"})
        self.spare = spare
        self.search = Careful(self.store.library, self.reader)
        (dead,) = [each for each in self.store.library.documents(["default"]) if each.name == "dead.md"]
        del self.store.blobs._blobs[dead.sha256]  # type: ignore[attr-defined]

    def world(self, model: Scripted) -> World:
        world = super().world(model)
        return msgspec.structs.replace(world, models={**world.models, self.spare.profile.name: self.spare})


def spare() -> Scripted:
    """The model asked where the first one refuses; the third agent it refuses too."""
    scenes = [
        calls(("search", {"query": "mistral"}), task="research", when=on(TITLES[1])),
        Scene(answer=REFUSED, task="research", when=on(TITLES[2])),
    ]
    return Scripted(scenes, profile=Profile(name="spare"))


def on(title: str) -> Any:
    """Whether a request is about the task of this title."""

    def about(request: Request) -> bool:
        return any(text.startswith(title) for text in request.user_texts("task"))

    return about


def malformed(name: str, text: str, id: str = "") -> Any:
    """A call whose arguments are not the object they should be."""
    return msgspec.structs.replace(call(name, id=id), malformed=text)


def beginning() -> list[Scene]:
    """Triage calls in its text, encoded twice; the look around repeats an id; the plan is cut off, then in prose."""
    twice = '{"name": "generate_plan", "arguments": "{\\"complexity\\": \\"moderate\\"}"}'
    queries = (call("search", id="x", query="tide Brest"), malformed("search", '"{\\"query\\": \\"mistral\\"}"', "x"))
    return [
        says(f"I would call this:\n{twice}", task="triage"),
        Scene(answer=Reply(calls=queries, stop="calls"), task="background"),
        says('{"title": "Brest", "steps": [{"title": "Tide', task="plan"),
        says(FENCED_PLAN, task="plan"),
    ]


def first_agent() -> list[Scene]:
    """Overloaded, silent, calls in its text, calls wrongly in five ways, too long, cut, all its room thought away."""
    about: dict[str, Any] = {"when": on(TITLES[0])}
    wrong = (
        call("google", id="same", query="tide"),
        call("search", id="same", words="tide"),
        call("search", id="", query="tide", limit="3"),
        malformed("search", '{"query": "ti', "same"),
        malformed("open", '"{\\"documents\\": [\\"dead.md\\", \\"S1001\\"]}"', "five"),
    )
    found = "The tide at Brest rises seven metres. [S1001.1, S1001.99] Everybody knows it. [S77.7]"
    return [
        fails("overloaded", retry_after=0.0, task="research", turn=0, **about),
        says("", task="research", turn=0, **about),
        says('Well: {"name": "search", "arguments": {"query": "tide Brest"}}', task="research", turn=1, **about),
        Scene(answer=Reply(calls=wrong, stop="calls"), task="research", turn=2, **about),
        Scene(answer=ContextTooLong("too long"), task="research", turn=3, **about),
        says("done", task="research", turn=2, **about),  # the oldest turn is left out
        fails("cut", partial="The tide at Genoa", retry_after=0.0, task="find", **about),
        Scene(answer=Reply(thinking="Hm. " * 50, stop="length"), task="find", **about),  # asked again with room
        says("", task="find", **about),
        says(found, task="find", **about),
    ]


def second_agent() -> list[Scene]:
    """The first model refuses to search and then repeats itself."""
    about: dict[str, Any] = {"when": on(TITLES[1])}
    return [
        Scene(answer=REFUSED, task="research", turn=0, **about),
        says("done", task="research", turn=1, **about),
        says("The mistral blows and blows from somewhere. " * 5, task="find", **about),
        says("The mistral blows from the north-west. [S2001.1]", task="find", **about),
    ]


def third_agent() -> list[Scene]:
    """Both refuse, so that it fails; sent again it works."""
    about: dict[str, Any] = {"when": on(TITLES[2])}
    return [
        Scene(answer=REFUSED, task="research", turn=0, **about),
        calls(("search", {"query": "moon"}), task="research", turn=0, **about),
        says("done", task="research", turn=1, **about),
        says("The moon causes most of it. [S4001.2]", task="find", **about),
    ]


def ending() -> list[Scene]:
    """The writer is cut in the middle, then cut off at its cap, and cites what is not there."""
    return [
        fails("cut", partial="The tide at Genoa", retry_after=0.0, task="write"),
        Scene(answer=Reply(text="The tide at Genoa is", stop="length"), task="write"),
        says(WRITTEN, task="write"),
    ]


def orchestrated() -> list[Scene]:
    """The orchestrator talks, then calls everything at once."""
    mixed = (
        call("think", id="a", reasoning="The tide first."),
        call("research_agent", id="", task=TITLES[0]),
        call("generate_report", id="a"),
        call("search", id="b", query="tide"),
        malformed("research_agent", f'"{{\\"task\\": \\"{TITLES[1]}\\"}}"', "b"),
        malformed("research_agent", '{"task": "Find', "c"),
        call("research_agent", id="b", task=TITLES[2], step="3"),
    )
    return [
        says("Let me think about it.", task="orchestrate", turn=0),
        Scene(answer=Reply(calls=mixed, stop="calls"), task="orchestrate", turn=1),
        fails("overloaded", retry_after=0.0, task="orchestrate", turn=2),
        says('{"tool": "generate_report", "parameters": {}}', task="orchestrate", turn=2),
    ]


def reflective() -> list[Scene]:
    """The reflector chats, then wraps its decision; refuses; wants another plan, which nobody writes."""
    return [
        says("Looks fine to me.", task="reflect"),
        says('```json\n{"decision": "CONTINUE", "reasoning": 7}\n```', task="reflect"),
        Scene(answer=Reply(text="", stop="length"), task="reflect"),  # asked again with room
        says("", task="reflect"),
        says("I would rather not say.", task="reflect"),
        says('{"decision": "adjust", "changes": "try the moon"}', task="reflect"),
        says('{"steps": [{"title": "Mo', task="plan"),
        says("", task="plan"),
    ]


def script(strategy: str) -> Sequence[Scene]:
    """A whole run of a strategy."""
    deciding = orchestrated() if strategy == "orchestrated" else reflective()
    agents = [*first_agent(), *second_agent(), *third_agent()]
    return [*beginning(), *deciding, *agents, *ending()]
