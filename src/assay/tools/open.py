"""`open`: read documents, whole if they are short, else in part with an outline; find passages inside."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Annotated, Any

import msgspec

from assay.core.clean import one_line
from assay.core.errors import StoreError, ToolError
from assay.core.events import ClarifyAnswered, ControlAccepted, PlanApproved, SourceFailed, decode
from assay.core.lazy import regex
from assay.core.ports import DocumentTexts
from assay.core.sources import Document, PassageSpan, content_spans
from assay.core.usage import Usage
from assay.core.web_addresses import is_below, names_address, parse_url
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.tools import common
from assay.tools.arguments import define, read
from assay.tools.common import is_page, opened_key, outline, read_page, select_passages

MAX_DOCUMENTS = 8
_SOURCE = regex(r"(S\d+)(?:\.\d+)?(?:\s*:.*)?")
UNKNOWN_ADDRESS = (
    "beside the user's own documents, pages are opened only if a search found them, or if the user or something that "
    "you read names their address in full."
)


class OpenArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `open`."""

    documents: Annotated[
        list[str], msgspec.Meta(description="Source ids (S2003), document names, URLs or titles; several at once.")
    ]
    find: Annotated[str, msgspec.Meta(description="Words to find inside: shows the passages that match best.")] = ""


class OpenTool:
    """Reads documents of the scope by source id, name, URL or title."""

    name = "open"
    definition = define(
        "open",
        "Open documents and pages, and read their passages. Long ones are shown in part, with an outline of their "
        "headings: open them again with `find` for the part you need.",
        OpenArguments,
    )

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Open.

        Raises:
            ToolError: bad arguments, or none of the documents can be read.
        """
        parsed = read(self.definition, arguments, OpenArguments)
        names = tuple(dict.fromkeys(_bare_name(text, ledger) for text in parsed.documents if text.strip()))
        if not names:
            raise ToolError("name at least one document")
        # Where pages are limited, one lane opens them at a time: what an article takes is known when it was read.
        turn = nullcontext() if run.brief.budget.pages is None else run.lock("pages")
        async with turn:
            return await self._answer(run, ledger, names, parsed.find)

    async def _answer(self, run: Run, ledger: Ledger, names: Sequence[str], find: str) -> Observation:
        limit = min(MAX_DOCUMENTS, await _documents_left(run))
        documents_by_name = {text: ledger.document(text) for text in names[:limit]}
        hashes_by_name = {text: document.sha256 if document else "" for text, document in documents_by_name.items()}
        key = common.call_key(
            "open",
            [list(hashes_by_name.items()) if not all(hashes_by_name.values()) else list(hashes_by_name.values()), find],
        )

        async def open_all(step_context: StepContext) -> Observation:
            async def work() -> Observation:
                remaining_pages = run.room.pages  # beside one for each, which this step holds
                parts = None if remaining_pages is None else 1 + remaining_pages // len(documents_by_name)
                documents, unknown = await _resolve_documents(run, ledger, step_context, documents_by_name, parts)
                texts = run.world.texts or DocumentReader(run.world.blobs)
                excerpts, document_notes, failures = await asyncio.to_thread(
                    _show_documents, texts, documents, find, common.result_chars(run)
                )
                for failure in failures:
                    step_context.emit(failure)
                notes = [*unknown, *document_notes]
                if not excerpts:
                    raise ToolError(" ".join(notes))
                return Observation(summary=_summary(excerpts, find), shown=tuple(excerpts), note="\n".join(notes))

            answer, known_already = await common.once(run, ledger, key, work)
            if not known_already:
                step_context.spend(Usage(pages=len({opened_key(excerpt.document) for excerpt in answer.shown})))
                step_context.record(common.answer_row(run, key, step_context))
            return answer

        cost = Usage(pages=len(documents_by_name))
        answer = await run.step("open", open_all, returns=Observation, input=[hashes_by_name, find], cost=cost)
        common.store_result(ledger, key, answer)
        unopened = len(names) - len(documents_by_name)
        leftover_note = f"\n{unopened} more not opened: at most {limit} at once." if unopened else ""
        return msgspec.structs.replace(answer, note=f"{answer.note}{leftover_note}")


def _bare_name(text: str, ledger: Ledger) -> str:
    """A name without signs around it; an id of a passage, or an id with a title, stands for its source."""
    name = text.strip(" []`*\"'“”<>")
    match = _SOURCE.fullmatch(name)
    return match[1] if match and ledger.source(match[1]) else name


async def _resolve_documents(
    run: Run,
    ledger: Ledger,
    step_context: StepContext,
    documents_by_name: Mapping[str, Document | None],
    parts: int | None,
) -> tuple[list[Document], list[str]]:
    """The named documents, and a note on each unknown reference; pages among them are read in parallel.

    Raises:
        ToolError: there are none.
    """
    library, collections = run.world.library, run.brief.scope.collections

    async def resolve(_: Run, text: str, known_document: Document | None) -> Sequence[Document] | str:
        document = known_document or next(iter(await asyncio.to_thread(library.find, text, collections)), None)
        try:
            if is_page(text, document):
                if document is None and not await _may_open(run, ledger, text):
                    return f"{text!r} was not opened: {UNKNOWN_ADDRESS}"
                return await read_page(run, ledger, step_context, document.url if document else text, parts)
        except ToolError as failed:
            return failed.reason
        return [document] if document is not None else f"No document is called {text!r}."

    branches = (
        Branch(text, partial(resolve, text=text, known_document=known_document))
        for text, known_document in documents_by_name.items()
    )
    answers = await run.gather(*branches)
    notes = [answer for answer in answers if isinstance(answer, str)]
    documents_by_hash = {
        document.sha256: document for answer in answers if not isinstance(answer, str) for document in answer
    }
    if not documents_by_hash:
        raise ToolError(" ".join(notes) + " Search, then open by source id.")
    return list(documents_by_hash.values()), notes


async def _may_open(run: Run, ledger: Ledger, address: str) -> bool:
    """True if a page that no search found may be read: a text must name it, or there is nothing to give away.

    The address that a model makes up may hold what it has read: an order in a document could have it sent anywhere.
    """
    scope = run.brief.scope
    documents = await asyncio.to_thread(run.world.library.count, scope.collections)
    if not documents and not run.brief.parent:
        return True
    chosen = (*scope.rules.domains, *scope.trusted)  # hosts to which the user sends the run, or whom they vouch for
    if any(is_below(parse_url(address).host.lower(), domain) for domain in chosen):
        return True
    passages, sources = ledger.seeing(None).passages_and_sources()
    texts = (
        *await _texts_of_people(run),
        *(source.url for source in sources.values()),
        *(passage.text for passage in passages.values()),
    )
    return names_address("\n".join(texts), address)


async def _texts_of_people(run: Run) -> list[str]:
    """All that people have said to this run."""
    brief = run.brief
    texts = [brief.question, brief.instructions, brief.schema, *(answer.text for answer in brief.answers)]
    texts += [section.hint for section in brief.template]
    texts += [message.text for message in brief.conversation if message.by == "user"]
    for envelope in await run.log():
        match decode(envelope):
            case ClarifyAnswered(answers=answers):
                texts += answers
            case PlanApproved(plan=plan, by="user"):
                texts += [f"{step.title} {step.description}" for step in plan.steps]
            case ControlAccepted(text=text):
                texts.append(text)
    return texts


async def _documents_left(run: Run) -> int:
    """How many documents the limits still allow, at least 1: opening one too many reports the limit."""
    if run.brief.budget.pages is None:
        return MAX_DOCUMENTS

    async def count_left(_: StepContext) -> int:
        return max(1, run.room.pages or 0)

    return await run.step("pages-left", count_left, returns=int)


def _show_documents(
    texts: DocumentTexts, documents: Sequence[Document], find: str, room: int
) -> tuple[list[DocumentPassages], list[str], list[SourceFailed]]:
    """What is shown of the documents, a note on each, and those that cannot be read."""
    excerpts, notes, failures = list[DocumentPassages](), list[str](), list[SourceFailed]()
    for document in documents:
        try:
            spans = content_spans(texts.spans(document))
        except StoreError as error:
            failures.append(SourceFailed(url=document.url, reason=str(error)))
            notes.append(f"{_document_name(document)} could not be read.")
            continue
        selected = select_passages(spans, find, room // len(documents))
        excerpts.append(DocumentPassages(document=document, spans=selected))
        notes.append(_note(document, spans, selected, find))
    return excerpts, notes, failures


def _document_name(document: Document) -> str:
    return one_line(document.title or document.name or document.url)


def _note(document: Document, spans: Sequence[PassageSpan], selected: Sequence[PassageSpan], find: str) -> str:
    """The part of a document that is shown and, if that is not all, its outline."""
    if not spans:
        return f"{_document_name(document)}: empty."
    if len(selected) == len(spans):
        return f"{_document_name(document)}: all {len(spans)} passages."
    selection_note = f" (the first ones and the best for “{find}”)" if find else ""
    headings = outline(spans)
    return f"{_document_name(document)}: {len(selected)} of {len(spans)} passages{selection_note}." + (
        f" Outline: {headings}" if headings else ""
    )


def _summary(excerpts: Sequence[DocumentPassages], find: str) -> str:
    names = ", ".join(_document_name(excerpt.document) for excerpt in excerpts[:3])
    others_text = f" and {len(excerpts) - 3} more" if len(excerpts) > 3 else ""
    return f"{names}{others_text}" + (f", for “{find}”" if find else "")
