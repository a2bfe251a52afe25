"""A report's state, whether its run may be called verified, and what must hold for it and its evidence."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.core.claims import HOLDING, Claim, Summary, summarize
from assay.core.markers import parse_markers
from assay.core.ports import FINAL
from assay.core.sources import Passage
from assay.core.translation import format_number, ngettext
from assay.core.translation import gettext as _

if TYPE_CHECKING:
    from assay.core.view import RunView


class Assurance(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of the claims of a report.

    `failing` counts those that are not true to their sources; `answered` says that one answers the question, None if
    unknown.
    """

    claims: int
    failing: int
    answered: bool | None

    @property
    def is_sound(self) -> bool:
        """True if every claim holds, and none is known to answer nothing."""
        return self.claims > 0 and not self.failing and self.answered is not False


def assess_claims(claims: Iterable[Claim]) -> Assurance:
    """Summarize these claims."""
    all_claims = list(claims)
    grades = [claim.relevance for claim in all_claims if claim.relevance]
    return Assurance(
        claims=len(all_claims),
        failing=sum(claim.verdict not in HOLDING for claim in all_claims),
        answered="answers" in grades if grades else None,
    )


def assurance_text(view: RunView) -> str:
    """The assurance of a report, in the current language: verified, or the missing part."""
    if view.gate is not None and not view.gate.passed:
        return _("did not pass its final check")
    if view.brief is not None and not view.brief.verify:
        return _("not verified: checking was switched off")
    if view.graded and view.status == "completed":
        return _graded_text(assess_claims(view.claims))
    return _("its citations and counts passed the final check") if view.verified else _("not verified")


def _graded_text(assurance: Assurance) -> str:
    """The sentence for a run whose claims were compared with the question."""
    if not assurance.claims:
        return _("not verified: it states nothing that could be checked")
    if assurance.failing:
        return _failing_text(assurance)
    if assurance.answered is None:
        return _("verified: every sentence is true to its source; whether one answers the question could not be told")
    if not assurance.answered:
        return _("not verified: every sentence is true to its source, but none was found to answer the question")
    return _("verified: every sentence is true to its source, and at least one was found to answer the question")


def _failing_text(assurance: Assurance) -> str:
    message = ngettext(
        "not verified: {count} sentence is not confirmed by its sources",
        "not verified: {count} sentences are not confirmed by their sources",
        assurance.failing,
    ).format(count=format_number(assurance.failing))
    if assurance.answered is False:
        return _("{text}, and none was found to answer the question").format(text=message)
    return message


# What must hold for a report and its evidence, for the gate in a run and for verifying a bundle later.


def find_record_problems(
    report: str, claims: Sequence[Claim], passages: Mapping[str, Passage], sources: Sequence[str], summary: Summary
) -> tuple[str, ...]:
    """Problems with a report's markers, its claims' places and passages, and the counts.

    `report` is as written; `passages` are all that were shown, by id, `sources` the ids of all sources.
    """
    return (
        *check_dropped_markers(report, {*passages, *sources}, summary.dropped_markers),
        *find_misplaced_claims(report, claims, passages),
        *find_count_problems(claims, summary),
    )


def unknown_marker_ids(report: str, known_ids: Set[str]) -> list[str]:
    """The ids in the markers of `report` that are not in `known_ids`, one for each occurrence."""
    return [
        id for marker in parse_markers(report) for id in marker.ids if id not in marker.implied and id not in known_ids
    ]


def check_dropped_markers(report: str, known_ids: Set[str], dropped_count: int) -> tuple[str, ...]:
    """A problem if the number of unknown markers differs from the number counted."""
    unknown = len(unknown_marker_ids(report, known_ids))
    return (
        ()
        if unknown == dropped_count
        else (f"{unknown} markers name nothing, but {dropped_count} are counted as dropped",)
    )


def find_misplaced_claims(report: str, claims: Sequence[Claim], passages: Mapping[str, Passage]) -> tuple[str, ...]:
    """Claims outside the report, or that cite what was never shown."""
    problems: list[str] = []
    for claim in claims:
        if not 0 <= claim.start < claim.end <= len(report):
            problems.append(f"claim {claim.id} lies outside the report")
        unknown = (id for id in claim.passages if id not in passages)
        problems.extend(f"claim {claim.id} cites {id}, which was never shown" for id in unknown)
    return tuple(problems)


def find_count_problems(claims: Sequence[Claim], summary: Summary) -> tuple[str, ...]:
    """Problems if the counts are not those of the claims, or ids are not unique."""
    problems: list[str] = []
    if summarize(claims, summary.dropped_markers) != summary:
        problems.append("the counts are not those of the claims")
    if len({claim.id for claim in claims}) != len(claims):
        problems.append("two claims have one id")
    return tuple(problems)


