"""E-mail: single messages, and mailboxes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.message import EmailMessage, Message
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from assay.core.charsets import to_utf8
from assay.core.document_dates import iso_date
from assay.core.errors import ExtractError
from assay.core.languages import detect_language
from assay.core.lazy import lazy_module, regex
from assay.core.ports import ArchiveMember
from assay.core.sources import Extracted
from assay.fetch.fields import title_from_name
from assay.fetch.html import HtmlExtractor
from assay.fetch.html_markdown import limit_nesting, to_markdown
from assay.fetch.text_form import clean, decode

if TYPE_CHECKING:
    from email import feedparser, policy
    from email.policy import Policy

    from selectolax import lexbor
else:
    feedparser = lazy_module("email.feedparser")
    policy = lazy_module("email.policy")
    lexbor = lazy_module("selectolax.lexbor")

SAVED_PAGES = (".mht", ".mhtml")
HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_PARTS = 1_000
MAX_PART_DEPTH = 30
CHUNK_BYTES = 64 * 1024
STUB_FACTOR = 10
"""Plain text with fewer words than one in so many of the page beside it only says that there is one. By hand."""
HEADER_ERRORS = (ValueError, IndexError, TypeError, AttributeError, OverflowError, RecursionError)
"""The errors the library raises for an unreadable header; it has no single error for that."""
MAX_HEADER_CHARS = 2_000
"""The most characters of a header that are read: the library's time grows with the square of the length."""
_OWN_LINE = regex(r"(?:[-*•–]|\(?\w{1,3}[.)])\s|[\w -]{1,30}:\s")
"""A quoted item of a list, or header of a message, which continues no sentence."""
SEPARATOR = regex(rb"^From [^\r\n]{1,1000}\r?\n", re.MULTILINE)


class EmlExtractor:
    """One document: sender, recipients, date and subject as fields, then the text.

    If a message has its text in two forms, the plain one is read, unless it says almost nothing of the other. A message
    within it is read with its head. Its attachments are named, and read as `Attachments`. A page that a browser saved
    in one file is a message too, and is read as the page.
    """

    name = "eml/7"
    suffixes: tuple[str, ...] = (".eml", *SAVED_PAGES)
    media_type = "message/rfc822"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        if name.lower().endswith(SAVED_PAGES) and (page := _saved_page(data)) is not None:
            body, address = page.get_payload(decode=True), _header(page, "Content-Location")
            assert isinstance(body, bytes)
            for document in HtmlExtractor().extract(to_utf8(body, _header(page, "Content-Type")), name):
                is_address = address.startswith(("http://", "https://"))
                yield replace(document, url=document.url or (address if is_address else ""))
            return
        yield read_message(data, self.name, name)


class MboxExtractor:
    """One document per message of a mailbox (RFC 4155), as `EmlExtractor` reads it."""

    name = "mbox/7"
    suffixes = (".mbox",)
    media_type = "application/mbox"
    isolated = True

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        good = bad = 0
        for message in messages(data):
            try:
                document = read_message(message, self.name, f"{name} {good + bad + 1}")
            except ExtractError:
                bad += 1
                continue
            good += 1
            yield document
        if not good:
            raise ExtractError("damaged, or not a folder of messages")
        if bad:
            raise ExtractError(f"{bad} of its messages could not be read")


class Attachments:
    """The attachments of a message or of all messages of a mailbox, as the members of an archive.

    Those of a mailbox are in a folder with the number of their message. A name that comes again gets a number.
    """

    name = "mail/1"
    suffixes = (".eml", ".mbox")

    def members(self, data: bytes, name: str, largest: int) -> Iterator[ArchiveMember]:
        """See the port. A message whose headers cannot be read has none: its extractor reports it."""
        single = name.lower().endswith(".eml")
        for number, message in enumerate([data] if single else messages(data), 1):
            with suppress(*HEADER_ERRORS, ExtractError):
                yield from _attachments(message, "" if single else f"{number}/", largest)


def _attachments(data: bytes, folder: str, largest: int) -> Iterator[ArchiveMember]:
    names: Counter[str] = Counter()
    for part in _parts(_parse(data)):
        if not _is_attached(part):
            continue
        name = _attached_name(part).replace("/", "_")
        names[name] += 1
        if names[name] > 1:
            path = PurePosixPath(name)
            name = f"{path.stem} ({names[name]}){path.suffix}"
        body = part.get_payload(decode=True)
        if isinstance(body, bytes) and len(body) <= largest:
            yield ArchiveMember(name=f"{folder}{name}", data=body)
        elif isinstance(body, bytes):
            problem = f"larger than {largest / 1_000_000:g} MB (the setting documents.max_file_mb)"
            yield ArchiveMember(name=f"{folder}{name}", problem=problem)


def _parse(data: bytes) -> EmailMessage:
    """The message; of one with too many parts the first, and more of them than are read."""
    parts = 0

    def count_part(policy: Policy | None = None) -> EmailMessage:
        nonlocal parts
        parts += 1
        return EmailMessage(policy)

    parser = feedparser.BytesFeedParser(policy=_policy().clone(message_factory=count_part))
    for start in range(0, len(data), CHUNK_BYTES):
        parser.feed(data[start : start + CHUNK_BYTES])
        if parts > MAX_PARTS + 1:
            break
    message = parser.close()
    assert isinstance(message, EmailMessage)
    return message


