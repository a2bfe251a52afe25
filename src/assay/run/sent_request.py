"""A request as its model gets it: with its user, its room, and how near its passages are to its questions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

import msgspec

from assay.core import passage_context
from assay.core.brief import Role, Timeouts
from assay.core.errors import SearchError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.messages import Closeness, Request, Task, input_tokens, shown_text
from assay.core.plan import Plan
from assay.core.ports import Cosines, TextKind
from assay.core.usage import Usage
from assay.run.speculation import ForeseenCall
from assay.run.steps import RunPlace

LONG_TASKS: frozenset[Task] = frozenset(("find", "analyze", "write"))
"""Tasks with long replies, during which a model may pause to reason."""
USABLE_WINDOW_SHARE = 0.95
"""The usable part of a window: the size of a request is an estimate."""


def add_timeouts(request: Request, timeouts: Timeouts) -> Request:
    """`request` with the timeouts that its run sets for this kind of call."""
    return msgspec.structs.replace(
        request,
        timeout=timeouts.report if request.task in LONG_TASKS else timeouts.tokens,
        first_token=timeouts.first_token,
        total=timeouts.total,
    )


def add_user(request: Request, user: str) -> Request:
    """`request` with what a provider may know of its user: enough to tell users apart, and no name."""
    if not user:
        return request
    return msgspec.structs.replace(request, user=hashlib.sha256(f"assay user {user}".encode()).hexdigest()[:32])


def prepare_request(run: RunPlace, name: str, request: Request) -> Request:
    """`request` in the form in which the model `name` gets it: with its user, and with the room it is known to need."""
    request = add_user(request, run.brief.user)
    room = extra_tokens(run, name, request)
    return msgspec.structs.replace(request, room=room) if room else request


def extra_tokens(run: RunPlace, name: str, request: Request) -> int:
    """Extra tokens, beyond its answer, that a model gets in a call."""
    granted = run.execution.breakers.granted_tokens(name)
    return min(granted, max(0, free_window_tokens(run, name, request))) if granted else 0


def free_window_tokens(run: RunPlace, name: str, request: Request) -> int:
    """Tokens of a model's window that neither the request nor its answer takes."""
    window = run.world.models[name].profile.window
    return int(window * USABLE_WINDOW_SHARE) - input_tokens(request) - request.max_tokens


def wait_for_turn(run: RunPlace, name: str) -> AbstractAsyncContextManager[None]:
    """Wait for the rate limiter; the timeouts begin afterwards."""
    rate_limiter = run.world.rate_limiter
    return nullcontext() if rate_limiter is None else rate_limiter.call_slot(name)


def begin_foreseen_call(
    run: RunPlace, slot: str, role: Role, build: Callable[[], Request | None], *, certain: bool = False
) -> None:
    """Begin the call, if limits, settings and its model allow it and it was not begun yet.

    Only the first model of a role is asked: a fallback is for what goes wrong. A model that gives the same reply at
    once each time has nothing to gain.
    """
    execution = run.execution
    name = run.brief.models[role][0]
    model, token_limit = run.world.models[name], execution.spare_tokens()
    if not token_limit or model.profile.deterministic or execution.breakers.is_open(name, run.world.clock.monotonic()):
        return
    request = build()
    if request is None:
        return
    prepared = prepare_request(run, name, add_timeouts(request, run.brief.timeouts))
    token_limit = sys.maxsize if certain else token_limit
    if input_tokens(prepared) < token_limit and not execution.foreseen.expects(slot, name, prepared):
        execution.foreseen.add(slot, ForeseenCall(name, model, prepared, wait_for_turn(run, name), token_limit))


log = logging.getLogger(__name__)


# How near the passages of a request are to its questions, for a model that only quotes and chooses by that too.

CHOOSING_TASKS: frozenset[Task] = frozenset(("research", "find", "analyze", "write", "answer"))
"""Tasks that are answered by choosing among passages."""
MAX_PASSAGES = 400
"""The number of passages of one request that are compared, from the first on."""
MAX_QUESTIONS = 12
PATIENCE = 30.0
"""Seconds to wait for an embedder; one that takes longer is not asked again in this run."""


def max_comparison_cost(run: RunPlace, role: Role, request: Request) -> Usage:
    """The most that comparing may cost; nothing if it is not done."""
    similarity = run.world.similarity
    if similarity is None or not _is_asked(run, role, request):
        return Usage()
    return similarity.max_usage([*_questions(request), *_passages(request).values()])


async def compare_passages(run: RunPlace, request: Request) -> tuple[Closeness | None, Usage]:
    """Return the cosines of the shown passages with each question, and their cost.

    None if there is nothing to compare or the embedder does not answer: the model then chooses by words alone.
    """
    if run.world.similarity is None or request.task not in CHOOSING_TASKS:
        return None, Usage()
    questions, passages = _questions(request), _passages(request)
    if not questions or not passages:
        return None, Usage()
    try:
        cosines = await compare_texts(run, questions, list(passages.values()), "query")
    except SearchError as failed:
        log.warning("choosing by words alone: %s", failed)
        return None, Usage()
    pairs = zip(questions, cosines.rows, strict=True)
    return Closeness(
        cosines={question: dict(zip(passages, row, strict=True)) for question, row in pairs}
    ), cosines.usage


async def compare_texts(
    run: RunPlace, texts: Sequence[str], other_texts: Sequence[str], kind: TextKind = "passage"
) -> Cosines:
    """Return the cosines of texts with others. Call it inside a step, which pays for it.

    Raises:
        SearchError: there is no embedder, or it does not answer in time.
    """
    similarity = run.world.similarity
    if similarity is None or run.execution.without_similarity:
        raise SearchError("no embedder answers")
    try:
        async with asyncio.timeout(PATIENCE):
            return await similarity.cosines(texts, other_texts, kind)
    except TimeoutError as error:
        run.execution.without_similarity = True
        raise SearchError(f"{similarity.name} did not answer in {PATIENCE:.0f} s") from error


def _is_asked(run: RunPlace, role: Role, request: Request) -> bool:
    return request.task in CHOOSING_TASKS and any(
        run.world.models[name].profile.quotes for name in run.brief.models[role]
    )


def _questions(request: Request) -> list[str]:
    """The text of the questions asked: the question, the first line of each task, the steps of the plan."""
    lines = (text.strip().partition("\n")[0].strip() for text in request.user_texts("task"))
    titles = (step.title for plan in _plans(request) for step in plan.steps)
    texts = (*request.user_texts("question"), *lines, *titles)
    return list(dict.fromkeys(text.strip() for text in texts if text.strip()))[:MAX_QUESTIONS]


def _plans(request: Request) -> list[Plan]:
    plans = []
    for text in request.values("plan"):
        try:
            plans.append(msgspec.json.decode(text, type=Plan))
        except DECODE_ERRORS:
            continue  # in prose, for a model that reads it
    return plans


def _passages(request: Request) -> dict[str, str]:
    """The texts of the passages shown, by id."""
    passage_texts: dict[str, str] = {}
    for message in request.messages:
        for source in passage_context.read_sources(message.text) if message.text else ():
            passage_texts.update(
                (passage.id, shown_text(source, passage)) for passage in source.passages if passage.text != source.title
            )
    return dict(list(passage_texts.items())[:MAX_PASSAGES])
