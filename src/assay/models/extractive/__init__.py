"""The built-in model: plans from the question's words, quotes documents, and gives no answer if they have none.

It is deterministic and does no I/O of its own. An answer is chosen in these steps (`answers.select`):

1. The question is taken apart: its parts, the documents it names, what it asks about them (`models.questions`).
2. The passages shown become header fields, table rows and sentences, each with what is above it
   (`models.shown_documents`). If the question names documents by number or title, only these count; if none of them is
   there, there is no answer (`shelf.resolve`).
3. Figures computed by code come first, then rows that the cells named in the question choose, then the header fields it
   asks for ("Status of PEP 6: Final").
4. All else is scored as statements (`core.relevance.judge`): features of a statement and its context (`features`) with
   trained weights (`weights.json`). What cannot answer at all is left out, as what is about another year, or only asks.
   What defines the thing asked about, or is about its entry in a reference, comes first; back matter comes last.
5. A second trained model gives the chance that the best three answer. Below a bound there is no answer, nor if a name
   of the question is nowhere, or they lack the measure asked for, or affirm what it denies.
6. The best statement is kept, with those hardly worse, without repetitions. The writer opens with these (`reports`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from assay.core.errors import ConfigError, ModelError
from assay.core.lazy import lazy_module, regex
from assay.core.messages import CallDone, Delta, Price, Profile, Reply, Request, Task, TextDelta, ToolCall
from assay.core.ports import Access
from assay.core.text import estimate_tokens
from assay.core.usage import Usage
from assay.models.extractive import actions, reflection, reports
from assay.models.extractive.requests import last_message, question_of
from assay.models.questions.conditions import HeaderKey, conditions, find_phrase_arguments, is_unconditional
from assay.models.questions.question import analyze

if TYPE_CHECKING:
    from assay.models.extractive import field_values
else:
    field_values = lazy_module("assay.models.extractive.field_values")

NAME = "extractive"
DONE_TEXT = "Done: the best documents found are read."


def _fill_fields(request: Request) -> tuple[ToolCall, ...]:
    return field_values.fill_fields(request)  # few runs fill a form: the module is loaded then


def plan_survey(request: Request) -> tuple[ToolCall, ...]:
    """How to go over all documents; none if that is not certain. This model cannot read batches of documents."""
    if not request.user_texts("headers"):
        return (ToolCall(id="survey-1", name="report_rows", arguments={"rows": []}),)
    text = question_of(request)
    if (phrases := find_phrase_arguments(text)) is not None:
        return (ToolCall(id="survey-1", name="find_phrase", arguments=phrases),)
    question = analyze(text)
    if where := conditions(question, last_message(request, "headers", list[HeaderKey]) or []):
        return (ToolCall(id="survey-1", name="filter_documents", arguments={"where": where}),)
    return (ToolCall(id="survey-1", name="count_documents"),) if is_unconditional(question) else ()


_CALLING: dict[Task, Callable[[Request], tuple[ToolCall, ...]]] = {
    "triage": actions.triage,
    "background": actions.background,
    "orchestrate": actions.orchestrate,
    "research": actions.research,
    "fill": _fill_fields,
    "survey": plan_survey,
}
_WRITING: dict[Task, Callable[[Request], str]] = {
    "plan": reflection.plan,
    "find": reports.find,
    "analyze": reflection.analyze,
    "reflect": reflection.reflect,
    "assess": reflection.assess,
    "write": reports.write,
    "answer": reports.answer,
}
_PIECE = regex(r".{1,80}(?:\s+|$)|.{1,80}", re.DOTALL)


class Extractive:
    """Answers each task by a fixed method; `core.ports.Model`."""

    def __init__(self, name: str = NAME) -> None:
        price = Price(input=0.0, output=0.0)
        self._profile = Profile(
            name=name, window=1_000_000, max_output=20_000, price=price, deterministic=True, local=True, quotes=True
        )

    @property
    def profile(self) -> Profile:
        """Free and deterministic, with a window larger than any run needs."""
        return self._profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer `request` in pieces, then as a whole.

        Raises:
            ModelError: a task it does not know (it is no judge), or a message it cannot read.
        """
        text, calls = respond(request)
        for piece in _PIECE.findall(text):
            yield TextDelta(piece)
        for index, call in enumerate(calls):
            yield CallDone(index, call)
        usage = Usage(
            model_calls=1, input_tokens=_request_size(request), output_tokens=estimate_tokens(text) + 20 * len(calls)
        )
        yield Reply(text=text, calls=calls, usage=usage, stop="calls" if calls else "end", model=self._profile.name)

    async def offered(self) -> tuple[str, ...]:
        """The model itself."""
        return (NAME,)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def respond(request: Request) -> tuple[str, tuple[ToolCall, ...]]:
    """The text and the calls that answer `request`.

    Raises:
        ModelError: a task it does not know, or a message it cannot read.
    """
    if make_calls := _CALLING.get(request.task):
        calls = make_calls(request)
        return ("" if calls else DONE_TEXT), calls
    if write_text := _WRITING.get(request.task):
        return write_text(request), ()
    raise ModelError(f"the extractive model cannot {request.task}", transient=False)


def _request_size(request: Request) -> int:
    return estimate_tokens(request.system) + sum(estimate_tokens(message.text) for message in request.messages)


def create(name: str, access: Access) -> Extractive:
    """The built-in model; it needs no service.

    Raises:
        ConfigError: it was given an address.
    """
    if access.url:
        raise ConfigError(f"services.{NAME} is the name of the built-in model; choose another name for your service")
    return Extractive(name)
