"""The catalogues: every message in every language, with its places and its plurals; the source's messages in each."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import catalogues
import messages
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import phrases
from assay.core.claims import VERDICTS
from assay.core.phrases import STOP_REASONS, stop_reason_phrase
from assay.core.translation import (
    format_day,
    format_number,
    gettext,
    is_right_to_left,
    join_list,
    record_statement,
    statement_kind,
    statements_in,
)
from assay.locale import LOCALES, catalogue, compile_catalogue, locale_for, page_catalogue, use_locale

PLACES = re.compile(r"\{\w*\}")


TRANSLATED = LOCALES[1:]


def test_the_catalogues_have_the_messages_of_the_source_and_translate_them() -> None:
    assert list(messages.stale()) == [], "run `make messages`, and translate what is new"


@pytest.mark.parametrize("locale", TRANSLATED)
def test_a_translation_has_the_places_of_its_message(locale: str) -> None:
    for message in messages.stored(locale):
        if not message.id:
            continue
        ids = message.id if message.pluralizable else (message.id,)
        wanted = set(PLACES.findall(" ".join(ids)))
        forms = message.string if message.pluralizable else (message.string,)
        for found in forms:
            assert set(PLACES.findall(found)) <= wanted, found
        assert set(PLACES.findall(" ".join(forms))) == wanted, message.id
        assert set(PLACES.findall(forms[-1])) == wanted, forms  # that of most numbers


@pytest.mark.parametrize("locale", TRANSLATED)
def test_a_translation_ends_and_begins_as_its_message(locale: str) -> None:
    """Messages are put together: a sentence ends one, and what is a part of one does not."""
    for message in messages.stored(locale):
        if message.id and not message.pluralizable and len(message.id) > 3:
            ends = message.string.rstrip().endswith((".", "。", "।"))
            assert ends == message.id.rstrip().endswith("."), message.id
            assert message.string.startswith(" ") <= message.id.startswith(" "), message.id


@pytest.mark.parametrize("locale", TRANSLATED)
@given(count=st.integers(min_value=0, max_value=10**6))
def test_every_number_has_a_form(locale: str, count: int) -> None:
    with use_locale(locale):
        found = [phrases.claims(count), phrases.sources(count), phrases.documents(count), phrases.pages(count)]
        assert all(found)
        assert all(format_number(count) in each for each in found) or (locale == "ar" and count in (0, 1, 2))


@pytest.mark.parametrize("locale", TRANSLATED)
def test_what_is_compiled_is_what_is_written(locale: str, tmp_path: Path) -> None:
    assert catalogue(locale).gettext("Sources") != ""
    assert compile_catalogue(messages.path_of(locale)).startswith(b"\xde\x12\x04\x95")


def test_for_tests_what_was_changed_is_compiled_once(tmp_path: Path) -> None:
    source = tmp_path / "de" / "LC_MESSAGES" / "assay.po"
    source.parent.mkdir(parents=True)
    shutil.copy(messages.path_of("de"), source)
    assert catalogues.compile_changed(tmp_path) == [source.with_suffix(".mo")]
    assert catalogues.compile_changed(tmp_path) == []
    assert source.with_suffix(".mo").read_bytes() == compile_catalogue(source)
    os.utime(source.with_suffix(".mo"), (0, 0))
    assert catalogues.compile_changed(tmp_path) == [source.with_suffix(".mo")]


def test_verdicts_and_stop_reasons_are_words_of_each_language() -> None:
    for locale in TRANSLATED:
        with use_locale(locale):
            words = [phrases.verdict(name) for name in VERDICTS]
            assert len(set(words)) == len(VERDICTS)
            assert not set(words) & set(VERDICTS)
            for reason in STOP_REASONS:
                assert not stop_reason_phrase(reason).endswith((".", "。", "।"))
                assert stop_reason_phrase(reason) != STOP_REASONS[reason]


@pytest.mark.parametrize(
    ("language", "locale"),
    [("de", "de"), ("de-AT", "de"), ("pt-BR", "pt"), ("zh-Hant", "zh"), ("en-GB", "en"), ("sw", "en"), ("", "en")],
)
def test_a_language_has_a_catalogue_or_english(language: str, locale: str) -> None:
    assert locale_for(language) == locale


def test_a_page_without_its_catalogue_has_the_messages_of_reports_and_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert catalogue("de").gettext("Sources") == "Quellen"
    monkeypatch.setattr("assay.locale.FOLDER", tmp_path)
    found = page_catalogue.__wrapped__("de")
    assert (found.gettext("Sources"), found.gettext("Tables")) == ("Quellen", "Tables")


def test_figures_and_dates_are_those_of_the_language() -> None:
    with use_locale("de"):
        assert (format_number(12_345), format_day("2024-03-01"), join_list(["a", "b"])) == (
            "12.345",
            "1. März 2024",
            "a, b",
        )
    with use_locale("zh"):
        assert (format_day("2024-03-01"), join_list(["a", "b"])) == ("2024年3月1日", "a、b")
    assert (format_number(12_345), format_day("2024-03-01"), format_day("soon")) == ("12,345", "1 March 2024", "soon")
    assert is_right_to_left("ar-EG")
    assert not is_right_to_left("de")


def test_what_is_said_in_one_run_is_not_known_in_another() -> None:
    with use_locale("de"):
        assert gettext("Sources") == "Quellen"
        assert record_statement("Eins. *Zwei.*") == "Eins. *Zwei.*"
        assert statement_kind("*Zwei.*") == statement_kind("Eins. Zwei.") == "notice"
        assert statements_in("Vorher.\n\nZwei. Drei.") == {"Zwei.": "notice"}
        with use_locale("fr"):
            assert statement_kind("Zwei.") is None
        assert statement_kind("Drei.") is None
    assert gettext("Sources") == "Sources"
    assert statement_kind("Zwei.") is None
    record_statement("Said outside of any run.")
    assert statement_kind("Said outside of any run.") is None
