from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.languages import detect_language, question_language

SENTENCES = {
    "en": "The committee said that it would not change the rules which have been in force for years.",
    "de": "Der Ausschuss hat mitgeteilt, dass die Regeln nicht geändert werden, die seit Jahren gelten.",
    "fr": "Le comité a dit que les règles qui sont en vigueur depuis des années ne seront pas changées par la suite.",
    "es": "El comité dijo que no se cambiarán las reglas que han estado en vigor durante años por una razón.",
    "pt": "O comitê disse que as regras que estão em vigor não serão mudadas por causa de uma nova lei.",
    "it": "Il comitato ha detto che le regole che sono in vigore da anni non saranno cambiate per il momento.",
    "nl": "De commissie zei dat de regels die al jaren gelden niet worden veranderd en dat het zo blijft.",
    "pl": "Komitet powiedział, że zasady, które są w mocy od lat, nie będą zmienione i to jest dla nas dobre.",
    "ru": "Комитет сообщил, что правила, которые действуют много лет, изменены не будут.",
    "uk": "Комітет повідомив, що правила, які діють багато років, змінені не будуть.",
    "zh": "委员会表示，实行多年的规则不会改变。",
    "ja": "委員会は、長年続いている規則を変更しないと発表した。",
    "ko": "위원회는 오랫동안 시행된 규칙을 변경하지 않겠다고 밝혔다.",
    "ar": "قالت اللجنة إن القواعد المعمول بها منذ سنوات لن تتغير.",
    "el": "Η επιτροπή είπε ότι οι κανόνες δεν θα αλλάξουν.",
    "he": "הוועדה אמרה שהכללים לא ישתנו.",
    "fa": "کمیته اعلام کرد که این مقررات دیرین تغییر نخواهد کرد.",
    "th": "คณะกรรมการกล่าวว่ากฎจะไม่เปลี่ยนแปลง",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_languages(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "I leave for Brest. After a year I have decided to go.",  # "i" and "to" are Czech as well
        "i have to say that i am to leave",
    ],
)
def test_words_of_many_languages_do_not_outweigh_those_of_one(text: str) -> None:
    assert detect_language(text) == "en"


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "12345", "x = f(y)", "Teutberga", "🎉🎉"),
        "Role: Captain | Name: Jan de Wit | Wage: 9400 | cells: A5:D5",
        "Depth: 11.8 | Reported: 13.5 | cells: A2:D2\n" * 9,
    ],
)
def test_unknown(text: str) -> None:
    assert detect_language(text) == ""


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How far does the tide rise at Brest?", "en"),
        ("Was ist PEP 8?", "de"),
        ("Quelle est la hauteur de la marée ?", "fr"),
        ("¿Cuál es la altura de la marea?", "es"),
        ("Какова высота прилива в Бресте?", "ru"),
        ("Wie hoch steigt die Flut in Brest?", "de"),
        ("Wie is dat?", "nl"),
        ("How do I make a dataclass immutable?", "en"),  # "do", "I" and "a" are Czech as well
        ("How do I do a rebase?", "en"),
        ("Can I pickle a lambda?", "en"),
        ("List all harbours of Brittany and their depth", "en"),
        ("Kdo je autorem normy PEP 8?", "cs"),
        ("¿Cómo puedo deshacer un commit?", "es"),
        ("Como posso desfazer um commit?", "pt"),
        ("Thủy triều ở Brest cao bao nhiêu?", "vi"),
        ("Brest'te gelgit ne kadar yükselir?", "tr"),
        ("a do i", ""),
        ("Die Hard box office", ""),
        ("PEP 8", ""),
        ("", ""),
    ],
)
def test_a_question_has_few_words_and_they_suffice(question: str, language: str) -> None:
    assert question_language(question) == language


def test_a_foreign_name_does_not_make_arabic_persian() -> None:
    assert detect_language("قالت الشركة إن پاريس ستستضيف المؤتمر") == "ar"
    assert question_language("دریا کجاست؟") == "fa"


def test_a_foreign_word_does_not_decide() -> None:
    assert detect_language(SENTENCES["en"] + " The Chinese word is 图书馆.") == "en"


@given(st.text())
def test_any_text(text: str) -> None:
    assert len(detect_language(text)) in (0, 2)


def test_a_letter_beside_a_figure_is_no_word() -> None:
    rows = [f"Week: 2025-W{week} | Catch (t): 5.2 | cells: A{week}:B{week}" for week in range(10, 30)]
    assert detect_language("\n\n".join(rows)) == ""
