"""Questions in languages without public questions of their own: what asks, what is no topic, digits, forms of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.lexicon import MAX_TERM_LETTERS, UNSTEMMED, plain_digits, stop_terms, terms
from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.signs import has_number

BESIDE = {
    "pl": "Latarnia stoi na wyspie i jest najstarsza w kraju, ale nie była czynna przez cały czas.",
    "cs": "Maják stojí na ostrově a je nejstarší v zemi, ale nebyl v provozu po celou dobu.",
    "fi": "Majakka on saarella ja se on maan vanhin, mutta se ei ole ollut aina käytössä.",
    "sv": "Fyren står på en ö och är den äldsta i landet, men den har inte varit i bruk hela tiden.",
    "hu": "A világítótorony egy szigeten áll, és ez az ország legrégebbi tornya, de nem volt mindig használatban.",
}


@pytest.mark.parametrize(
    ("question", "language", "wanted"),
    [
        ("Kiedy zbudowano latarnię?", "pl", "date"),
        ("Ilu strażników pracowało na wyspie?", "pl", "number"),
        ("Jaką barwę miało światło, kiedy latarnia była nowa?", "pl", "other"),
        ("Kdo postavil maják?", "cs", "name"),
        ("Minä vuonna majakka rakennettiin?", "fi", "date"),
        ("Varför släcktes fyren?", "sv", "reason"),
        ("Hány őr dolgozott a szigeten?", "hu", "number"),
        ("Скільки сторожів працювало на острові?", "", "number"),
        ("灯台はいつ建てられましたか？", "", "date"),
        ("灯台を建てたのは誰ですか？", "", "name"),
        ("등대는 언제 세워졌습니까?", "", "date"),
        ("섬에는 등대지기가 몇 명 있었나요?", "", "number"),
        ("为什么灯塔熄灭了？", "", "reason"),
        ("这座灯塔被称为什么？", "", "other"),  # "called what", no "why"
        ("מי בנה את המגדלור?", "", "name"),
        ("چرا فانوس دریایی خاموش شد؟", "", "reason"),
        ("বাতিঘরটি কোন সালে তৈরি হয়?", "", "date"),
        ("বাংলাকে ভালোবাসেন মানুষ?", "", "other"),  # the ending of an object is no "who"
        ("கலங்கரை விளக்கத்தை யார் கட்டினார்?", "", "name"),
    ],
)
def test_each_language_asks_in_its_own_words(question: str, language: str, wanted: str) -> None:
    assert read_question(question, document_text=BESIDE.get(language, "")).answer_kind == wanted


@pytest.mark.parametrize("question", ["Who is Kim?", "What is in the kit?", "What is AI?", "How do I use ile?"])
def test_a_word_that_asks_elsewhere_is_a_topic_here(question: str) -> None:
    name = question.rstrip("?").split()[-1].lower()
    assert name in read_question(question).keys


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("1871年に灯台を建てたのは誰ですか？", {"1871"}),
        ("在NASA工作的守塔人是谁？", {"nasa"}),
        ("¿Cuán alta es la torre de Brest?", {"brest"}),
    ],
)
def test_a_name_ends_at_letters_that_nothing_separates_and_does_not_begin_a_question(
    question: str, names: set[str]
) -> None:
    assert read_question(question).names == names


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("Wie viel Zeit braucht die Flut?", "extent"),
        ("Сколько нужно времени, чтобы построить маяк?", "extent"),
        ("Сколько людей жило там до того времени?", ""),
    ],
)
def test_an_amount_of_time_is_a_measure(question: str, measure: str) -> None:
    assert read_question(question).measure == measure


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("등대를 세운 사람은 누구입니까?", {"등대", "세운", "사람"}),
        ("מתי נבנה המגדלור?", {"נבנה", "המגדלו"}),
        ("فانوس دریایی را چه کسی ساخت؟", {"فانوس", "دریایی", "ساخت"}),
        ("வரைபடத்தை யார் வரைந்தார்?", {"வரைபடததை", "வரைநதார"}),
    ],
)
def test_words_that_ask_and_particles_are_no_topic(question: str, topic: set[str]) -> None:
    assert set(read_question(question).keys) == topic


def test_the_stop_words_of_a_language_without_a_stemmer_are_its_own() -> None:
    assert "kiedy" in stop_terms("pl")
    assert "kiedy" not in stop_terms("cs")
    assert "kiedy" not in stop_terms(UNSTEMMED)
    assert {"מתי", "कौन"} <= stop_terms(UNSTEMMED)


def test_the_forms_of_a_long_word_are_one_term_without_a_stemmer() -> None:
    assert terms("Latarnia latarnię LATARNIAMI", UNSTEMMED) == ["latarn"] * 3
    assert terms("łodzie łódź", UNSTEMMED) == ["lodzie", "lodz"]
    assert terms("RFC1234567 rok", UNSTEMMED) == ["rfc1234567", "rok"]


@given(st.text(st.characters(categories=("Lu", "Ll", "Lo")), min_size=1, max_size=30))
def test_no_term_without_a_digit_is_longer_than_the_cut(word: str) -> None:
    assert all(sum(map(str.isalpha, term)) <= MAX_TERM_LETTERS for term in terms(word, UNSTEMMED))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("۱۹۴۵", "1945"),
        ("১৯৪৫", "1945"),
        ("１９４５", "1945"),
        ("مَدْرَسَة", "مدرسة"),
        ("العـــالم", "العالم"),
        ("שָׁלוֹם", "שלום"),
        ("كتاب علي", "کتاب علی"),
        ("خانهٔ", "خانه"),
        ("کتاب‌ها", "کتاب ها"),
    ],
)
def test_what_is_only_written_otherwise_is_one_term(one: str, other: str) -> None:
    assert terms(one, UNSTEMMED) == terms(other, UNSTEMMED)


@given(st.text())
def test_plain_digits_change_nothing_else(text: str) -> None:
    plain = plain_digits(text)
    assert len(plain) == len(text)
    assert all(a == b or (a.isdecimal() and b in "0123456789") or a in "٫٬" for a, b in zip(text, plain, strict=True))


def test_a_year_in_other_digits_is_a_year() -> None:
    texts = ("پل کهنه در سال ۱۸۷۲ ساخته شد.", "پل کهنه ۴ دهانه دارد.", "پل کهنه در سال ۱۹۳۰ بسته شد.")
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    question = read_question("پل کهنه در سال 1872 چه شد؟", document_text=" ".join(texts))
    assert judge(question, statements).ranked[0].index == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("הוא נמשך שלושה ימים", "he"),
        ("trwało to pięciu ludziom", "pl"),
        ("ci vollero sei anni", "it"),
        ("kahdessa päivässä", "fi"),
    ],
)
def test_numbers_are_words_of_their_language(text: str, language: str) -> None:
    assert has_number(text, language)
    assert not has_number(text, "en")
