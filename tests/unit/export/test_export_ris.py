"""RIS, read back by rispy."""

import logs
import pytest
import rispy
from citing import citing, page
from hypothesis import given, settings
from hypothesis import strategies as st
from records import recorded
from sampling import scaled

from assay.export.references import references
from assay.export.ris import EXPORTER

NOTE = "Cited as [{}] in the report on: Is it so?"


def test_a_report_and_a_page() -> None:
    pdf = page(1, author="Jane Doe; OWASP", published="2020-06", media_type="application/pdf", title="A report")
    web = page(2, published="2001-07-05")
    assert EXPORTER.render(citing(pdf, web)).decode() == (
        "TY  - RPRT\r\nID  - doe2020report\r\nTI  - A report\r\nAU  - Doe, Jane\r\nAU  - OWASP\r\nT2  - example.org\r\n"
        "PY  - 2020\r\nDA  - 2020/06//\r\nUR  - https://example.org/S1\r\nY2  - 2025/01/01/\r\n"
        f"N1  - {NOTE.format(1)}\r\nER  - \r\n\r\n"
        "TY  - ELEC\r\nID  - example2001page\r\nTI  - A page\r\nT2  - example.org\r\nPY  - 2001\r\n"
        "DA  - 2001/07/05/\r\n"
        f"UR  - https://example.org/S2\r\nY2  - 2025/01/01/\r\nN1  - {NOTE.format(2)}\r\nER  - \r\n"
    )


def test_nothing_cited_is_nothing() -> None:
    assert EXPORTER.render(recorded(logs.no_evidence().events)) == b""


HOSTILE = [
    "x\nER  - \nTY  - JOUR",
    "x\r\nER  - ",
    "a\u2028ER  - ",
    "a\x85ER  - ",
    "a\x0bER  - ",
    "ER  - ",
    "\u202eER",
    "a\x1cb",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_ends_a_record_or_begins_a_field(text: str) -> None:
    source = page(title=text, author=text, metadata={"publisher": text, "journal": text}, url=f"file:///{text}")
    ris = EXPORTER.render(citing(source, question=text)).decode()
    assert ris.count("ER  - ") == 1 + sum(line.count("ER  - ") for line in ris.split("\r\n")[:-2])
    assert sum(line.startswith("ER") for line in ris.splitlines()) == 1
    assert sum(line.startswith("TY") for line in ris.splitlines()) == 1
    assert all(line[2:6] == "  - " for line in ris.splitlines())
    assert len(rispy.loads(ris)) == 1


@settings(max_examples=scaled(60))
@given(
    st.lists(
        st.tuples(
            st.text(max_size=30) | st.text(st.sampled_from("ER TY-\n\r\u2028\x85ab "), max_size=30),
            st.text(max_size=20),
            st.text(max_size=15),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_titles_authors_and_addresses_read_back(facts: list[tuple[str, str, str]]) -> None:
    sources = [
        page(n, title=title, author=author, url=f"https://e.org/{url}", document_sha256=f"{n:064}")
        for n, (title, author, url) in enumerate(facts, 1)
    ]
    record = citing(*sources)
    wanted = references(record.view)
    entries = rispy.loads(EXPORTER.render(record).decode())
    assert [entry["id"] for entry in entries] == [reference.key for reference in wanted]
    assert [entry["title"] for entry in entries] == [reference.title for reference in wanted]
    assert [entry.get("authors", []) for entry in entries] == [
        [n.sort_name for n in reference.authors] for reference in wanted
    ]
    assert [entry["urls"] for entry in entries] == [[reference.url.replace(";", "%3B")] for reference in wanted]
