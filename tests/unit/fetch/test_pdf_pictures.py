"""Pages of PDFs as they are printed: their pictures, and where passages stand on them."""

from __future__ import annotations

import struct
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import column, pdf

from assay.core.errors import ExtractError
from assay.core.sources import PageAsked, PageBox, PagePlaces
from assay.fetch.pdf import pictures
from assay.fetch.workers import Workers

PAGE = (
    "The lighthouse of Brest was built in 1863.",
    "Its lamp burned oil until 1921, and gas after-",
    "wards. The keeper was paid four marks a week.",
    "The lighthouse of Brest was built in 1863.",
)
BREST, TURN, TOP, STEP = PAGE[0], "gas afterwards. The keeper", 770, 14


def asked(data: bytes, **what: object) -> tuple[bytes | None, str]:
    [found] = pictures.PagePictures().extract(data, msgspec.json.encode({"number": 1, **what}).decode())
    return found.body, found.text


def places(passage: str, before: str = "", lines: tuple[str, ...] = PAGE) -> PagePlaces:
    return msgspec.json.decode(asked(pdf([column(*lines)]), passage=passage, before=before)[1], type=PagePlaces)


def dots(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height, and the lines of a picture in colours."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    assert kind == 2
    size = int.from_bytes(png[33:37], "big")
    raw = zlib.decompress(png[41 : 41 + size])
    step = 3 * width + 1
    return width, height, [raw[at + 1 : at + step] for at in range(0, len(raw), step)]


def is_printed(png: bytes, box: PageBox) -> bool:
    """Whether something dark is within a box of a picture."""
    width, height, lines = dots(png)
    left, right = int(box.left * width), int((box.left + box.width) * width)
    rows = lines[int(box.top * height) : int((box.top + box.height) * height)]
    return any(min(row[3 * left : 3 * right], default=255) < 100 for row in rows)


def test_a_box_is_where_the_words_are_printed() -> None:
    png, _ = asked(pdf([column(*PAGE)]), width=600)
    [box] = places(BREST).boxes
    assert png is not None
    assert dots(png)[:2] == (600, 849)
    assert is_printed(png, box)
    assert not is_printed(png, msgspec.structs.replace(box, top=0.5))
    assert (box.left, 1 - box.top - box.height) == pytest.approx((72 / 595, TOP / 842), abs=0.01)


def test_of_words_which_come_twice_those_after_what_is_before_are_meant() -> None:
    first, second = places(BREST), places(BREST, before=" ".join(PAGE[:3]))
    assert second.boxes[0].top - first.boxes[0].top == pytest.approx(3 * STEP / 842, abs=0.002)


def test_a_word_which_was_cut_at_the_end_of_a_line_has_both_lines() -> None:
    assert len(places(TURN).boxes) == 2


def test_a_passage_with_a_word_between_which_is_not_printed_there_is_found_in_pieces() -> None:
    assert len(places(f"{BREST} {PAGE[1]} [page 7] {PAGE[2]}").boxes) >= 3
    assert places("The mistral blows from the north all winter long.").boxes == ()
    assert places("…").boxes == ()


def test_what_stands_beside_each_other_has_one_box_and_columns_have_two() -> None:
    pieces = [[(72.0, 700.0, "Salt and wind"), (146.0, 700.0, "and rain"), (330.0, 700.0, "in another column.")]]
    found, text = asked(pdf(pieces), passage="Salt and wind and rain in another column.")
    boxes = msgspec.json.decode(text, type=PagePlaces).boxes
    assert [round(box.left * 595, -1) for box in boxes] == [70, 330]
    assert found is None


@given(st.text("abß ﬁ.-\n", max_size=80), st.integers(0, 80), st.integers(1, 40))
def test_what_stands_there_is_found_where_it_stands(text: str, start: int, size: int) -> None:
    letters, index = pictures._letters(text)
    wanted, _ = pictures._letters(text[start : start + size])
    before = len(pictures._letters(text[:start])[0])
    assert len(letters) == len(index)
    for first, last in pictures._find_spans(letters, wanted, before):
        assert letters[first : last + 1] == wanted
    if wanted:
        assert pictures._find_spans(letters, wanted, before)


@pytest.mark.parametrize("size", [(595, 20), (5, 842)])
def test_a_page_like_a_ribbon_is_not_drawn(size: tuple[int, int]) -> None:
    data = pdf([column("x")]).replace(b"[0 0 595 842]", b"[0 0 %d %d]" % size)
    with pytest.raises(ExtractError, match="too long or too wide"):
        asked(data, width=1000)


def test_pages_which_are_not_there_and_files_which_are_none() -> None:
    with pytest.raises(ExtractError, match="no page 2"):
        asked(pdf([column("x")]), number=2, width=100)
    with pytest.raises(ExtractError, match="damaged"):
        asked(b"%PDF-1.7 none", width=100)


def test_it_works_in_a_process_of_its_own() -> None:
    workers = Workers(1)
    try:
        isolated = workers.isolate(pictures.PagePictures(), 20)
        wanted = msgspec.json.encode(PageAsked(number=1, width=200)).decode()
        [found] = isolated.extract(pdf([column("x")]), wanted)
        assert found.body is not None
        assert found.body.startswith(b"\x89PNG")
    finally:
        workers.close()