@cache
def _policy() -> policy.EmailPolicy:
    """Reads only the beginning of each header, and that once: the library asks several times for the type of a part."""

    class Bounded(policy.EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> Any:
            return parse(name, value[:MAX_HEADER_CHARS])

    @lru_cache(maxsize=256)
    def parse(name: str, value: str) -> Any:
        return policy.default.header_fetch_parse(name, value)

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


def read_message(data: bytes, extractor: str, name: str) -> Extracted:
    """Return a message as a document.

    Raises:
        ExtractError: it is not a message, or has neither text nor attachments.
    """
    try:
        message = _parse(data)
        fields = {key: value for key in HEADERS if (value := _header(message, key))}
        body, attachments = _body(message) if fields else ("", [])
    except HEADER_ERRORS as error:
        raise ExtractError("damaged: a header of it cannot be read") from error
    if not fields:
        raise ExtractError("damaged, or not a message")
    if not body and not attachments:
        raise ExtractError("it holds no text")
    return Extracted(
        text=f"{_head(message)}\n\n{body}".rstrip() + "\n",
        extractor=extractor,
        syntax="plain",
        title=fields.get("Subject", "")[:300] or title_from_name(name),
        name=name,
        body=data,
        author=fields.get("From", "")[:300],
        published=iso_date(fields.get("Date", "")),
        language=detect_language(body),
        metadata={"attachments": ", ".join(attachments)[:1000]} if attachments else {},
    )


def _saved_page(data: bytes) -> EmailMessage | None:
    """The page in a file that a browser saved; None if there is none."""
    with suppress(*HEADER_ERRORS, ExtractError):
        pages = (part for part in _parts(_parse(data)) if part.get_content_type() == "text/html")
        return next((page for page in pages if isinstance(page.get_payload(decode=True), bytes)), None)
    return None


def _header(message: EmailMessage, key: str) -> str:
    """A header on one line; an unreadable one is empty."""
    try:
        return " ".join(clean(str(message.get(key, ""))).split())
    except HEADER_ERRORS:
        return ""


def _body(message: EmailMessage) -> tuple[str, list[str]]:
    """The text of a message and of messages inside it, and the names of attachments."""
    attachments = [_attached_name(part) for part in _parts(message) if _is_attached(part)]
    return _join(_texts(message, 0)), attachments


def _join(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, map(str.strip, texts)))


def _children(part: Message) -> list[EmailMessage]:
    inside = part.get_payload()
    return [each for each in inside if isinstance(each, EmailMessage)] if isinstance(inside, list) else []


def _texts(part: EmailMessage, depth: int) -> Iterator[str]:
    """The texts of a part: of a message inside with its head, and of alternatives the plain one if it says enough."""
    kind = part.get_content_type()
    if depth > MAX_PART_DEPTH or (_is_attached(part) and not part.is_multipart()):
        return
    if kind == "message/rfc822":
        for message in _children(part):
            yield _head(message)
            yield from _texts(message, depth + 1)
    elif part.is_multipart():
        texts = [(child, _join(_texts(child, depth + 1))) for child in _children(part)]
        if kind == "multipart/alternative":
            plain = [text for child, text in texts if child.get_content_type() == "text/plain"]
            other = max(
                (text for child, text in texts if child.get_content_type() != "text/plain"), key=len, default=""
            )
            stub = STUB_FACTOR * sum(len(text.split()) for text in plain) < len(other.split())
            yield from [other] if stub else plain
        else:
            yield from (text for _, text in texts)
    elif kind == "text/plain":
        yield _quote_paragraphs(_text(part))
    elif kind == "text/html":
        tree = lexbor.LexborHTMLParser(limit_nesting(_text(part)))
        yield to_markdown(tree.body) if tree.body is not None else ""


def _head(message: EmailMessage) -> str:
    """The headers that are read, one a line."""
    return "\n".join(f"{key}: {value}" for key in HEADERS if (value := _header(message, key)))


def _quote_paragraphs(text: str) -> str:
    """A text in which only the first line of a quoted paragraph has the marks of a quotation: `>` within a sentence
    would stand in every quote of it. A quotation is a paragraph apart from "Ann wrote:" above, which is one too, and a
    reply below it; so is a quotation within it.
    """
    lines: list[str] = []
    depth = 0
    plain = [(line, line.lstrip("> \t") if line.startswith(">") else line) for line in text.split("\n")]
    marked = [(line, content, line[: len(line) - len(content)].count(">")) for line, content in plain]
    for (line, content, marks), following in zip(marked, [*marked[1:], ("", "", 0)], strict=True):
        begins = marks != depth or (marks < following[2] and content.rstrip().endswith(":"))
        if lines and lines[-1].strip() and content.strip() and begins:
            lines.append("")
        lines.append(content if marks and not begins and not _OWN_LINE.match(content) else line)
        depth = marks if content.strip() else 0
    return "\n".join(lines)


def _parts(message: Message) -> Iterator[EmailMessage]:
    """The parts of a message that hold something."""
    for number, part in enumerate(message.walk()):
        if number > MAX_PARTS:
            raise ExtractError(f"it has more than {MAX_PARTS:,} parts")
        if isinstance(part, EmailMessage) and not part.is_multipart():
            yield part


def _is_attached(part: EmailMessage) -> bool:
    return bool(part.get_filename()) or part.get_content_disposition() == "attachment"


def _attached_name(part: EmailMessage) -> str:
    return " ".join(clean(part.get_filename() or part.get_content_type()).split())[:100]


def _text(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    return decode(data, part.get_content_charset() or "") if isinstance(data, bytes) else ""
