"""Verifying a bundle: every changed byte is found, and so is every forgery whose hashes were made right again."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable

import msgspec
import pytest
from bundles import bundle_of_two_agents, failing, forged, members_of, problems, relogged
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core import events as e
from assay.core.claims import Summary
from assay.core.errors import StoreError
from assay.core.events import Envelope, Event
from assay.core.sources import sha256
from assay.export.bundle import check_bundle
from assay.export.bundle.contents import looks_like_zip


@functools.cache
def bundle() -> bytes:
    """The bundle of a whole run; made once."""
    return asyncio.run(bundle_of_two_agents())


def member(start: str) -> str:
    """The first member whose name begins so."""
    return next(name for name in members_of(bundle()) if name.startswith(start))


# corruption


@settings(max_examples=scaled(60))
@given(st.data())
def test_every_changed_byte_is_found(draw: st.DataObject) -> None:
    data = bundle()
    at = draw.draw(st.integers(0, len(data) - 1))
    value = draw.draw(st.integers(0, 255).filter(lambda value: value != data[at]))
    found = check_bundle(data[:at] + bytes([value]) + data[at + 1 :])
    assert not found.ok
    assert not found.checks[0].ok


@settings(max_examples=scaled(40))
@given(st.integers(0, 10_000_000), st.binary(max_size=40), st.integers(0, 3_000))
def test_every_other_damage_is_found(at: int, other: bytes, gone: int) -> None:
    data = bundle()
    at %= len(data)
    damaged = data[:at] + other + data[at + gone :]
    if damaged != data and looks_like_zip(damaged):
        assert not check_bundle(damaged).ok


@pytest.mark.parametrize("data", [b"", b"PK", b"%PDF-1.7", b"\x00" * 5000])
def test_what_is_no_zip_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(StoreError, match=r"x\.pdf is not a zip file"):
        check_bundle(data, "x.pdf")


# forgeries: hashes, sizes and the zip are right


def test_a_forgery_of_nothing_holds() -> None:
    assert failing(forged(bundle(), {})) == []
    assert forged(bundle(), {}) == bundle()


def test_what_the_report_says_must_be_what_the_log_says() -> None:
    members = members_of(bundle())
    assert failing(forged(bundle(), {"report.md": members["report.md"].replace(b"seven", b"eight")})) == ["report.md"]
    assert failing(forged(bundle(), {"report.html": members["report.html"] + b" "})) == ["report.html"]
    checked = check_bundle(forged(bundle(), {"report.json": members["report.json"].replace(b"seven", b"eight")}))
    assert "report.markdown is not what the log says" in problems(checked, "report.json")


def test_json_is_held_to_its_form() -> None:
    report = members_of(bundle())["report.json"]
    twice = report.replace(b'{\n  "schema"', b'{\n  "markdown": "other",\n  "schema"', 1)
    assert twice != report
    assert failing(forged(bundle(), {"report.json": twice})) == ["report.json"]
    spaced = msgspec.json.format(report, indent=0)
    assert failing(forged(bundle(), {"report.json": spaced})) == ["report.json"]


@pytest.mark.parametrize("name", ["report.json", "report.md", "report.html", "documents/", "snapshots/"])
def test_a_member_which_is_not_there_is_missed(name: str) -> None:
    assert failing(forged(bundle(), {member(name): None}))


@pytest.mark.parametrize("name", ["documents/", "snapshots/"])
def test_a_document_nobody_cites_does_not_belong_there(name: str) -> None:
    other = f"{name}{sha256(b'other')}" + (".txt" if name == "documents/" else "")
    assert failing(forged(bundle(), {other: b"other"})) == [name.strip("/")]


def test_a_member_of_no_known_name_does_not_belong_there() -> None:
    assert failing(forged(bundle(), {"run.sh": b"#!/bin/sh"})) == ["members"]


def test_a_document_with_another_text_is_found() -> None:
    name = member("documents/")
    text = members_of(bundle())[name]
    assert set(failing(forged(bundle(), {name: text + b"more"}))) == {"documents", "snapshots"}
    moved = failing(forged(bundle(), {name: b"x" + text[:-1]}))
    assert "passages" in moved
    assert "documents" in moved


def test_a_snapshot_with_other_bytes_is_found() -> None:
    assert failing(forged(bundle(), {member("snapshots/"): b"x" * 10})) == ["snapshots"]


def test_sources_tell_of_the_cited_documents() -> None:
    sources = members_of(bundle())["sources.json"]
    for wrong in (b"[]\n", b"{", b"[" * 100_000, sources.replace(b'_size": ', b'_size": 9')):
        assert failing(forged(bundle(), {"sources.json": wrong})) == ["snapshots"]


# forged logs: whatever is rendered from the log differs too, so only the check that must see it is asked for


def changed(kind: type[Event], **fields: object) -> Callable[[Envelope], Envelope]:
    """A change of the fields of every event of a kind."""

    def change(envelope: Envelope) -> Envelope:
        event = e.decode(envelope)
        if not isinstance(event, kind):
            return envelope
        data = msgspec.Raw(e.encode(msgspec.structs.replace(event, **fields)))
        return msgspec.structs.replace(envelope, data=data)

    return change


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (changed(e.ReportFinished, text_sha256="0" * 64), "text"),
        (changed(e.ReportRevised, text="Nine. [S1001.1]"), "claims"),
        (changed(e.ReportRevised, text="Nine. [S7777.1]"), "markers"),
        (changed(e.ClaimFound, start=5000, end=5010), "claims"),
        (changed(e.ClaimFound, text="It rises eight metres."), "claims"),
        (changed(e.ClaimChecked, verdict="contradicted"), "counts"),
        (changed(e.VerifySummary, summary=Summary(claims=9, supported=9)), "counts"),
        (changed(e.VerifySummary, passed=False), "counts"),
        (changed(e.VerifySummary, summary=Summary(dropped_markers=3)), "markers"),
        (lambda envelope: None if envelope.seq == 9 else envelope, "events"),
        (lambda envelope: msgspec.structs.replace(envelope, run_id="other"), "events"),
        (lambda envelope: msgspec.structs.replace(envelope, seq=envelope.seq + 1), "events"),
    ],
)
def test_a_changed_log_is_found(change: Callable[[Envelope], Envelope], name: str) -> None:
    assert name in failing(relogged(bundle(), change))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"start": 3}, "not what its document says"),
        ({"end": 10**9}, "outside its document"),
        ({"start": -5}, "outside its document"),
        ({"text": "It never turns."}, "not what its document says"),
        ({"text_sha256": "0" * 64}, "does not have its hash"),
        ({"document_sha256": "0" * 64}, "its document is not there"),
        ({"source": "S2"}, "another id"),
    ],
)
def test_a_changed_passage_is_found(fields: dict[str, object], why: str) -> None:
    def change(envelope: Envelope) -> Envelope:
        event = e.decode(envelope)
        if isinstance(event, e.ClaimFound | e.FindingAdded):
            wrong = tuple(msgspec.structs.replace(each, **fields) for each in event.passages)
            event = msgspec.structs.replace(event, passages=wrong)
            return msgspec.structs.replace(envelope, data=msgspec.Raw(e.encode(event)))
        return envelope

    found = check_bundle(relogged(bundle(), change))
    assert any(why in problem for problem in problems(found, "passages"))


def test_what_stands_around_a_passage_is_held_against_the_document() -> None:
    def change(envelope: Envelope) -> Envelope:
        event = e.decode(envelope)
        if not isinstance(event, e.CitationsLocated):
            return envelope
        around = tuple(msgspec.structs.replace(each, after="It is not true that") for each in event.passages)
        return msgspec.structs.replace(envelope, data=msgspec.Raw(e.encode(e.CitationsLocated(passages=around))))

    found = check_bundle(relogged(bundle(), change))
    assert any("stand between" in problem for problem in problems(found, "passages"))


# hostile members


@pytest.mark.parametrize(
    "log",
    [
        b"",
        b"\n",
        b"[" * 200_000,
        b'{"seq":1}\n',
        b"\xff\xfe\n",
        b'{"v":1,"seq":1,"run_id":"r","at":"","path":[],"type":"run.created","data":'
        + b"[" * 90_000
        + b"]" * 90_000
        + b"}\n",
        b'{"v":1,"seq":1,"run_id":"r","at":"","path":[],"type":"run.created","data":{"brief":7}}\n',
        b'{"v":1,"seq":1,"run_id":"r","at":"","path":[],"type":"no.such","data":1}',
    ],
)
def test_a_log_which_cannot_be_read_is_a_finding(log: bytes) -> None:
    assert "events" in failing(forged(bundle(), {"events.jsonl": log}))


@pytest.mark.parametrize("report", [b"", b"null", b"[" * 200_000, b"{}", b'{"schema":1e400}', b'"\\ud800"'])
def test_a_report_which_cannot_be_read_is_a_finding(report: bytes) -> None:
    assert failing(forged(bundle(), {"report.json": report})) == ["report.json"]


def test_a_text_longer_than_any_report_is_not_rendered() -> None:
    found = check_bundle(relogged(bundle(), changed(e.ReportRevised, text="[" * 500_001)))
    assert found.checks[-1].name == "text"
    assert "nothing else was checked" in found.checks[-1].problems[0]


def test_numbers_too_long_to_count_are_a_finding() -> None:
    def change(envelope: Envelope) -> Envelope:
        event = e.decode(envelope)
        if not isinstance(event, e.SourceAdded):
            return envelope
        source = msgspec.structs.replace(event.source, id="S" + "9" * 5000)
        return msgspec.structs.replace(envelope, data=msgspec.Raw(e.encode(e.SourceAdded(source=source))))

    assert failing(relogged(bundle(), change))


def test_problems_are_counted_past_the_first() -> None:
    found = check_bundle(forged(bundle(), {f"extra{at}": b"" for at in range(100)}))
    assert len(problems(found, "members")) == 21
    assert problems(found, "members")[-1] == "and 80 more"


# another release


def test_of_another_release_what_both_know_is_compared() -> None:
    report = members_of(bundle())["report.json"]
    newer = report.replace(b'{\n  "schema"', b'{\n  "later": [1],\n  "schema"', 1)
    found = check_bundle(
        forged(bundle(), {"report.json": newer, "report.md": b"Other.\n", "later.bin": b"1"}, release="99.0")
    )
    assert (found.ok, found.whole) == (True, False)
    assert set(found.unchecked) == {"report.md", "report.html", "later.bin"}
    assert found.release == "99.0"
    notes = {each.name: each.notes for each in found.checks if each.notes}
    assert set(notes) == {"members", "report.json", "report.md", "report.html"}
    assert failing(forged(bundle(), {"report.json": newer.replace(b"seven", b"eight")}, release="99.0")) == [
        "report.json"
    ]


def test_of_this_release_nothing_is_left_unchecked() -> None:
    found = check_bundle(bundle())
    assert (found.ok, found.whole, found.unchecked) == (True, True, ())
    broken = check_bundle(forged(bundle(), {"report.md": b"Other.\n"}))
    assert (broken.ok, broken.whole, broken.unchecked) == (False, False, ())


def test_another_format_is_named() -> None:
    data = bundle().replace(b"assay.bundle/1", b"assay.bundle/2")
    assert any("assay.bundle/2" in problem for problem in problems(check_bundle(data), "members"))
