"""E-mail: single messages, and mailboxes."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from email.message import EmailMessage
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.core.document_dates import iso_date
from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.later import later
from assay.core.patterns import regex
from assay.core.sources import Extracted
from assay.fetch.fields import stem
from assay.fetch.html_markdown import shallow, to_markdown
from assay.fetch.text_form import clean, decode

if TYPE_CHECKING:
    from email import policy

    from selectolax import lexbor
else:
    policy = later("email.policy")
    lexbor = later("selectolax.lexbor")

HEADERS = ("From", "To", "Cc", "Date", "Subject")
MOST_NAMED = 5
MOST_PARTS = 1_000
HEADER_ERRORS = (ValueError, IndexError, TypeError, AttributeError, OverflowError, RecursionError)
"""The errors the library raises for an unreadable header; it has no single error for that."""
LONGEST_HEADER = 2_000
"""The most characters of a header that are read: the library's time grows with the square of the length."""
SEPARATOR = regex(rb"^From [^\r\n]{1,1000}\r?\n", re.MULTILINE)


class EmlExtractor:
    """One document: sender, recipients, date and subject as fields, then the text.

    If a message has its text in two forms, the plain one is read. Attachments are not read, but their names are
    reported.
    """

    name = "eml/1"
    suffixes: tuple[str, ...] = (".eml",)
    media_type = "message/rfc822"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Return one document.

        Raises:
            ExtractError: it is not a message, or has no text; or, after the document, it has attachments.
        """
        document, attached = read(data, self.name, name)
        yield document
        if attached:
            raise ExtractError(_unread_attachments(attached))


class MboxExtractor:
    """One document per message of a mailbox (RFC 4155), as `EmlExtractor` reads it."""

    name = "mbox/1"
    suffixes = (".mbox",)
    media_type = "application/mbox"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """Yield the messages, in order.

        Raises:
            ExtractError: there is none; or, after the documents, something could not be read.
        """
        found = bad = 0
        attached: list[str] = []
        for message in messages(data):
            try:
                document, names = read(message, self.name, f"{name} {found + bad + 1}")
            except ExtractError:
                bad += 1
                continue
            found += 1
            attached += names
            yield document
        if not found:
            raise ExtractError("damaged, or not a folder of messages")
        problems = [f"{bad} of its messages could not be read"] * bool(bad)
        problems += [_unread_attachments(attached)] * bool(attached)
        if problems:
            raise ExtractError("; ".join(problems))


@cache
def _policy() -> policy.EmailPolicy:
    """Reads only the beginning of each header."""

    class Bounded(policy.EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> Any:
            return super().header_fetch_parse(name, value[:LONGEST_HEADER])

    return Bounded()


def messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox: each begins after a line `From …` that is the first or follows an empty line."""
    starts = [
        match
        for match in SEPARATOR.finditer(data)
        if match.start() == 0 or data[max(0, match.start() - 4) : match.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    ends = [match.start() for match in starts[1:]] + [len(data)]
    for start, end in zip(starts, ends, strict=False):  # without a start there is one end too many
        yield data[start.end() : end]


def read(data: bytes, extractor: str, name: str) -> tuple[Extracted, list[str]]:
    """Return a message as a document, and the names of its attachments.

    Raises:
        ExtractError: it is not a message, or has no text.
    """
    try:
        message = email.message_from_bytes(data, policy=_policy())
        assert isinstance(message, EmailMessage)
        fields = {key: value for key in HEADERS if (value := _header(message, key))}
        body, attached = _body(message) if fields else ("", [])
    except HEADER_ERRORS as error:
        raise ExtractError("damaged: a header of it cannot be read") from error
    if not fields:
        raise ExtractError("damaged, or not a message")
    if not body.strip():
        raise ExtractError("it holds no text")
    head = "\n".join(f"{key}: {value}" for key, value in fields.items())
    document = Extracted(
        text=f"{head}\n\n{body.strip()}\n",
        extractor=extractor,
        syntax="plain",
        title=fields.get("Subject", "")[:300] or stem(name),
        name=name,
        body=data,
        author=fields.get("From", "")[:300],
        published=iso_date(fields.get("Date", "")),
        language=detect(body),
        metadata={"attachments": ", ".join(attached)[:1000]} if attached else {},
    )
    return document, attached


def _header(message: EmailMessage, key: str) -> str:
    """A header on one line; an unreadable one is empty."""
    try:
        return " ".join(clean(str(message.get(key, ""))).split())
    except HEADER_ERRORS:
        return ""


def _body(message: EmailMessage) -> tuple[str, list[str]]:
    """The text of a message and of messages inside it, plain if there is a choice, and the names of attachments."""
    plain: list[str] = []
    marked: list[str] = []
    attached: list[str] = []
    for number, part in enumerate(message.walk()):
        if number > MOST_PARTS:
            raise ExtractError(f"it has more than {MOST_PARTS:,} parts")
        kind = part.get_content_type()
        if part.is_multipart():
            continue
        if part.get_filename() or part.get_content_disposition() == "attachment":
            attached.append(" ".join(clean(part.get_filename() or kind).split())[:100])
        elif kind == "text/plain":
            plain.append(_text(part))
        elif kind == "text/html":
            tree = lexbor.LexborHTMLParser(shallow(_text(part)))
            marked.append(to_markdown(tree.body) if tree.body is not None else "")
    return "\n\n".join(plain if any(text.strip() for text in plain) else marked), attached


def _text(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    return decode(data, part.get_content_charset() or "") if isinstance(data, bytes) else ""


def _unread_attachments(attached: list[str]) -> str:
    more = ", …" if len(attached) > MOST_NAMED else ""
    some = "an attachment is" if len(attached) == 1 else f"{len(attached)} attachments are"
    return f"{some} not read ({', '.join(attached[:MOST_NAMED])}{more}); save them beside it"
