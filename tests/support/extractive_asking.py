"""The built-in model asked about one self-made document: what it finds there, and what it answers."""

from __future__ import annotations

import json

from assay.core.messages import Message, Request
from assay.core.passage_context import format_source
from assay.core.sources import Passage, Source, Syntax
from assay.evidence.segment import segment
from assay.models.extractive import respond


def shown(title: str, text: str, syntax: Syntax = "markdown", url: str = "file:///notes.md") -> str:
    """A document as a tool shows it, all passages of it."""
    record = Source(
        id="S1001",
        document_sha256="",
        snapshot_sha256="",
        url=url,
        title=title,
        media_type="text/plain",
        fetched_at="",
    )
    passages = [
        Passage(
            id=f"S1001.{span.ordinal}",
            source="S1001",
            document_sha256="",
            start=span.start,
            end=span.end,
            text=span.text,
            text_sha256="",
            heading=span.heading,
            label=span.label,
            lead=span.lead,
        )
        for span in segment(text, syntax)
    ]
    return format_source(record, passages)


def found(question: str, title: str, text: str, syntax: Syntax = "markdown") -> str:
    """What an agent reports."""
    messages = (
        Message(role="user", name="brief", text=json.dumps({"question": question})),
        Message(role="user", name="task", text=question),
        Message(role="tool", text=shown(title, text, syntax)),
    )
    return respond(Request(task="find", system="", messages=messages))[0]


def answered(question: str, title: str, text: str, syntax: Syntax = "markdown") -> str:
    """The short answer."""
    messages = (
        Message(role="user", name="question", text=question),
        Message(role="user", name="evidence", text=shown(title, text, syntax)),
    )
    return respond(Request(task="answer", system="", messages=messages))[0]