def passage_problem(id: str, passage: Passage, text: bytes | memoryview) -> str:
    """The fault of a passage, stored under `id`, of a document with this UTF-8 text; empty if there is none.

    The caller checks the hash of the text, once per document.
    """
    passage_bytes = passage.text.encode("utf-8", "surrogatepass")
    if id != passage.id or not id.startswith(f"{passage.source}."):
        return "is recorded under another id"
    if not 0 <= passage.start < passage.end <= len(text):
        return "lies outside its document"
    if _is_inside_character(text, passage.start) or _is_inside_character(text, passage.end):
        return "cuts a character of its document"
    if text[passage.start : passage.end] != passage_bytes:
        return "is not what its document says there"
    if not passage.is_whole:
        return "does not have its hash"
    return ""


def _is_inside_character(text: bytes | memoryview, offset: int) -> bool:
    return offset < len(text) and text[offset] & 0xC0 == 0x80


# Sentences that say that something was not found, as findings do: "the documents do not state the warranty".

_SEARCHED = {
    "en": r"documents?|sources?|passages?|pages?|excerpts?|search(?:es)?|findings?",
    "de": r"dokumente?n?|quellen?|unterlagen|textstellen?|seiten?|fundstellen?|suche|materialien",
    "fr": r"documents?|sources?|passages?|pages?|textes?|extraits?|recherches?",
    "es": r"documentos?|fuentes?|pasajes?|páginas?|textos?|búsquedas?",
    "it": r"documenti|documento|fonti|fonte|passaggi|pagine|testi|ricerca",
    "pt": r"documentos?|fontes?|passagens|páginas?|textos?|pesquisas?|buscas?",
    "nl": r"document(?:en)?|bronn?(?:en)?|passages?|pagina's|teksten?|zoekopdracht(?:en)?",
    "pl": r"dokument\w*|źród\w*|fragment\w*|stron\w*|tekst\w*|wyszukiwani\w*",
    "ru": r"документ\w*|источник\w*|фрагмент\w*|страниц\w*|текст\w*|поиск\w*",
    "uk": r"документ\w*|джерел\w*|фрагмент\w*|сторін\w*|текст\w*|пошук\w*",
    "tr": r"belge\w*|kaynak\w*|sayfa\w*|metin\w*|arama\w*",
}
"""The material of research, by language."""
_DENIED = {
    "en": r"(?:not|n't|never|cannot)\s+(?:\w+\s+){0,2}?(?:states?|say|mention|specify|give|contain|include|provide"
    r"|report|describe|indicate|name|disclose|cover|address|answer|list|show|discuss|reveal|tell|hold|document|found"
    r"|stated|mentioned|specified|given)\b|\b(?:no|nothing|none|silent|without)\b",
    "de": r"\b(?:nicht|nichts|keine?[nmrs]?)\b",
    "fr": r"\b(?:ne|n['’])\s?\w+(?:\s\w+)?\s(?:pas|rien|aucun\w*)\b|\baucun\w*\b|\brien\b",
    "es": r"\bno\b|\bning[uú]n\w*\b|\bnada\b",
    "it": r"\bnon\b|\bnessun\w*\b|\bnulla\b",
    "pt": r"\bnão\b|\bnenhum\w*\b|\bnada\b",
    "nl": r"\b(?:niet|niets|geen)\b",
    "pl": r"\bnie\b|\bbrak\w*\b|\bżadn\w*\b",
    "ru": r"\bне\b|\bнет\b|\bничего\b|\bотсутству\w*\b",
    "uk": r"\bне\b|\bнема\w*\b|\bнічого\b|\bвідсутн\w*\b",
    "tr": r"\b(?:yok\w*|değil\w*|bulun(?:a)?ma\w*|belirtilme\w*|içerme\w*|bahsetme\w*)\b",
}
"""How a sentence denies that the material says something."""
_REACH = 60
"""The most characters between the two."""
_WHOLE = (
    r"\b(?:nothing|none|no)\b[^.;:]{0,80}?\b(?:was|were|is|could be|has been)\s+(?:found|stated|mentioned|available)\b",
    r"\b(?:could|can)(?:\s*not|n't)\s+be\s+(?:\w+\s+)?(?:found|established|determined|located|answered|verified)\b",
    r"\b(?:is|are|was|were)\s*(?:not|n't)\s+(?:\w+\s+)?(?:stated|mentioned|specified|disclosed|documented)\b",
    r"\bno (?:information|data|details?|mention|answer|figures?)\b[^.;]{0,20}\b(?:on|about|of|for|is|was|were)\b",
    r"\b(?:nichts|keine?[nmrs]?)\b[^.;]{0,60}\b(?:gefunden|angegeben|erwähnt|genannt)\b",
    r"\b(?:wird|werden|ist|sind|wurde|wurden)\b[^.;]{0,40}\bnicht\s+(?:gefunden|angegeben|erwähnt|genannt)\b",
    r"\bkeine (?:angaben?|informationen?)\b",
    r"\baucune (?:information|mention|donnée)\b",
    r"\bno (?:se|hay)\b[^.;]{0,40}\b(?:encontr\w+|mencion\w+|información|datos|indica\w*)\b",
    r"\bnon\b[^.;]{0,30}\b(?:trovat\w+|menzionat\w+|indicat\w+|informazioni)\b",
    r"\bnão\b[^.;]{0,30}\b(?:encontrad\w+|mencionad\w+|indicad\w+|informaç\w+)\b",
    r"\bgeen (?:informatie|gegevens|vermelding)\b|\bniet (?:gevonden|vermeld|genoemd)\b",
    r"\bnie (?:znaleziono|podano|wspomniano)\b|\bbrak informacji\b",
    r"\bне (?:найден[оы]|указан\w*|упомина\w*|знайдено|вказан\w*|згадан\w*)\b",
    r"\bнет (?:сведений|данных|информации)\b",
    r"(?:文件|文档|资料|资料来源|来源|网页|検索|文書|資料|出典)[^。；]{0,30}(?:没有|未|沒有|ない|ません|見つから|記載され)",
    r"(?:没有|未)(?:找到|提及|提到|说明|给出)|見つかりません|見つからな|記載(?:は|が)?(?:ありません|ない)",
    r"(?:문서|자료|출처|페이지)[^.]{0,40}(?:않|없)|(?:찾을 수 없|찾지 못|언급되지 않)",
    r"(?:الوثائق|المستندات|المصادر|الصفحات)[^.]{0,40}\b(?:لا|لم|ليس)\b|لم (?:يتم العثور|يُعثر|يذكر)",
    r"(?:दस्तावेज़\w*|स्रोत\w*|पृष्ठ\w*)[^।]{0,60}नहीं|नहीं मिल\w*|कोई जानकारी नहीं",
)
"""Denials that need no word for the material."""


