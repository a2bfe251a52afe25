"""The events of a response's stream. `sequence_number` counts from 0 without gaps."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.server.openai.objects import ClaimItem, Item, OutputText, ResponseObject, SummaryText
from assay.server.openai.text import Annotation


class StreamPart(msgspec.Struct, frozen=True, kw_only=True):
    """The root of all parts of a stream."""

    type: str
    sequence_number: int


class ResponsePart(StreamPart, frozen=True, kw_only=True):
    """The response in its present state: created, queued, in_progress, completed, failed, incomplete."""

    response: ResponseObject


class ItemPart(StreamPart, frozen=True, kw_only=True):
    """An item was added, or is done."""

    output_index: int
    item: Item


class CallStep(StreamPart, frozen=True, kw_only=True):
    """The state of a search."""

    output_index: int
    item_id: str


class SummaryPart(CallStep, frozen=True, kw_only=True):
    """A part of a summary was added, or is done."""

    summary_index: int
    part: SummaryText


class SummaryDelta(CallStep, frozen=True, kw_only=True):
    """More of a part of a summary."""

    summary_index: int
    delta: str


class SummaryDone(CallStep, frozen=True, kw_only=True):
    """A part of a summary, whole."""

    summary_index: int
    text: str


class ContentPart(CallStep, frozen=True, kw_only=True):
    """A part of the answer was added, or is done."""

    content_index: int = 0
    part: OutputText


class AnswerDelta(CallStep, frozen=True, kw_only=True):
    """More of the answer."""

    content_index: int = 0
    delta: str
    logprobs: tuple[str, ...] = ()


class AnswerDone(CallStep, frozen=True, kw_only=True):
    """The answer, whole."""

    content_index: int = 0
    text: str
    logprobs: tuple[str, ...] = ()


class AnnotationPart(CallStep, frozen=True, kw_only=True):
    """An annotation of the answer."""

    content_index: int = 0
    annotation_index: int
    annotation: Annotation


class ErrorPart(StreamPart, frozen=True, kw_only=True):
    """Why the response fails; the failed response follows."""

    code: str
    message: str
    param: str | None = None


class ClaimPart(StreamPart, frozen=True, kw_only=True):
    """A claim of the answer was checked."""

    type: Literal["assay:claim.checked"] = "assay:claim.checked"
    output_index: int
    item: ClaimItem
