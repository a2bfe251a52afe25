"""E-mail, single and in folders."""

from __future__ import annotations

import mailbox
import time
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from growth import WORST, exponent
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.core.sources import Extracted, sha256
from assay.evidence.segment import segment
from assay.fetch.mail import Attachments, EmlExtractor, MboxExtractor, messages


def message(subject: str = "Grüße vom Hafen", text: str = "The tide rose by 3 m.\n", html: str = "") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ada Byron <ada@example.org>", "harbor@example.org", subject
    made["Date"] = "Sat, 06 May 2023 10:00:00 +0000"
    made.set_content(text) if text else made.set_content(html, subtype="html")
    if text and html:
        made.add_alternative(html, subtype="html")
    return made


def read(made: EmailMessage) -> Extracted:
    (found,) = EmlExtractor().extract(made.as_bytes(), "a.eml")
    return found


def test_headers_are_fields_and_the_text_follows():
    found = read(message(html="<p>Not this.</p>"))
    kinds = {span.text: span.kind for span in segment(found.text, found.syntax)}
    assert kinds["Subject: Grüße vom Hafen"] == "field"
    assert kinds["The tide rose by 3 m."] == "paragraph"
    assert "Not this" not in found.text
    assert (found.title, found.author, found.published) == (
        "Grüße vom Hafen",
        "Ada Byron <ada@example.org>",
        "2023-05-06",
    )


def test_a_message_of_html_alone():
    found = read(message(text="", html="<h1>Tides</h1><script>no()</script><p>The tide rose.</p>"))
    assert "# Tides\n\nThe tide rose." in found.text
    assert "no()" not in found.text


def test_plain_text_that_only_points_to_the_page_is_not_read():
    page = f"<p>{'The tide rose by three metres at Brest. ' * 9}</p>"
    assert "three metres" in read(message(text="This mail needs HTML.\n", html=page)).text


def test_of_two_forms_without_a_plain_one_the_longer_is_read() -> None:
    made = message(html="<p>It rose.</p>")
    made.get_payload()[0].replace_header("Content-Type", "text/html")
    assert read(made).text.endswith("The tide rose by 3 m.\n")
    assert "It rose" not in read(made).text


def test_a_forwarded_message_is_read_with_its_head_below_the_text_of_the_other() -> None:
    made = message("Fwd: Room", text="", html="<p>Please see below.</p>")
    made.add_attachment(message("Room", text="It is room B 214.\n", html="<p>It is room B 214.</p>"))
    body = read(made).text.split("\n\n", 1)[1]
    assert body.startswith(
        "Please see below.\n\nFrom: Ada Byron <ada@example.org>\nTo: harbor@example.org\nDate: Sat, 06"
    )
    assert body.endswith("Subject: Room\n\nIt is room B 214.\n")


def attached(*names: str) -> bytes:
    made = message()
    for name in names:
        made.add_attachment(f"of {name}".encode(), maintype="application", subtype="pdf", filename=name)
    return made.as_bytes()


def test_attachments_are_named_and_members():
    data = attached("report.pdf", "a/b.txt", "report.pdf")
    (found,) = EmlExtractor().extract(data, "a.eml")
    assert found.metadata == {"attachments": "report.pdf, a/b.txt, report.pdf"}
    members = {each.name: each.data for each in Attachments().members(data, "a.eml", 1_000)}
    assert members == {"report.pdf": b"of report.pdf", "a_b.txt": b"of a/b.txt", "report (2).pdf": b"of report.pdf"}
    assert [each.problem[:6] for each in Attachments().members(data, "a.eml", 5)] == ["larger"] * 3


def test_attachments_of_a_folder_have_the_number_of_their_message():
    data = b"".join(b"From someone\n" + each + b"\n\n" for each in (attached("a.pdf"), attached(), attached("a.pdf")))
    assert [each.name for each in Attachments().members(data, "in.mbox", 1_000)] == ["1/a.pdf", "3/a.pdf"]


def test_a_message_of_attachments_alone_is_read():
    made = message(text=" ")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="report.pdf")
    (found,) = EmlExtractor().extract(made.as_bytes(), "a.eml")
    assert found.text.endswith("Subject: Grüße vom Hafen\n")


@given(st.binary(max_size=300))
def test_no_bytes_make_attachments_fail(data: bytes):
    list(Attachments().members(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + data, "a.eml", 100))


def test_a_folder_as_a_mail_program_writes_it(tmp_path: Path):
    folder = mailbox.mbox(tmp_path / "in.mbox")
    for number in range(3):
        folder.add(message(f"Message {number}", "From the harbor.\n\nFrom here on it rose.\n"))
    folder.close()
    data = (tmp_path / "in.mbox").read_bytes()
    found = list(MboxExtractor().extract(data, "in.mbox"))
    assert [each.title for each in found] == ["Message 0", "Message 1", "Message 2"]
    assert all("it rose." in each.text for each in found)
    assert len({sha256(each.body or b"") for each in found}) == 3  # a snapshot each
    assert [each.name for each in found] == ["in.mbox 1", "in.mbox 2", "in.mbox 3"]


def test_an_encoding_which_lies_costs_letters_and_not_the_message():
    data = b"From: a@example.org\r\nSubject: x\r\nContent-Type: text/plain; charset=nonsense-9\r\n\r\nTh\xe9 tide.\r\n"
    (found,) = EmlExtractor().extract(data, "a.eml")
    assert "Thé tide." in found.text


