"""Whole runs in six languages, at every depth: reports and exports in which code says nothing in English."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from docx import Document
from research import Log, Sea, whole
from sampling import crossed

from assay import Assay
from assay.core.claims import Summary
from assay.core.ports.exporters import Record
from assay.core.report_sentences import ReportSentence, claims
from assay.core.translation import Phrases, format_day, format_number, use_phrases
from assay.core.view import RunView, fold_events
from assay.export.docx import EXPORTER as DOCX
from assay.export.html import render as html
from assay.export.markdown import render as markdown
from assay.export.report_parts import counts_line
from assay.locale import LOCALES, catalogue, use_locale
from assay.models.script import Scene, calls, says
from assay.verify.texts.marked_text import mark_citations
from assay.verify.texts.references import is_counts_line

DEPTHS = ("light", "medium", "extended")


class Wording(NamedTuple):
    """A question in a language, a document, what is written of it, and what nothing is found on."""

    question: str
    title: str
    document: str
    answer: str
    wrong: str
    lost: str
    section: str


TOLD = {
    "de": Wording(
        "Wie hoch steigt die Flut in Brest?",
        "Gezeiten",
        "Die Flut in Brest steigt sieben Meter. Sie wechselt zweimal am Tag.",
        "Die Flut in Brest steigt sieben Meter.",
        "Die Flut in Brest steigt 99 Meter.",
        "Salzgehalt des Wassers",
        "Gezeiten im Hafen",
    ),
    "fr": Wording(
        "De combien monte la marée à Brest ?",
        "Marées",
        "La marée à Brest monte de sept mètres. Elle change deux fois par jour.",
        "La marée à Brest monte de sept mètres.",
        "La marée à Brest monte de 99 mètres.",
        "Salinité de l’eau",
        "Marées du port",
    ),
    "zh": Wording(
        "布雷斯特的潮水涨多高？",
        "潮汐",
        "布雷斯特的潮水上涨七米。潮水每天变化两次。",
        "布雷斯特的潮水上涨七米。",
        "布雷斯特的潮水上涨 99 米。",
        "海水的盐度",
        "港口的潮汐",
    ),
    "ar": Wording(
        "كم يرتفع المد في بريست؟",
        "المد والجزر",
        "يرتفع المد في بريست سبعة أمتار. يتغير مرتين في اليوم.",
        "يرتفع المد في بريست سبعة أمتار.",
        "يرتفع المد في بريست 99 مترا.",
        "ملوحة الماء",
        "المد في الميناء",
    ),
    "ru": Wording(
        "На сколько поднимается прилив в Бресте?",
        "Приливы",
        "Прилив в Бресте поднимается на семь метров. Он меняется дважды в день.",
        "Прилив в Бресте поднимается на семь метров.",
        "Прилив в Бресте поднимается на 99 метров.",
        "Солёность воды",
        "Приливы в порту",
    ),
    "hi": Wording(
        "ब्रेस्ट में ज्वार कितना ऊपर उठता है?",
        "ज्वार",
        "ब्रेस्ट में ज्वार सात मीटर ऊपर उठता है। यह दिन में दो बार बदलता है।",
        "ब्रेस्ट में ज्वार सात मीटर ऊपर उठता है।",
        "ब्रेस्ट में ज्वार 99 मीटर ऊपर उठता है।",
        "पानी का खारापन",
        "बंदरगाह में ज्वार",
    ),
}
LATIN = ("de", "fr")
NO_WORDS = re.compile(
    r"[0-9a-f]{64}|file://\S+|\b[\w-]+\.md\b|\bS\d+(?:\.\d+)?\b|text/markdown|SHA-256|Ctrl\+C|generate_\w+"
    r"|\b(?:Assay|UTC|USD|GMT|scripted|orchestrated|reflective|words|local|triage|simple|analytical|complex|judge|verbatim"
    r"|number|lexical|citation|remove|md)\b|\b[0-9A-Z]{26}\b|\b\w+-\w+-\w+-\w+-\w+\b|\b[0-9]{8}\w*-\w+\b"
)
"""What is no word of a language: hashes, names and ids, and the names of models, providers, roles and rules."""


def script(words: Wording) -> list[Scene]:
    """Two agents, one of which finds nothing; a report with a sentence its source speaks against."""
    plan = msgspec.json.encode(
        {"title": words.title, "steps": [{"title": words.section}, {"title": words.lost}]}
    ).decode()
    first, second = words.section, words.lost
    tasks = [("research_agent", {"task": first}), ("research_agent", {"task": second})]
    found = f"{words.answer} [S1001.1]"
    report = f"{words.answer} [S1001.1]\n\n## {words.section}\n\n{words.wrong} [S1001.1] {words.answer} [S1001.1]"
    nothing = says("–", task="find", repeat=True)
    return [
        calls(("generate_plan", {"complexity": "simple"}), task="triage"),
        calls(("search", {"query": words.document}), task="background"),
        says(plan, task="plan"),
        calls(*tasks, task="orchestrate"),
        calls(("search", {"query": words.document}), task="research", contains=first, turn=0),
        says("done", task="research", contains=first, turn=1),
        says(found, task="find", contains=first),
        says("done", task="research", repeat=True),
        nothing,
        calls(("generate_report", {}), task="orchestrate"),
        says(report, task="write"),
    ]


async def ran(language: str, depth: str, **changes: object) -> tuple[Log, RunView]:
    found = TOLD[language]
    sea = Sea({"a.md": f"# {found.title}\n\n{found.document}\n"})
    scope = msgspec.structs.replace(sea.brief().scope, label=found.title)
    asked = {"question": found.question, "language": language, "locale": language, "scope": scope, "depth": depth}
    log = await sea.run(script(found), **{**asked, **changes})
    assert whole(log)
    return log, fold_events(log.envelopes)


PLAYED: dict[tuple[str, str], tuple[Log, RunView]] = {}


async def played(language: str, depth: str = "light") -> tuple[Log, RunView]:
    """The run in that language, executed once for all tests that only read it."""
    if (language, depth) not in PLAYED:
        PLAYED[language, depth] = await ran(language, depth)
    return PLAYED[language, depth]


class Shown(HTMLParser):
    """The words a page shows, labels which are read out among them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "code")
        spoken = ("aria-label", "title", *(name for name, _ in attrs if name in SHOWN_BY_SCRIPT))
        self.texts += [value or "" for name, value in attrs if name in spoken]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "code")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


