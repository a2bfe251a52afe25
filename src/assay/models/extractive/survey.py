"""How to go over all documents, if a question asks about all of them."""

from __future__ import annotations

from assay.core.messages import Request, ToolCall
from assay.models.extractive.requests import last, question_of
from assay.models.questions.conditions import HeaderKey, conditions, is_unconditional, phrases_asked
from assay.models.questions.question import analyze


def survey(request: Request) -> tuple[ToolCall, ...]:
    """How to go over all documents; none if that is not certain. This model cannot read batches of documents."""
    if not request.named("headers"):
        return (ToolCall(id="survey-1", name="report_rows", arguments={"rows": []}),)
    text = question_of(request)
    if (phrases := phrases_asked(text)) is not None:
        return (ToolCall(id="survey-1", name="find_phrase", arguments=phrases),)
    question = analyze(text)
    if where := conditions(question, last(request, "headers", list[HeaderKey]) or []):
        return (ToolCall(id="survey-1", name="filter_documents", arguments={"where": where}),)
    return (ToolCall(id="survey-1", name="count_documents"),) if is_unconditional(question) else ()
