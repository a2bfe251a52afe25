"""Titles: without markup, and none where nobody gave one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fetch.fields import MAX_TITLE_CHARS, clean_title, first_heading, first_line
from assay.fetch.html import HtmlExtractor
from assay.fetch.text import MarkdownExtractor, TextExtractor


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        ("[KEP-5055](https://kep.example/5055): Taints", "KEP-5055: Taints"),
        (":mod:`tomllib` --- Parse TOML files", "tomllib --- Parse TOML files"),
        ("The <code>Vec&lt;T&gt;</code> **type**", "The Vec&lt;T&gt; type"),
        ("Using Vec<T> well", "Using Vec<T> well"),
        ("snake_case and _emphasis_", "snake_case and emphasis"),
        ("The __init__ method", "The __init__ method"),
        ("Microsoft Word - Report 2020.doc", "Report 2020.doc"),
        ("  two\n lines ", "two lines"),
        ("...", ""),
        ("Untitled Document", ""),
        ("index.html", ""),
        (".. currentmodule:: asyncio", ""),
        ("#!/bin/sh", ""),
        ("第一章 港口", "第一章 港口"),
        ("Homepage", "Homepage"),
        ("Titles of Nobility", "Titles of Nobility"),
    ],
)
def test_a_title_is_what_a_reader_would_write(stated: str, title: str) -> None:
    assert clean_title(stated) == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("[2022-09-12 21:04] Ada: they asked\n[2022-09-12 21:05] Bob: who?\n", ""),
        ("02/10/2021, 07:15 - Ada: only 11.8\n02/10/2021, 07:16 - Bob: write it down\n", ""),
        ("2021-05-04 Hotel Atlantic\n2021-06-16 dinner\n", ""),
        ("2021-05-04 Minutes\n\nThe board met.\n", "2021-05-04 Minutes"),
        ("12.05.2021-A Pumps\n\nText.\n", "12.05.2021-A Pumps"),
    ],
)
def test_the_first_entry_of_a_log_is_no_title(text: str, title: str) -> None:
    assert first_line(text) == title


@given(st.text(max_size=400))
def test_a_title_is_one_line_and_stays_one(stated: str) -> None:
    title = clean_title(stated)
    assert len(title) <= MAX_TITLE_CHARS
    assert title == " ".join(title.split())
    assert not title or any(map(str.isalnum, title))


def test_headings_drawn_above_and_below_and_of_html() -> None:
    assert first_heading("*****\n  What is new\n*****\n\nText.\n") == "What is new"
    assert first_heading('<p align="center"><img src="x.png"></p>\n<h1 align="center">Pump <b>2</b></h1>\n') == "Pump 2"
    assert first_heading("# ![logo](x.png)\n\n## The pump\n") in ("logo", "The pump")
    assert first_heading("# ...\n\n# Real\n") == "Real"


def test_the_first_line_which_has_a_word() -> None:
    assert first_line("=====\n.. _label:\n.. currentmodule:: x\n\nThe pump\n") == "The pump"
    assert first_line("This is a sentence.\n") == ""


def test_a_page_nobody_titled_is_called_by_its_heading() -> None:
    page = b"<html><head><title>Untitled Document</title></head><body><h1>The pump</h1><p>Text of it.</p></body></html>"
    (found,) = HtmlExtractor().extract(page, "a.html")
    assert found.title == "The pump"


def test_the_sources_of_a_manual_are_markup() -> None:
    assert ".rst.txt" in MarkdownExtractor.suffixes


@pytest.mark.parametrize(
    ("text", "name", "date"),
    [
        ("# Minutes of 12 May 2026\n\nPresent: all.\n", "minutes.md", "2026-05-12"),
        ("# The mole\n\n*Draft, March 2025*\n\nIt is long.\n", "mole.md", "2025-03"),
        ("# Minutes of the board\n\nPresent: all.\n", "minutes-2026-05-12.md", "2026-05-12"),
        ("# Minutes of 12 May 2026\n\nPublished: 3 June 2026\n", "minutes.md", "2026-06-03"),
        ("---\ndate: 2024-01-02\n---\n# Minutes of 12 May 2026\n", "minutes.md", "2024-01-02"),
        ("# Annual report 2024\n\nThe year was good.\n", "report.md", ""),
        ("# Waterloo, 18 June 1815\n\nThe battle was long.\n", "waterloo.md", ""),
        ("# The mole\n\nIt was built in 1901.\nIt is long.\n\nOther.\n\nLetter of 3 May 2024\n", "mole.md", ""),
    ],
)
def test_the_date_of_a_text_is_in_its_title_first_lines_or_name(text: str, name: str, date: str) -> None:
    (found,) = MarkdownExtractor().extract(text.encode(), name)
    assert found.published == date


def test_the_date_of_a_plain_text() -> None:
    (found,) = TextExtractor().extract(b"Minutes of the council\n12 May 2026\n\nPresent: all.\n", "minutes.txt")
    assert (found.title, found.published) == ("Minutes of the council", "2026-05-12")
