"""How a question follows on what was said before it: the same topic or another, and what its pronouns stand for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.conversation import Said
from assay.core.messages import Request, ToolCall
from assay.core.plan import FollowUp
from assay.models.extractive.planning import DEPTH, classify, question_of, rare
from assay.models.extractive.question import analyze, parts, points_back
from assay.models.extractive.surveying import is_whole
from assay.models.extractive.terms import stem, stems

NAMED = 4
"""Words of the question before which are put in the place of a pronoun, where no document is named."""
OWN = 1
"""A question with more words of its own than this is taken to say enough itself."""


def triage(request: Request) -> tuple[ToolCall, ...]:
    """One `generate_plan`; the built-in model never answers without documents."""
    complexity = classify(question_of(request))
    count = len(parts(question_of(request)))
    arguments: dict[str, object] = {
        "reasoning": f"The question has {count} part{'' if count == 1 else 's'} and is {complexity} by its words.",
        "complexity": complexity,
        "depth": DEPTH[complexity],
        "follow_up": follow_up(request),
    }
    if whole := restated(request):
        arguments["restated"] = whole
    if is_whole(whole or question_of(request)):
        arguments["whole_collection"] = True
    return (ToolCall(id="triage-1", name="generate_plan", arguments=arguments),)


def conversation(request: Request) -> tuple[Said, ...]:
    """What was said before; nothing where the request does not say it, or it cannot be read."""
    texts = request.named("conversation")
    try:
        return msgspec.json.decode(texts[-1], type=tuple[Said, ...]) if texts else ()
    except msgspec.DecodeError:
        return ()


def follow_up(request: Request) -> FollowUp:
    """The same topic where the question points back, or shares a word which carries a topic with what was said."""
    said = conversation(request)
    question = analyze(question_of(request))
    if not said:
        return "new_topic"
    known = {key for each in said for key in stems(each.text)}
    shared = any(stem(word) in known for word in rare(question))
    return "complex_follow_up" if shared or points_back(question) or not rare(question) else "new_topic"


def restated(request: Request) -> str:
    """The question with what its pronoun stands for in brackets; empty where it has none, or says enough itself.

    A question of several parts is left alone: a pronoun in one may stand for what another names.
    """
    question = analyze(question_of(request))
    enough = bool(question.mentions) or len(rare(question)) > OWN or len(parts(question.text)) > 1
    if enough or not points_back(question):
        return ""
    subject = _subject(conversation(request))
    return f"{question.text.strip().rstrip('?？؟ ')} ({subject})?" if subject else ""


def _subject(said: Sequence[Said]) -> str:
    """What the user asked about last: the documents named, or quoted words; else the words of their last question."""
    asked = [analyze(each.text) for each in reversed(said) if each.by == "user"]
    named = [[*(mention.text for mention in each.mentions), *each.quoted] for each in asked]
    told = [rare(each)[:NAMED] for each in asked]
    return next((", ".join(each) for each in named if each), "") or next((" ".join(each) for each in told if each), "")
