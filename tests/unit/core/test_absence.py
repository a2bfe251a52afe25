"""Sentences which say that something was not found, and such as deny a thing of the world."""

from __future__ import annotations

import pytest

from assay.core.assurance import states_absence


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not state the warranty.",
        "The sources don't say when.",
        "Nothing about this was found.",
        "No information about the price was found.",
        "The warranty is not mentioned.",
        "The sources are silent on the year.",
        "It could not be determined who built it.",
        "None of the pages gives a date.",
        "Die Dokumente nennen keine Garantie.",
        "Dazu wurde nichts gefunden.",
        "Keine Angaben zum Preis.",
        "Les documents ne mentionnent pas la garantie.",
        "Los documentos no indican la garantía.",
        "No se encontró información sobre ello.",
        "I documenti non indicano la garanzia.",
        "Os documentos não mencionam a garantia.",
        "De documenten vermelden geen garantie.",
        "Dokumenty nie podają gwarancji.",
        "В документах не указана гарантия.",
        "У документах не вказано гарантію.",
        "文件没有说明保修期。",
        "文書には保証期間が記載されていません。",
        "문서에는 보증 기간이 언급되어 있지 않습니다.",
        "الوثائق لا تذكر الضمان.",
        "दस्तावेज़ों में वारंटी का उल्लेख नहीं है।",
        "Belgelerde garanti belirtilmemiş.",
    ],
)
def test_it_says_that_something_was_not_found(sentence: str) -> None:
    assert states_absence(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The tide at Brest rises seven metres.",
        "The species is not found in Europe.",
        "Smoking is not allowed on the mole.",
        "The bridge does not open on Sundays.",
        "There is no evidence that the mole sank.",
        "The harbor has no lock.",
        "No ships were lost.",
        "No changes were made to the mole.",
        "The source of the Nile is in Burundi.",
        "The parser does not accept tabs.",
        "Das Tor wird nicht geöffnet.",
        "Le port n'est pas ouvert.",
        "El puerto no abre.",
        "橋は開かない。",
    ],
)
def test_it_is_a_fact(sentence: str) -> None:
    assert not states_absence(sentence)