SHOWN_BY_SCRIPT = ("data-close", "data-copy", "data-copied", "data-selected", "data-quote", "data-verdict")


def page_words(page: str) -> str:
    shown = Shown()
    shown.feed(page)
    return "\n".join(shown.texts)


def word_file(view: RunView) -> str:
    file = Document(io.BytesIO(DOCX.render(Record(view=view, log=(), library=None, blobs=None))))  # type: ignore[arg-type]
    cells = [cell.text for table in file.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(each.text for each in file.paragraphs), *cells])


@cache
def english(language: str) -> tuple[str, ...]:
    """What the English messages say between their places, where the language does not say the same."""
    catalog: Mapping[object, str] = catalogue(language)._catalog  # type: ignore[attr-defined]
    catalogue_text = " ".join(catalog.values())
    texts = (message[0] if isinstance(message, tuple) else str(message) for message in catalog)
    parts = [part for text in texts for part in re.split(r"\{\w+\}", text) if "-Type" not in part]
    return tuple(part.strip() for part in parts if len(part.strip(" ,;:.")) > 3 and part.strip() not in catalogue_text)


def foreign_words(language: str, text: str) -> list[str]:
    """English in a text which should have none."""
    bare = NO_WORDS.sub(" ", text)
    if language not in LATIN:
        return re.findall(r"[A-Za-z]{2,}", bare)
    lines = [re.sub(r"\s+", " ", line) for line in bare.splitlines()]
    whole = "\n".join(lines)
    parts = [part for part in english(language) if part in whole]  # few: each other would be a pattern of its own
    return [part for part in parts if re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole)]


@pytest.mark.parametrize(("language", "depth"), crossed(TOLD, DEPTHS))
async def test_code_says_nothing_in_english(language: str, depth: str) -> None:
    log, view = await played(language, depth)
    with use_locale(language) as speech:
        heading = speech.catalogue.gettext("What could not be found")
        sources = speech.catalogue.gettext("Sources")
    assert f"## {heading}\n\n- {TOLD[language].lost}" in view.report.text
    assert TOLD[language].wrong not in view.report.text
    assert view.claims
    texts = {"report": log.text, "markdown": markdown(view), "html": page_words(html(view)), "word": word_file(view)}
    assert all(sources in texts[name] for name in ("markdown", "word"))
    assert {name: foreign_words(language, text) for name, text in texts.items()} == {name: [] for name in texts}


async def test_why_a_sentence_went_is_told_once() -> None:
    _, view = await played("de")
    page = html(view)
    listed = page[page.index("Gestrichene Sätze") :]
    assert listed[: listed.index("</details>")].count("die Zahl 99 Meter steht nicht in der zitierten Textstelle") == 1


