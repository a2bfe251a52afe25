"""The final gate: nothing passes whose marker, hash, byte range or count is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from evidence_of import passage, shown

from assay.core.assurance import find_record_problems
from assay.core.claims import Claim, Summary
from assay.core.errors import LimitReached, StoreError
from assay.core.report_sentences import claims
from assay.core.sources import Passage, sha256
from assay.verify.evidence_index import CitedPassages, EvidenceIndex, compare_with_documents, find_unrecorded

if TYPE_CHECKING:
    from assay.evidence.documents import DocumentReader
    from assay.run.run import Run

TEXT = "Größe zählt. Die zweite Zeile ist 🙂."
REPORT = "Größe zählt. [S1.0] Mehr [S9.9]."
PASSAGES = shown("S1", TEXT)
CLAIM = Claim(id="c1", text="Größe zählt.", start=0, end=12, passages=("S1.0",), verdict="supported")
SUMMARY = Summary(claims=1, supported=1, dropped_markers=1)


def text_of(document: str) -> bytes:
    if document != sha256(TEXT.encode()):
        raise StoreError(f"document {document[:4]} is not there")
    return TEXT.encode()


def problems(
    passages: dict[str, Passage] = PASSAGES,
    claims: tuple[Claim, ...] = (CLAIM,),
    summary: Summary = SUMMARY,
    text: Callable[[str], bytes] = text_of,
) -> tuple[str, ...]:
    cited = {id: passages[id] for claim in claims for id in claim.passages if id in passages}
    held = CitedPassages({})
    held.add_documents(compare_with_documents(cited, text))
    return (*find_record_problems(REPORT, claims, passages, ("S1",), summary), *held.problems(cited))


def changed(**fields: object) -> dict[str, Passage]:
    return {"S1.0": msgspec.structs.replace(PASSAGES["S1.0"], **fields)}


def test_what_is_right_passes() -> None:
    assert problems() == ()


@pytest.mark.parametrize(
    ("passages", "problem"),
    [
        (changed(text="Größe zählt nicht."), "passage S1.0 is not what its document says there"),
        (changed(text_sha256=sha256(b"x")), "passage S1.0 does not have its hash"),
        (changed(start=1), "passage S1.0 is not what its document says there"),
        (changed(end=9999), "passage S1.0 lies outside its document"),
        (changed(id="S1.5"), "passage S1.0 is recorded under another id"),
        (changed(source="S2"), "passage S1.0 is recorded under another id"),
        (changed(document_sha256="ffff"), "passage S1.0: document ffff is not there"),
    ],
)
def test_a_wrong_record_is_told(passages: dict[str, Passage], problem: str) -> None:
    assert problems(passages) == (problem,)


def test_a_damaged_document_is_told() -> None:
    assert problems(text=lambda _: b"x" * 999) == ("passage S1.0 is of a document whose text does not have its hash",)


@pytest.mark.parametrize(
    ("claims", "summary", "problem"),
    [
        ((CLAIM,), Summary(claims=1, supported=1), "1 markers name nothing, but 0 are counted as dropped"),
        ((CLAIM,), Summary(claims=1, partial=1, dropped_markers=1), "the counts are not those of the claims"),
        ((), SUMMARY, "the counts are not those of the claims"),
        (
            (msgspec.structs.replace(CLAIM, passages=("S1.7",)),),
            SUMMARY,
            "claim c1 cites S1.7, which was never shown",
        ),
        ((msgspec.structs.replace(CLAIM, end=99),), SUMMARY, "claim c1 lies outside the report"),
    ],
)
def test_a_wrong_count_is_told(claims: tuple[Claim, ...], summary: Summary, problem: str) -> None:
    assert problem in problems(claims=claims, summary=summary)


def test_passages_cut_inside_a_sentence_are_known() -> None:
    long = "One clause of many, " * 20
    text = f"First of all. {long}and its end. Last.\n\nA list:\n\n- an item without an end\n- another"
    cut = long[:300].rstrip()
    start = text.index(long)
    pieces = {
        "S1.0": passage("S1.0", cut, text, start),
        "S1.1": passage("S1.1", text[start + 300 : start + 430].strip(), text, start + 300),
        "S1.2": passage("S1.2", "First of all.", text),
        "S1.3": passage("S1.3", "an item without an end", text, text.index("an item")),
    }
    held = compare_with_documents(pieces, lambda _: text.encode())
    assert held.wrong == {}
    assert held.cut_before == ("S1.1",)
    assert held.cut_after == ("S1.0",)
    assert [each.id for each in held.located] == list(pieces)
    around = {each.id: each for each in held.located}
    assert around["S1.2"].before == ""
    assert around["S1.2"].after.startswith(" One clause of many, ")
    assert around["S1.3"].after == "\n- another"


# what no record tells of

WRITTEN = "The tide at Brest rises 7 metres. [S1.0]\n\n| place | height |\n|---|---|\n| Brest | 7 metres [S1.0] |\n"


def recorded(text: str) -> list[Claim]:
    return [Claim(id=each.id, text=each.text, start=each.start, end=each.end) for each in claims(text)]


def test_a_report_all_of_whose_facts_are_records_passes() -> None:
    assert find_unrecorded(WRITTEN, recorded(WRITTEN)) == ()


def test_a_sentence_slipped_in_is_named() -> None:
    [problem] = find_unrecorded(f"{WRITTEN}\nIt rises 90 metres at Dover. [S1.0]\n", recorded(WRITTEN))
    assert problem == "a sentence of the report is no recorded claim: 'It rises 90 metres at Dover.'"


def test_a_sentence_changed_behind_its_check_is_named() -> None:
    assert find_unrecorded(WRITTEN.replace("7 metres. ", "9 metres. "), recorded(WRITTEN)) == (
        "claim c1 does not stand in the report as it is recorded",
    )


def test_a_claim_which_was_taken_out_and_is_still_counted_is_named() -> None:
    left = WRITTEN.partition("\n\n")[0]
    assert find_unrecorded(left, recorded(WRITTEN)) == ("claim c2 does not stand in the report as it is recorded",)


def test_a_gate_without_time_says_so_in_words() -> None:
    class Ended:
        world = SimpleNamespace(library=None)

        async def step(self, *_: object, **__: object) -> None:
            raise LimitReached("time")

    held = EvidenceIndex({}, {}, cast("DocumentReader", None))
    asyncio.run(held.check_passages(cast("Run", Ended()), PASSAGES.values()))
    assert held.problems(PASSAGES) == (
        "the cited passages were not compared with their documents: the time limit was reached",
    )
