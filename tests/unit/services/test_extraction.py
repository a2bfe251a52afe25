"""`Assay.extract`: what a run would read of files, and that it is what the library takes in."""

import io
import json
import zipfile
from email.message import EmailMessage
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay import Assay
from assay.core.sources import sha256
from assay.services.extraction import ReadDocument, ReadResult, Unread
from assay.settings import Settings


async def extract(*paths: Path) -> list[ReadResult]:
    async with Assay(Settings()) as assay:
        return [found for path in paths for found in [each async for each in assay.extract(path)]]


async def test_it_is_what_the_library_takes_in(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Tides\n\nThe tide rose by 3 m. It fell again.\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("port,depth\nHarwich,12\nGoole,7\n", encoding="utf-8")
    async with Assay(Settings()) as assay:
        read = [found async for found in assay.extract(tmp_path)]
        assert await assay.documents() == []  # nothing is kept
        await assay.add(tmp_path)
        stored = await assay.documents()
    documents = [found for found in read if isinstance(found, ReadDocument)]
    assert [(each.document_sha256, each.sha256, each.url, each.title) for each in documents] == [
        (each.sha256, each.snapshot_sha256, each.url, each.title) for each in stored
    ]


async def test_passages_are_bytes_of_the_text(tmp_path: Path):
    path = tmp_path / "grüße.md"
    path.write_text("# Häfen\n\nDie Flut stieg um 3 m. Sie fiel.\n\n- erstens\n- zweitens\n", encoding="utf-8")
    (found,) = await extract(path)
    assert isinstance(found, ReadDocument)
    data = found.text.encode()
    assert found.document_sha256 == sha256(data)
    assert {block.kind for block in found.blocks} >= {"paragraph", "item"}
    assert found.blocks[-1].heading == ("Häfen",)
    assert all(data[block.start : block.end].decode() == block.text for block in found.blocks)


async def test_what_cannot_be_read_comes_in_its_place(tmp_path: Path):
    good, bad, none = tmp_path / "good.txt", tmp_path / "bad.pdf", tmp_path / "none.txt"
    good.write_text("A good file.", encoding="utf-8")
    bad.write_bytes(b"no pdf at all")
    found = await extract(bad, none, good)
    assert [type(each) for each in found] == [Unread, Unread, ReadDocument]
    assert [each.file for each in found] == [str(bad), str(none), str(good)]
    assert isinstance(found[0], Unread)
    assert "PDF" in found[0].reason


async def test_documents_before_an_error_are_kept_and_the_last_says_so(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    rows = [json.dumps({"text": "The first row."}), json.dumps({"text": "The second row."}), "{broken"]
    path.write_text("\n".join(rows), encoding="utf-8")
    found = await extract(path)
    assert [each.text for each in found if isinstance(each, ReadDocument)] == ["The first row.", "The second row."]
    assert [bool(each.warnings) for each in found if isinstance(each, ReadDocument)] == [False, True]


async def test_members_of_an_archive(tmp_path: Path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("notes/a.txt", "The first member.")
        archive.writestr("notes/b.pdf", "no pdf")
    path = tmp_path / "papers.zip"
    path.write_bytes(packed.getvalue())
    first, second = await extract(path)
    assert isinstance(first, ReadDocument)
    assert isinstance(second, Unread)
    assert (first.member, first.sha256) == ("notes/a.txt", sha256(b"The first member."))
    assert second.member == "notes/b.pdf"


async def test_attachments_of_messages_also_in_archives(tmp_path: Path):
    made = EmailMessage()
    made["From"], made["Subject"] = "ada@example.org", "The quay"
    made.set_content("The drawings are attached.\n")
    made.add_attachment(b"The quay is 450 m long.", maintype="text", subtype="plain", filename="quay.txt")
    made.add_attachment(b"\x89PNG\0", maintype="image", subtype="png", filename="logo.png")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("old/a.eml", made.as_bytes())
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as nested:
            nested.writestr("deep.eml", made.as_bytes())
        archive.writestr("c.zip", inner.getvalue())
    found = await extract(tmp_path / "a.eml", tmp_path / "b.zip")
    read = [each for each in found if isinstance(each, ReadDocument)]
    assert [each.member for each in read] == ["", "quay.txt", "old/a.eml", "old/a.eml!/quay.txt", "c.zip!/deep.eml"]
    assert read[1].url == f"{(tmp_path / 'a.eml').as_uri()}!/quay.txt"
    unread = [each.reason for each in found if isinstance(each, Unread)]
    assert [reason for reason in unread if "deeper" in reason] == [
        "archives within archives, deeper than 2; unpack them first"
    ]


async def test_pictures_of_a_folder_are_left_out_but_not_those_named(tmp_path: Path):
    picture = tmp_path / "p.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp_path / "q.txt").write_text("A text.", encoding="utf-8")
    assert [type(each) for each in await extract(tmp_path)] == [ReadDocument]
    assert [type(each) for each in await extract(picture)] == [Unread]


@settings(max_examples=scaled(25), deadline=None)
@given(data=st.binary(max_size=300))
async def test_any_bytes_give_a_document_or_a_reason(tmp_path_factory, data: bytes):
    path = tmp_path_factory.mktemp("any") / "file.txt"
    path.write_bytes(data)
    (found,) = await extract(path)
    assert found.reason if isinstance(found, Unread) else found.sha256 == sha256(data)
