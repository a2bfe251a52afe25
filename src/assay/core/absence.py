"""Sentences which say that something was not found, as findings do: "the documents do not state the warranty".

They name what was searched (documents, sources, pages) or the search itself, and deny that it says something. "The
species is not found in Europe" denies a thing of the world: it is a fact, and none of these.
"""

from __future__ import annotations

import re

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
"""What research searches, by language."""
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
"""How a sentence denies that they say something."""
_REACH = 60
"""Characters between the two at most."""

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
"""Denials which need no word for what was searched."""


def _either(language: str) -> str:
    there, denied = rf"\b(?:{_SEARCHED[language]})\b", f"(?:{_DENIED[language]})"
    return rf"{there}[^.;]{{0,{_REACH}}}?{denied}|{denied}[^.;]{{0,{_REACH}}}?{there}"


_ABSENT = re.compile("|".join(f"(?:{each})" for each in (*map(_either, _SEARCHED), *_WHOLE)), re.IGNORECASE)


def states_absence(sentence: str) -> bool:
    """Whether a sentence says that what was searched does not say something, in one of the languages known here."""
    return _ABSENT.search(sentence) is not None