def _denial_pattern(language: str) -> str:
    search_words, denial = rf"\b(?:{_SEARCHED[language]})\b", f"(?:{_DENIED[language]})"
    return rf"{search_words}[^.;]{{0,{_REACH}}}?{denial}|{denial}[^.;]{{0,{_REACH}}}?{search_words}"


@functools.cache
def _absence_pattern() -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?:{pattern})" for pattern in (*map(_denial_pattern, _SEARCHED), *_WHOLE)), re.IGNORECASE
    )


@functools.lru_cache(maxsize=1024)
def states_absence(sentence: str) -> bool:
    """True if a sentence says that the material does not say something, in one of the languages known here.

    Cached, since the sentences of a finding are asked about at each look at what it answers.
    """
    return _absence_pattern().search(sentence) is not None


# The state of a run's report, and the notice for a run that did not complete.


def report_state(view: RunView) -> Literal["none", "writing", "finished"]:
    """The state of the report; none until its first word is written."""
    state = view.report.state
    return "none" if state == "writing" and not view.report.text.strip() else state


def unfinished_limits(view: RunView) -> tuple[str, ...]:
    """Sentences that the run did not complete, why, and what there is of its report; empty for one that did."""
    state = _run_state_text(view)
    return (_("{text}.").format(text=_("; ").join((state, _report_state_text(view)))),) if state else ()


def _run_state_text(view: RunView) -> str:
    """The state of a run that did not end well; empty if it did, or there is no run."""
    match view.status:
        case "failed":
            why = view.error.strip().rstrip(".") or _("no reason was given")
            return _("The run failed: {reason}").format(reason=why)
        case "cancelled":
            return _("The run was cancelled")
        case "completed":
            return _("The run ended") if report_state(view) == "none" else ""
        case "created" | "running" | "waiting" | "paused":
            return _("The run has not ended") if view.brief else ""


def _report_state_text(view: RunView) -> str:
    """The existing part of such a run's report."""
    match report_state(view):
        case "none":
            return _("no report was written") if view.status in FINAL else _("no report has been written so far")
        case "writing":
            return _("this report is not finished")
        case "finished" if view.gate is None:
            return _("this report was not given its final check")
        case "finished":
            return _("this report had been finished")