@pytest.mark.parametrize("language", TOLD)
async def test_what_code_said_is_recorded_and_not_found_by_its_words(language: str) -> None:
    _, view = await played(language)
    kinds = set(view.report.stated.values())
    assert {"date", "missing"} <= kinds
    lines = [re.sub(r"[*#_`]+", " ", line).split() for line in view.report.text.splitlines()]
    assert all(any(found in " ".join(line) for line in lines) for found in view.report.stated)
    assert not {claim.text for claim in view.claims} & set(view.report.stated)  # a notice is nobody's claim
    again = msgspec.structs.replace(view.report, stated={})
    assert [each.text for each in _claims(view)] == [claim.text for claim in view.claims]
    forgotten = _claims(msgspec.structs.replace(view, report=again))
    assert len(forgotten) > len(view.claims)  # it is known by the record, and by nothing else


def _claims(view: RunView) -> tuple[ReportSentence, ...]:
    with use_phrases(Phrases(statements=view.report.stated)):
        return claims(view.report.text)


@pytest.mark.parametrize("language", ["ar", "zh", "de"])
async def test_the_page_says_its_language_and_its_direction(language: str) -> None:
    _, view = await played(language)
    page = html(view)
    direction = ' dir="rtl"' if language == "ar" else ""
    assert page.startswith(f'<!doctype html>\n<html lang="{language}"{direction}>')


@pytest.mark.parametrize("language", TOLD)
async def test_an_export_is_read_back_without_what_it_says_of_itself(language: str) -> None:
    _, view = await played(language)
    read = mark_citations(markdown(view))
    assert [reference.label for reference in read.references] == ["1"]
    found = [claim.text for claim in claims(read.text)]
    assert TOLD[language].answer in found
    assert not [
        text for text in found if TOLD[language].wrong in text
    ]  # what was taken out stands below "Verification"
    assert not any(char.isdigit() for text in found if "2026" not in text for char in text)  # no line of counts


@pytest.mark.parametrize("locale", LOCALES)
def test_a_line_of_counts_is_known_in_every_language(locale: str) -> None:
    with use_locale(locale):
        lines = [
            counts_line(Summary(claims=12, supported=7, unsupported=5)),
            counts_line(Summary(claims=1, supported=1)),
            counts_line(Summary(claims=1_003, supported=1_000, partial=3, dropped_markers=2)),
        ]
    assert all(map(is_counts_line, lines)), lines
    assert not is_counts_line("The tide at Brest rises seven metres.")


async def test_the_language_asked_for_wins_over_that_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# {TOLD['fr'].title}\n\n{TOLD['fr'].document}\n")
    async with Assay() as assay:
        asked = assay.start(TOLD["fr"].question, sources=[tmp_path], depth="light", language="de")
        unasked = assay.start(TOLD["fr"].question, sources=[tmp_path], depth="light")
        views = [await assay.view((await run.report()).run_id) for run in (asked, unasked)]
    assert [view.brief.locale for view in views if view.brief] == ["de", "fr"]
    texts = [markdown(view) for view in views]
    assert "## Quellen" in texts[0]
    assert "Zusammengestellt von Assays eingebautem" in texts[0]
    assert "(1 Dokument)" in (views[0].brief.scope.label if views[0].brief else "")
    assert "modèle extractif intégré" in texts[1]
    assert "the date of" not in "".join(texts)
    assert not any(claim.text.startswith(("Stand", "État")) for view in views for claim in view.claims)


async def test_a_german_report_goes_on_from_an_english_one(tmp_path: Path) -> None:
    """What the earlier run called its scope, and what code said in its report, is in no way of this one."""
    (tmp_path / "a.md").write_text("# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n")
    async with Assay() as assay:
        first = await assay.start("How far does the tide at Brest rise?", sources=[tmp_path], depth="light").report()
        more = assay.start(TOLD["de"].question, continues=first.run_id, language="de", depth="light")
        before, after = await assay.view(first.run_id), await assay.view((await more.report()).run_id)
    assert "## Sources" in markdown(before)
    assert "As of" in before.report.text
    assert "As of" not in after.report.text
    found = markdown(after)
    assert "Zusammengestellt von Assays" in found or "Dokumente enthalten nichts" in found or "Nichts, was" in found


async def test_a_run_of_before_there_were_catalogues_speaks_english() -> None:
    """Its brief names no locale: its exports are what they were."""
    log, view = await ran("de", "light", locale="")
    assert "## What could not be found" in log.text
    text = markdown(view)
    assert "## Sources" in text
    assert "## Quellen" not in text
    assert '<html lang="en">' in html(view)


def test_every_locale_is_one_babel_knows() -> None:
    for locale in LOCALES:
        with use_locale(locale):
            assert format_day("2024-03-01") != "2024-03-01"
            assert format_number(12_345)