@pytest.mark.parametrize("data", [b"", b"no message at all", b"\0\1\2", b"From: a\r\n\r\n"])
def test_what_is_none_is_refused(data: bytes):
    for extractor in (EmlExtractor(), MboxExtractor()):
        with pytest.raises(ExtractError):
            list(extractor.extract(data, "a"))


@given(st.lists(st.binary(max_size=60).filter(lambda part: b"From " not in part and b"\n" not in part), max_size=5))
def test_messages_come_apart_where_they_were_put_together(parts: list[bytes]):
    data = b"".join(b"From someone\n" + part + b"\n\n" for part in parts)
    assert [each.rstrip(b"\n") for each in messages(data)] == [part.rstrip(b"\n") for part in parts]


@pytest.mark.parametrize("sign", [b"(", b"[a](b", b'"(', b"<("])
def test_a_type_which_is_nested_too_deep_is_refused(sign: bytes):
    data = b"From: a@b.c\nContent-Type: multipart/mixed; boundary=" + sign * 4_000 + b"\n\nThe tide rises.\n"
    try:
        found = next(EmlExtractor().extract(data, "deep.eml")).text
    except ExtractError as error:
        found = str(error)
    assert "cannot be read" in found or "The tide rises." in found


@pytest.mark.parametrize("sign", [b'"', b";a", b";a*0=", b"(", b"<a@b.c>,"])
def test_a_header_of_one_sign_takes_no_longer_than_it_is(sign: bytes):
    def read(count: int) -> None:
        data = b"From: a@b.c\nTo: " + sign * count + b"\nContent-Type: multipart/mixed; boundary=" + sign * count
        with suppress(ExtractError):
            list(EmlExtractor().extract(data + b"\n\nThe tide rises.\n", "a.eml"))

    assert exponent(read, lambda count: count, 2_000) < WORST


def many_parts(count: int, kind: str) -> bytes:
    part = f"--b\r\nContent-Type: text/plain\r\n{kind}\r\nThe reading.\r\n"
    head = "From: a@b.c\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    return (head + part * count + "--b--\r\n").encode()


@pytest.mark.parametrize("kind", ["", "Content-Disposition: attachment; filename=a.txt\r\n"])
def test_no_more_parts_are_looked_at_than_are_read(kind: str) -> None:
    began = time.process_time()
    data = many_parts(30_000, kind)
    with pytest.raises(ExtractError, match="more than 1,000 parts"):
        list(EmlExtractor().extract(data, "a.eml"))
    assert len(list(Attachments().members(data, "a.eml", 100))) == (1_000 if kind else 0)
    assert time.process_time() - began < 5  # a bound on time that grows with the parts, not a measurement


@given(st.integers(0, 3), st.sampled_from(["\n", "\r\n"]))
def test_a_long_message_is_read_whole(shift: int, end: str) -> None:
    lines = [f"Line {number} of the log." for number in range(8_000)]
    head = f"From: {'a' * shift}@b.c{end}Subject: Log{end}{end}"
    (found,) = EmlExtractor().extract((head + end.join(lines)).encode(), "a.eml")
    assert found.text.split("\n\n", 1)[1].split() == " ".join(lines).split()


SAVED = b"""From: <Saved by Blink>
Subject: Rules
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="--x"

----x
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://ferry.example/rules

<html><head><title>Rules on board</title></head><body><h1>Rules on board</h1><p>Bicycles cost 4=E2=82=AC and stand at=
 the stern.</p></body></html>
----x
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
----x--
"""


def test_a_page_saved_in_one_file_is_read_as_the_page() -> None:
    (found,) = EmlExtractor().extract(SAVED, "rules.mhtml")
    assert (found.title, found.url) == ("Rules on board", "https://ferry.example/rules")
    assert found.text.strip().endswith("Bicycles cost 4€ and stand at the stern.")
    assert found.extractor.startswith("html/")


@given(st.lists(st.sampled_from(SAVED.splitlines(keepends=True)), max_size=20).map(b"".join))
def test_any_saved_page_is_read_or_refused(data: bytes) -> None:
    with suppress(ExtractError):
        list(EmlExtractor().extract(data, "a.mht"))


def test_the_marks_of_a_quotation_are_not_within_its_sentences() -> None:
    quoted = (
        "> The tide rose by three metres\n> and fell again.\n>\n> - The north pier\n> - The south pier\n>> Was it high?"
    )
    text = read(message(text=f"Yes, it was.\n\n{quoted}\n")).text
    items = "> - The north pier\n> - The south pier"
    assert text.endswith(f"> The tide rose by three metres\nand fell again.\n\n{items}\n\n>> Was it high?\n")


def test_a_quotation_within_another_is_apart_from_it() -> None:
    body = "Yes.\n\n> We come at noon.\n> Piet\n> On 13 May 2024, Ann wrote:\n> > When do you\n> > come?\n> Bye\n"
    paragraphs = read(message(text=body)).text.split("\n\n")[1:]
    assert paragraphs == [
        *("Yes.", "> We come at noon.\nPiet", "> On 13 May 2024, Ann wrote:", "> > When do you\ncome?", "> Bye\n")
    ]


def test_a_quotation_is_a_paragraph_apart_from_what_stands_around_it() -> None:
    body = "It is moved.\n\nAnn wrote:\n> It is on Thursday, at the\n> east quay.\nI know.\n"
    (found,) = EmlExtractor().extract(f"From: a@b.example\nSubject: Launch\n\n{body}".encode(), "a.eml")
    paragraphs = found.text.split("\n\n")[1:]
    assert paragraphs == ["It is moved.", "Ann wrote:", "> It is on Thursday, at the\neast quay.", "I know.\n"]
