"""The date of a document as its title, its first lines or its file's name state it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.document_dates import iso_date, stated_date, year_of_subject


@pytest.mark.parametrize(
    ("title", "date"),
    [
        ("Minutes of 12 May 2026", "2026-05-12"),
        ("Minutes of the council, 12 May 2026", "2026-05-12"),
        ("Minutes of the board meeting of 3rd May 2026", "2026-05-03"),
        ("Newsletter No. 4, May 2024", "2024-05"),
        ("Press release – June 5, 2025", "2025-06-05"),
        ("Draft (March 2025)", "2025-03"),
        ("2026-05-12 Notes of the committee", "2026-05-12"),
        ("Protokoll vom 12. Mai 2026", "2026-05-12"),
        ("Sitzungsprotokoll, 3. März 2025", "2025-03-03"),
        ("Compte rendu du 4 juin 2024", "2024-06-04"),
        ("Acta de la reunión de 7 de abril de 2023", "2023-04-07"),
        ("Протокол от 5 марта 2024", "2024-03-05"),
        ("会议纪要 2024年5月12日", "2024-05-12"),
        ("The flood of 3 December 2023", ""),
        ("The great fire, 4 July 1911", ""),
        ("Report on the flood of 3 December 2023", ""),
        ("Notes on the strike, May 1926", ""),
        ("Minutes of 12 May 2026, approved on 3 June 2026", ""),
        ("Programme of 1–5 May 2024", ""),
        ("Minutes of 31 February 2026", ""),
        ("Annual report 2024", ""),
        ("Letter 12", ""),
    ],
)
def test_the_date_in_a_title(title: str, date: str) -> None:
    assert stated_date(title, ()) == date


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("Draft, March 2025", "2025-03"),
        ("*Draft, March 2025*", "2025-03"),
        ("12 May 2026", "2026-05-12"),
        ("Arnholm, 12 May 2026", "2026-05-12"),
        ("Brest, le 9 octobre 2025", "2025-10-09"),
        ("Arnholm, den 12. Mai 2026", "2026-05-12"),
        ("Madrid, a 5 de mayo de 2025", "2025-05-05"),
        ("Closed by order, before 5 May 2025", ""),
        ("Last updated: 3 May 2024.", "2024-05-03"),
        ("Date: March 2025", "2025-03"),
        ("Stand: März 2025", "2025-03"),
        ("Stand: 01.03.2025", "2025-03-01"),
        ("Version 1.2.2025.3", ""),
        ("The harbour was closed on 3 May 2024.", ""),
        ("It was built in May 1924", ""),
        ("Born 12 May 1926", ""),
        ("In May 1924 the mole was built", ""),
    ],
)
def test_the_date_in_a_line_below_the_title(line: str, date: str) -> None:
    assert stated_date("The mole", [line]) == date


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("minutes-2026-05-12.md", "2026-05-12"),
        ("board/2026_05_12 minutes.txt", "2026-05-12"),
        ("2024-05-12/notes.md", ""),
        ("2024-01-01_to_2024-12-31.md", ""),
        ("part-2024-13-01.md", ""),
        ("part-12024-10-01.md", ""),
        ("report-2024-05.md", ""),
    ],
)
def test_the_date_in_the_name_of_a_file(name: str, date: str) -> None:
    assert stated_date("Minutes", (), name) == date


def test_a_line_counts_before_the_title_and_the_title_before_the_name() -> None:
    assert stated_date("Minutes of 2 May 2024", ["Draft, 3 May 2024"], "a-2024-05-04.md") == "2024-05-03"
    assert stated_date("Minutes of 2 May 2024", ["Present: all."], "a-2024-05-04.md") == "2024-05-02"


@pytest.mark.parametrize(
    ("title", "year"),
    [
        ("Annual report 2024", "2024"),
        ("Annual Report for 2023/2024", "2024"),
        ("Jahresbericht 2023", "2023"),
        ("World championship 1998", ""),
        ("Annual report of the trust", ""),
        ("Annual report 2024 of the year 2025 and more", ""),
    ],
)
def test_the_year_an_annual_report_is_about(title: str, year: str) -> None:
    assert year_of_subject(title) == year


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2001-07-05", "2001-07-05"),
        ("05-Jul-2001, 11-Aug-2003", "2001-07-05"),
        ("5 July 2001", "2001-07-05"),
        ("July 5th, 2001", "2001-07-05"),
        ("2001-13-40, then 2020-01-02", "2020-01-02"),
        ("31-Feb-2001", ""),
        ("Mon, 02 Mar 2020 10:00:00 +0000", "2020-03-02"),
        ("12. Mai 2026", "2026-05-12"),
        ("5 de mayo de 2020", "2020-05-05"),
        ("1er février 2020", "2020-02-01"),
        ("3 марта 1907 года", "1907-03-03"),
        ("2024年5月12日", "2024-05-12"),
        ("Febr. 5, 2020", "2020-02-05"),
        ("3 Jul 0099", "0099-07-03"),
        ("May 2020, revised 5 June 2021", "2021-06-05"),
        ("May 2020", ""),
        ("5/7/2001", ""),
        ("$Date$", ""),
    ],
)
def test_a_day_in_a_header_is_read_as_people_write_it(text: str, day: str) -> None:
    assert iso_date(text) == day


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=60))
def test_any_text_is_read(title: str, line: str, name: str) -> None:
    assert len(stated_date(title, [line], name)) in (0, 7, 10)
    assert len(year_of_subject(title)) in (0, 4)
    assert len(iso_date(line)) in (0, 10)
