"""Titles: without markup, and none where nobody gave one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fetch.fields import LONGEST, first_heading, first_line, fit
from assay.fetch.html import HtmlExtractor
from assay.fetch.text import MarkdownExtractor


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
    assert fit(stated) == title


@given(st.text(max_size=400))
def test_a_title_is_one_line_and_stays_one(stated: str) -> None:
    title = fit(stated)
    assert len(title) <= LONGEST
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
