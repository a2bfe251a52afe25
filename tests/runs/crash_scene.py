"""One home in which a run is killed and taken up again, and what has to be true of it then."""

from __future__ import annotations

import atexit
import shutil
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache, reduce
from hashlib import sha256
from operator import add
from pathlib import Path
from typing import Any

import crashing
import msgspec
import warm
from crash_stories import STORIES
from crashing import FORMATS, Called, Orders

from assay.core.usage import Usage
from assay.core.view import RunView

OLD = b"the report of another day"
SECONDS = 300
"""How long a process may take."""


@cache
def sources_of(story: str) -> Path:
    """The documents of a story, in one place for all its runs: a document's address is a part of what is weighed."""
    folder = tempfile.mkdtemp(prefix="assay-crash-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, text in STORIES[story].documents.items():
        (Path(folder) / name).write_text(text)
    return Path(folder)


class Scene:
    """A home, its documents, and what the model's server has counted outside the database."""

    def __init__(self, folder: Path, story: str) -> None:
        self.story = story
        self.home, self.sources, self.exports = folder / "home", sources_of(story), folder / "exports"
        self.outside, self.result = folder / "outside.log", folder / "result"
        self.exports.mkdir(parents=True)
        self.outside.touch()
        for suffix in FORMATS:
            (self.exports / f"report{suffix}").write_bytes(OLD)

    def start(self, *, resume: bool = False, **orders: Any) -> warm.Started:
        """A process which begins the run or takes it up."""
        places = {name: str(getattr(self, name)) for name in ("home", "sources", "outside", "result", "exports")}
        return warm.call(crashing.research, Orders(story=self.story, **places, resume=resume, **orders))

    def finish(self, process: warm.Started) -> bool:
        """Wait for a process; whether it ended by itself."""
        code = process.wait(SECONDS)
        assert code in (0, -signal.SIGKILL), code
        return code == 0

    def has_run(self) -> bool:
        """Whether a run is stored."""
        try:
            return bool(self._rows("SELECT count(*) FROM runs")[0][0])
        except (sqlite3.OperationalError, StopIteration):
            return False

    def finished(self) -> bool:
        """Whether the stored run has ended."""
        return self.has_run() and self._rows("SELECT status FROM runs")[0][0] == "completed"

    def recover(self) -> None:
        """Resume (or start, when nothing was stored yet) to the end; no stored call is made again."""
        has_run = self.has_run()
        before, stored = len(self.calls()), self.stored() if has_run else Counter[str]()
        assert self.finish(self.start(resume=has_run))
        again = Counter(call.request for call in self.calls()[before:] if not call.answered)
        asked = Counter(request for request, _, _ in self._replies())
        for request, count in again.items():
            assert count <= asked[request] - stored[request], "a call whose answer was stored was made again"

    def calls(self) -> list[Called]:
        """What the server has noted."""
        return [msgspec.json.decode(line, type=Called) for line in self.outside.read_bytes().splitlines()]

    def again(self) -> list[Called]:
        """Calls which were made once more than their answers are stored: those in flight when the process died."""
        left, again = self.stored(), []
        for call in self.calls():
            if not call.answered:
                left[call.request] -= 1
                again += [call] if left[call.request] < 0 else []
        return again

    def stored(self) -> Counter[str]:
        """How many steps hold the answer to each request."""
        return Counter(request for request, _, _ in self._replies())

    def ended(self) -> dict[str, Any]:
        """What the run came to, without what no two runs share."""
        _, view = msgspec.json.decode(self.result.read_bytes(), type=tuple[dict[str, int], RunView])
        return impersonal(view, str(self.sources))

    def points(self) -> dict[str, int]:
        """How many points of each kind the last process came to."""
        reached, _ = msgspec.json.decode(self.result.read_bytes(), type=tuple[dict[str, int], Any])
        return dict(reached)

    # what has to be true

    def check(self, deaths: int = 0) -> None:
        """The log has no gap and no event twice; nothing is held any more; what was spent is what was paid for."""
        log = self._rows("SELECT seq, key FROM events ORDER BY seq")
        assert [seq for seq, _ in log] == list(range(1, len(log) + 1))
        assert len({key for _, key in log}) == len(log)
        assert not self._rows("SELECT step FROM holds WHERE state != 'settled'")
        self.check_budget(deaths)

    def check_budget(self, deaths: int) -> None:
        """A step is charged for its answer and, for each attempt which died, for the worst it may have cost: no less
        than the server has served of it, and no more often than a process died.
        """
        served: dict[str, list[Called]] = {}
        for call in self.calls():
            served.setdefault(call.request, []).append(call)
        charged: dict[str, Usage] = {}
        for request, _, amount in self._replies():
            charged[request] = charged.get(request, Usage()) + amount
        stored = self.stored()
        assert charged.keys() == served.keys(), "what was served is not what was stored"
        for request, calls in served.items():
            _check_call(calls, charged[request], stored[request], deaths)

    def files(self) -> dict[str, bytes]:
        """The exports as they are."""
        return {path.name: path.read_bytes() for path in sorted(self.exports.glob("report.*"))}

    def check_exports(self, before: dict[str, bytes]) -> None:
        """What was there before the run was taken up is the file of another day or this report's, never half of one."""
        after = self.files()
        assert len(after) == len(FORMATS)
        for name, data in before.items():
            assert data in (OLD, after[name]), name
        assert OLD not in after.values()

    # the database

    def _replies(self) -> list[tuple[str, str, Usage]]:
        """Each step which holds a reply: its request, its key, what it was charged."""
        holds = dict(self._rows("SELECT step, amount FROM holds"))
        rows = self._rows("SELECT input_hash, key FROM steps WHERE tag = 'reply/1'")
        return [(request, key, msgspec.json.decode(holds[key], type=Usage)) for request, key in rows]

    def _rows(self, query: str) -> list[Any]:
        with sqlite3.connect(next(self.home.glob("*.db"))) as database:
            return database.execute(query).fetchall()


def _check_call(calls: list[Called], charged: Usage, stored: int, deaths: int) -> None:
    """See `Scene.check_budget`, of the calls of one request, whose answer `stored` steps hold."""
    asked = [call for call in calls if not call.answered]
    answers = [call.spent for call in calls if call.answered]
    kept = reduce(add, answers[len(answers) - stored :], Usage())
    spent = sum(usage.tokens for usage in answers) + asked[0].spent.tokens * (len(asked) - len(answers))
    died = charged.model_calls - stored
    text = f"{asked[0].task}: asked {len(asked)}, answered {len(answers)}, charged {charged}"
    assert len(asked) - stored <= died <= deaths, text
    assert charged.tokens == kept.tokens + died * asked[0].worst.tokens, text
    assert spent <= charged.tokens, text


PERSONAL = frozenset(
    "run_id created_at started_at finished_at began_at ended_at last_at fetched_at date thread "
    "text_sha256 last_seq seq restarts pauses low usage user".split()
)


def impersonal(view: RunView, folder: str) -> dict[str, Any]:
    """A view without ids, times, the day, places and counts of what two runs never share."""
    day = view.created_at.partition("T")[0]
    assert day not in ("", view.created_at)
    assert sha256(view.report.text.encode()).hexdigest() == view.report.text_sha256
    data = msgspec.json.decode(msgspec.json.encode(view).replace(folder.encode(), b"").replace(day.encode(), b"DAY"))
    kept: dict[str, Any] = _without(data)
    _tell_paid([search for place in ("phases", "lanes") for each in kept[place] for search in _searches(each)])
    return kept


def _searches(holder: dict[str, Any]) -> list[dict[str, Any]]:
    return [search for turn in holder["turns"] for search in turn["searches"]]


def _tell_paid(searches: list[dict[str, Any]]) -> None:
    """Say of each search how often its question was paid for. Of agents which ask the same at once the first pays, and
    which is the first after a death is a matter of what was stored of each: what they are answered is the same.
    """
    paid = Counter((each["query"], each["provider"]) for each in searches if not each["shared"])
    for each in searches:
        each["shared"] = paid[each["query"], each["provider"]]


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two such views differ, and what each has there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key), other.get(key), f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from differences(mine, theirs, f"{at}/{place}")
    elif one != other:
        yield f"{at}: {one!r:.300} is now {other!r:.300}"


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if key not in PERSONAL}
    kept = [_without(each) for each in value] if isinstance(value, list) else value
    if isinstance(kept, list) and kept and isinstance(kept[0], dict) and "path" in kept[0]:
        kept.sort(key=lambda turn: turn["path"])  # calls of one turn are made at once: which begins first is nobody's
    return kept
