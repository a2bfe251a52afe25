"""Reading what tools showed: fields, identity, sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import markers
from assay.models.extractive.answers import select_answers
from assay.models.questions.question import analyze
from assay.models.shown_documents.passages import one_line, quotable_sentences, read_field
from assay.models.shown_documents.shelf import Identifier, ShownSources, resolve_subject

PEP = """
## S1001 Bug Fix Releases <https://peps.example/pep-0006/>
[S1001.0] PEP: 6
[S1001.1] Title: Bug Fix Releases
[S1001.2] Author: Aahz <aahz@example.com>,
          Anthony Baxter
[S1001.3] Status: Superseded
[S1001.8] Abstract
[S1001.9] Python has only one release branch. This proposal adds another one.
[S1001.12] Python-Version: 9.9
"""


def test_header_fields_end_where_prose_begins() -> None:
    (book,) = ShownSources([PEP]).books
    assert [(field.name, field.value) for field in book.fields] == [
        ("pep", "6"),
        ("title", "Bug Fix Releases"),
        ("author", "Aahz <aahz@example.com>, Anthony Baxter"),
        ("status", "Superseded"),
    ]
    assert book.field("python version") is None


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Status: **Implemented (Swift 5.8)**", "Status", "Implemented (Swift 5.8)"),
        ("* Authors: [A B](https://example.org)", "Authors", "[A B](https://example.org)"),
        ("**Owner:** Jane", "Owner", "Jane"),
        ("状态：已接受", "状态", "已接受"),
        ("Дата создания: 2020-01-02", "Дата создания", "2020-01-02"),
    ],
)
def test_forms_of_fields(text: str, key: str, value: str) -> None:
    field = read_field("S1.0", text)
    assert field is not None
    assert (field.key, field.value) == (key, value)


@pytest.mark.parametrize(
    "text",
    ["No field here.", "See https://example.org", "key:", "a sentence that is long enough: then more", "KEP-12: Title"],
)
def test_what_is_no_field(text: str) -> None:
    assert read_field("S1.0", text) is None


MINUTES = """
## S1001 Committee, 5 September <file:///minutes.md>
[S1001.4] * **Sculling**: 23 crews from seven clubs started on 24 August. Surplus EUR 1,870.
[S1001.5] * **Waiting list**: nineteen adults want to join.
"""


def test_items_of_minutes_are_prose_where_they_are_shown_first() -> None:
    (book,) = ShownSources([MINUTES]).books
    assert book.fields == ()
    assert [each.text for each in book.sentences] == [
        "**Sculling**: 23 crews from seven clubs started on 24 August.",
        "Surplus EUR 1,870.",
        "**Waiting list**: nineteen adults want to join.",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Default: `5000` (5 seconds).", ["Default: `5000` (5 seconds)."]),
        ("- Port: 8080.", ["Port: 8080."]),
        (
            "Default: `5` (days). Set it to `0` to wait.",
            ["Default: `5` (days).", "Set it to `0` to wait."],
        ),
        ("Waits so many milliseconds. **Default:** `5`.", ["Waits so many milliseconds.", "**Default:** `5`."]),
        ("`5000`: 1.", []),
        ("Source: https://example.org/a.html.", []),
        ("See: [S1.2].", []),
        ("Default: `5000.", []),
    ],
)
def test_a_name_in_words_with_its_value_is_quoted_though_it_has_few_letters(text: str, said: list[str]) -> None:
    assert [each.text for each in quotable_sentences("S1.30", text)] == said


@pytest.mark.parametrize(
    ("title", "url", "series", "number", "owned"),
    [
        ("Bug Fix Releases", "https://peps.example/pep-0006/", "pep", "6", True),
        ("Bug Fix Releases", "https://peps.example/pep-0006/", "pep", "60", False),
        ("Bug Fix Releases", "https://peps.example/pep-0060/", "pep", "6", False),
        ("KEP-2593: Enhanced NodeIPAM", "https://x.example/a", "kep", "2593", True),
        ("About KEP-2593", "https://x.example/a", "kep", "2593", False),
        ("text/1946.md", "https://rust.example/rfcs/1946-intra-links.html", "rfc", "1946", True),
        ("text/1946.md", "https://rust.example/rfcs/1946-intra-links.html", "rfc", "194", False),
    ],
)
def test_which_document_has_a_number(title: str, url: str, series: str, number: str, owned: bool) -> None:
    (book,) = ShownSources([f"## S1 {title} <{url}>"]).books
    assert book.has_identifier(Identifier(series, number)) is owned


@pytest.mark.parametrize(
    ("question", "shown", "books", "missing"),
    [
        ("What does sqlite3 do?", ["sqlite3: Databases <file:///sqlite3.md>", "dbm <file:///dbm.md>"], [], ()),
        ("What does sqlite4 do?", ["sqlite3: Databases <file:///sqlite3.md>"], [], ()),
        ("Who wrote pep8?", ["PEP 8: Style <file:///a.md>", "PEP 20: Zen <file:///b.md>"], ["PEP 8: Style"], ()),
        ("Who wrote pep8?", ["Style <https://e.org/pep-0008>"], ["Style"], ()),
        ("Who wrote pep9?", ["Style <https://e.org/pep-0008>"], [], ("pep9",)),
        ("Who wrote rfc791?", ["A <file:///rfc791.txt>", "B <file:///rfc793.txt>"], ["A"], ()),
        ("Who wrote rfc792?", ["A <file:///rfc791.txt>", "B <file:///rfc793.txt>"], [], ("rfc792",)),
        ("Who wrote RFC 791?", ["A <file:///rfc791.txt>"], ["A"], ()),
    ],
)
def test_a_name_of_one_word_is_a_number_only_where_documents_show_it(
    question: str, shown: list[str], books: list[str], missing: tuple[str, ...]
) -> None:
    subject = resolve_subject(analyze(question), ShownSources(f"## S{at} {each}" for at, each in enumerate(shown, 1)))
    assert ([book.title for book in subject.books], subject.missing) == (books, missing)


@pytest.mark.parametrize(
    ("titles", "books", "missing"),
    [
        (["MX-7: sintering", "Ageing of MX-7"], [], ()),
        (["Ageing of MX-7", "Cost of MX-7"], [], ()),
        (["MX-7: sintering", "Costs"], ["MX-7: sintering"], ()),
        (["MX-7: sintering", "MX-8: costs", "Ageing of MX-7"], ["MX-7: sintering"], ()),
        (["MX-8: costs"], [], ("MX-7",)),
    ],
)
def test_what_several_titles_name_in_different_places_numbers_no_document(
    titles: list[str], books: list[str], missing: tuple[str, ...]
) -> None:
    shelf = ShownSources(f"## S{at} {title} <file:///{at}.md>" for at, title in enumerate(titles, 1))
    subject = resolve_subject(analyze("How strong is MX-7?"), shelf)
    assert ([book.title for book in subject.books], subject.missing) == (books, missing)


def test_a_title_that_may_name_a_thing_leaves_the_answer_to_the_others() -> None:
    texts = (
        "## S1 MX-7 at low temperature <file:///a.md>\n[S1.0] The furnace stood in a hall of its own.",
        "## S2 Ceramics <file:///b.md>\n[S2.0] The bending strength of MX-7 is 101 MPa.",
    )
    units = select_answers(analyze("What is the bending strength of MX-7?"), ShownSources(texts))
    assert [unit.text for unit in units][:1] == ["The bending strength of MX-7 is 101 MPa."]


def test_passages_shown_twice_are_one() -> None:
    (book,) = ShownSources([PEP, PEP]).books
    assert len(book.passages) == 7


@pytest.mark.parametrize(
    "text",
    [
        "Abstract\n========",
        "Maximum Line Length",
        "x = 1\ny = 2",
        "def run(self):\n    return 1",
        "An open `code span.",
        "It cites [S1001.3] as others do, in a forged way.",
        "The stages are these ones, among others:",
    ],
)
def test_what_is_not_quoted(text: str) -> None:
    assert quotable_sentences("S1.30", text) == ()


def test_sentences_of_other_scripts() -> None:
    assert [each.text for each in quotable_sentences("S1.30", "长江是中国最长的河流。它流入东海。")] == [
        "长江是中国最长的河流。",
        "它流入东海。",
    ]
    assert [each.text for each in quotable_sentences("S1.30", "يقع النيل في أفريقيا.")] == ["يقع النيل في أفريقيا."]


@given(st.text(max_size=300))
def test_sentences_are_verbatim_but_for_white_space_and_never_cite(text: str) -> None:
    for sentence in quotable_sentences("S1.30", text):
        assert sentence.text in one_line(text)
        assert not markers.parse_markers(sentence.text)


@given(st.from_regex(r"[A-Z][a-z]{2,10}", fullmatch=True), st.from_regex(r"[a-z0-9][a-z0-9 ]{0,30}", fullmatch=True))
def test_what_is_written_as_a_field_is_read_as_one(key: str, value: str) -> None:
    field = read_field("S1.0", f"{key}: {value}")
    assert field is not None
    assert (field.key, field.value) == (key, one_line(value))
