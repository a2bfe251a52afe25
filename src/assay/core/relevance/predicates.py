"""Verbs that say the same in other words: "erected", "put up" and "constructed" for "who built …?".

Only for the verb by which a question asks who did something, or when, where, why or how it was done.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.core.relevance.topic_question import keys

_CLASSES = (
    (
        r"buil[dt]\w*|construct\w*|erect\w*|put up|gebaut|bau(?:te|ten|t|en)|errichte\w*|erbau\w*"
        r"|constru\w+|bâti\w*|érig\w+|édifi\w+"
    ),
    (
        r"repair\w*|fix(?:ed|es|ing)?|mend(?:ed|s|ing)?|restor(?:e\w*|ing)|renovat\w+|refurbish\w*"
        r"|overhaul\w*|repariert\w*|renovier\w*|saniert\w*"
        r"|répar\w+|rénov\w+|restaur\w+|repar[aó]\w*"
    ),
    (
        r"pa(?:ys?|id|ying|yments?)|fund(?:ed|s|ing)?|financ\w+|donat\w+|sponsor\w*"
        r"|(?:bore|bears?|met) the costs?|money c[ao]mes? from"
        r"|(?:grants?|gifts?|loans?|money) (?:from|of|by)|at the expense of|bezahl\w*|zahl(?:te|ten|t|en)"
        r"|finanzier\w*|gespendet|spendete"
        r"|pay(?:é|a|ent)\w*|paient?|pag(?:ó|ado|a)"
    ),
    (
        r"founded|founders?|founding|establish\w*|set up|gegründet|gründ\w+"
        r"|fond(?:é|a)\w*|fund(?:ó|ad\w+)"
    ),
    r"start(?:ed|s|ing)?|beg[aiu]n\w*|launch\w*|commenc\w+|initiat\w+|begann\w*|begonnen|gestartet",
    (
        r"clos(?:e|ed|es|ing|ure)|shut(?:s|ting)?|schloss|geschlossen|schließ\w*"
        r"|ferm(?:é|er|eture)\w*|cerr(?:ó|ad\w+)"
    ),
    (
        r"open(?:ed|s|ing)?|inaugurat\w+|unveil\w*|eröffn\w*"
        r"|ouvr\w+|ouvert\w*|abri(?:ó|r)|abiert\w+"
    ),
    (
        r"design(?:ed|s|er|ers|ing)?|architects?|drew up|drawn up|devis\w+|entw[ao]rf\w*|entworfen|architekt\w*"
        r"|conç\w+|concev\w+|dessin\w+|architecte\w*|diseñ\w+"
    ),
    (
        r"wr[io]t\w+|authors?|authored|penned|compos(?:ed|er)|drafted|schrieb\w*|geschrieben|verfass\w*"
        r"|écri\w+|rédig\w+|escri\w+"
    ),
    (
        r"l[e]d|leads?|leading|leaders?|head(?:ed|s)|chair(?:ed|s)|direct(?:ed|s|or)|command\w*|ran|runs?"
        r"|manag\w+|leite\w*|geleitet"
        r"|dirig\w+|présid\w+|presid\w+"
    ),
    (
        r"own(?:s|ed|er|ers|ing)?|belong\w*|possess\w*|gehör\w*|besitz\w*|besaß\w*|eigentüm\w*"
        r"|appart[ei]\w+|propriétaire\w*|pertenec\w+"
    ),
    (
        r"b(?:uys?|ought|uyers?)|purchas\w+|acquir\w+|kauf(?:te|ten|t)|gekauft|erw[ao]rb\w*|erworben"
        r"|achet\w+|achat\w*|compr(?:ó|ad\w+)"
    ),
    (
        r"s(?:ells?|old|elling|eller)|verkauf\w*"
        r"|vend\w+"
    ),
    r"die[sd]?|death|passed away|killed|starb\w*|gestorben|verstorben",
    (
        r"discover\w*|found|finds?|finding|spott\w+|detect\w*|entdeck\w*|gefunden|fand(?:en)?"
        r"|découv\w+|trouv\w+|descub\w+"
    ),
    r"w[io]n(?:s|ner|ning)?|victor\w*|gewann\w*|gewonnen|sieg(?:te|er)",
    r"elect\w*|chosen|chose|vot(?:ed|es|ing)|gewählt|wähl\w+",
    (
        r"appoint\w*|named|nominat\w+|hir(?:ed|es|ing)|ernannt\w*|ernenn\w*|eingestellt"
        r"|nomm(?:é|a)\w*|nombr(?:ó|ad\w+)"
    ),
    (
        r"approv\w+|agree[ds]?|passed|accept(?:ed|s)|adopt(?:ed|s)|genehmig\w*|beschloss\w*|beschlossen"
        r"|approuv\w+|aprob\w+"
    ),
    r"reject\w*|refus\w+|declin\w+|turned down|denied|abgelehnt|lehnte\w*",
    r"le(?:ft|aves?|aving)|depart\w*|quit(?:s)?|resign\w*|verl(?:ieß|assen)\w*",
    r"arriv\w+|reach(?:ed|es)|came|landed|ankam\w*|angekommen|erreicht\w*",
    r"s[aiu]nk\w*|wreck\w*|foundered|went down|go down|gesunken|sank\w*",
    r"hurt|injur\w+|wound(?:ed|s)|verletzt\w*",
    r"ma(?:de|kes?|ker|kers|king)|manufactur\w+|produc(?:ed|es|er|ers|ing)|hergestellt|herstell\w*",
    r"suppl(?:y|ied|ies|ier|iers|ying)|deliver\w*|provid(?:ed|es|er|ers)|liefer\w*|geliefert",
    r"damag\w+|destroy\w*|wrecked|beschädigt\w*|zerstör\w*",
    (
        r"propos\w+|suggest\w*|recommend\w*|let[’']s|let us|we (?:could|should|might)"
        r"|why not|how about|shall we|schlug\w* vor|vorgeschlagen"
    ),
    r"replac\w+|exchanged|swapped|ersetz\w*|ausgetauscht",
    r"inspect\w*|examin\w+|check(?:ed|s|ing)|survey\w*|prüf\w*|geprüft",
)
"""Each is what some verbs have in common, with all their forms, in English and German, some in French and Spanish."""

_SAYING = (
    "say said tell told ask propose suggest mention report warn announce write wrote reply answer agree object admit "
    "confirm claim promise offer recommend request want think thought believe complain insist explain state demand "
    "describe doubt refuse deny vote invite thank welcome"
)


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![\w-])(?:{forms})(?![\w-])", re.IGNORECASE) for forms in _CLASSES)


@lru_cache(maxsize=512)
def synonyms(verb: str) -> re.Pattern[str] | None:
    """The forms of all verbs that may say what a verb says; None if none are known, or it may say two things."""
    found = [pattern for pattern in _patterns() if pattern.fullmatch(verb)]
    return found[0] if len(found) == 1 else None


def says_other(verb: str, text: str) -> bool:
    """True if a text has a known verb, and none that says what another one says."""
    own = synonyms(verb)
    return not (own and own.search(text)) and any(pattern.search(text) for pattern in _patterns())


def is_saying(verb: str, analysis: str) -> bool:
    """True if a verb asks for words: "propose", "said"."""
    return not saying_keys(analysis).isdisjoint(keys(verb, analysis))


@lru_cache(maxsize=16)
def saying_keys(analysis: str) -> frozenset[str]:
    """The keys of verbs that ask for words."""
    return frozenset(keys(_SAYING, analysis))
