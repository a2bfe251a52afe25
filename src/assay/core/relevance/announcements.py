"""Announcements: sentences that only say what a part of a document is about, as "This chapter introduces pumps" does.

They have the words of a question, and often stand first, but answer none that does not ask about the document itself.
"""

from __future__ import annotations

import re

from assay.core.patterns import regex

_PARTS = (
    r"chapters?|sections?|subsections?|appendix|appendices|articles?|guides?|manuals?|tutorials?|documents?|pages?|books?"
    r"|papers?|lessons?|kapitels?|abschnitts?|anhangs?|artikels?|handbuchs?|dokuments?|seiten?|anleitung|einführung"
    r"|chapitres?|parties?|annexes?|manuels?|tutoriels?|capítulos?|secci(?:ón|ones)|apéndices?|artículos?|guías?"
    r"|manual(?:es)?|documentos?|páginas?|глав\w*|раздел\w*|приложени\w*|стать\w*|руководств\w*|документ\w*|страниц\w*"
)
_ABOUT_A_PART = regex(rf"(?<![^\W_])(?:{_PARTS})(?![^\W_])", re.IGNORECASE)
_ANNOUNCES = regex(
    rf"\W*(?:(?:in|dans|en|в)\s+)?(?:this|these|the\s+(?:following|next|present)|diese[rsmn]?|das\s+folgende|ce(?:t|tte|s)?"
    rf"|est[ea]s?|эт\w+|данн\w+)\s+(?:[^\W\d_]+\s+)?(?:{_PARTS})(?![^\W_])"
    r"(?:[^\W_]|[\s,'’()-]){0,60}?(?<![^\W_])(?:"
    r"introduc|describ|present|discuss|explain|cover|show|provid|outlin|deal|examin|explor|summari[sz]|illustrat|review"
    r"|demonstrat|detail|address|focus|look|teach|guide|help|walk|learn|"
    r"beschrieb|beschreib|erklär|erläuter|behandel|zeig|stell|erfahr|lern|beschäftig|befass|"
    r"décri|explique|trait|montr|abord|verr|propos|descri|explica|trata|muestra|aborda|veremos|"
    r"описыва|рассматрива|рассказыва|объясня|представл|посвящ|показ)",
    re.IGNORECASE,
)


def announces(question: str, text: str) -> bool:
    """True if a text only says what a part of its document is about, and the question does not ask for such a part.

    "This section presents three schemes: linear, geometric, and by digits" says more.
    """
    found = _ANNOUNCES.match(text)
    return found is not None and ": " not in text[found.end() :] and _ABOUT_A_PART.search(question) is None
