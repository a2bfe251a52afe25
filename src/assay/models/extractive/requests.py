"""The messages of a request: the question it is about, and others decoded."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from assay.core.blocks import read_template
from assay.core.brief import Section
from assay.core.errors import ModelError
from assay.core.messages import Request

T = TypeVar("T")


def question_of(request: Request) -> str:
    """The question that a request is about."""
    questions = request.user_texts("question")
    return questions[-1].strip() if questions else ""


def template_of(request: Request) -> tuple[Section, ...]:
    """The headings that a report should have; empty without a template."""
    templates = request.user_texts("template")
    return read_template(templates[-1]) if templates else ()


def last_message(request: Request, name: str, kind: type[T]) -> T | None:
    """The last user message with a name, decoded; None if there is none.

    Raises:
        ModelError: it is not what was agreed on, which no second attempt will change.
    """
    texts = request.values(name)
    if not texts:
        return None
    try:
        return msgspec.json.decode(texts[-1], type=kind)
    except msgspec.DecodeError as error:
        raise ModelError(f"the message {name!r} cannot be read: {error}", transient=False) from error
