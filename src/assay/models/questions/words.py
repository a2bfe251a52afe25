"""Words as the built-in model compares them, and the few it knows: question words, conjunctions, document metadata.

The forms of a word have one key: its stem in the search index (`core.lexicon`), depending on the script.
Metadata of documents (author, date, successor) has many names; `CONCEPTS` groups them by the terms of Dublin Core (ISO
15836). Any other key of a record is only known by its own words.
"""

from __future__ import annotations

import msgspec

from assay.core.function_words import MORE_STOP_WORDS, STOP_WORDS
from assay.core.lazy import regex
from assay.core.lexicon import stem
from assay.core.text import is_unspaced, words


def word_set(text: str) -> frozenset[str]:
    """The words of a text that spaces separate."""
    return frozenset(text.split())


STOP = (
    frozenset(word for language in ("en", "de", "ru", "ar", "hi") for word in STOP_WORDS[language].split())
    | MORE_STOP_WORDS
)
"""Words that carry no topic, from languages whose short words are not names in others (French "se", "SE-31")."""
_CJK_FUNCTION = frozenset(
    "的了是在和吗呢么什谁誰何哪为為与與及或也就都而被把对對从從到这這那些个個其之于於請请怎样樣如吧啊有"
)
"""A pair of characters with one of these carries no topic; nor does one of hiragana only."""
_HIRAGANA = regex(r"[\u3040-\u309f]")


def stems(text: str) -> list[str]:
    """The stems of all words of `text`, in order."""
    return [stem(word) for word in words(text)]


def carries_topic(word: str) -> bool:
    """True if a casefolded word can tell what a text is about."""
    if is_unspaced(word):
        return not (_HIRAGANA.search(word) or any(letter in _CJK_FUNCTION for letter in word))
    return word not in STOP and (len(word) > 1 or word.isdigit())


def topic_keys(text: str) -> tuple[str, ...]:
    """The keys of the topic words of `text`, in order, each once."""
    return tuple(dict.fromkeys(stem(word) for word in words(text) if carries_topic(word)))


# how documents are described


class Concept(msgspec.Struct, frozen=True):
    """Metadata of documents: the `keys` it has in headers, and the words in a question that mean it (`phrases`)."""

    keys: tuple[str, ...]
    phrases: tuple[str, ...]


def _concept(keys: str, phrases: str) -> Concept:
    return Concept(*(tuple(part.strip() for part in text.split(",")) for text in (keys, phrases)))


CONCEPTS: dict[str, Concept] = {
    "creator": _concept(
        "author, authors, author s, creator, creators, written by, editor, editors, contributors, proposed by, autor, "
        "autoren, verfasser, автор, авторы, 作者, 著者, مؤلف, المؤلف",
        "author, authorship, coauthor, writer, written by, wrote, who is behind, verfasser, autor, verfasst, "
        "geschrieben, автор, авторы, написал, написали, 作者, 谁写, 誰寫, 谁提出, 誰が書, 著者, مؤلف, كتب, كاتب",
    ),
    "date": _concept(
        "created, date, date created, creation date, start date, issued, published, datum, erstellt, erstellt am, "
        "создан, дата, дата создания, 创建, 创建日期, 日期, 作成日, تاريخ, تاريخ الإنشاء",
        "date of creation, creation date, how old, datum, erstellt, дата, создан, "
        " 创建, 創建, 日期, 作成日, تاريخ, أنشئ",
    ),
    "status": _concept(
        "status, state, stage, zustand, статус, состояние, 状态, 狀態, ステータス, 状態, الحالة, حالة",
        "status, state, accepted, rejected, withdrawn, finalized, deferred, approved, in force, become of, became of, "
        "stage, stand, zustand, angenommen, abgelehnt, zurückgezogen, статус, принят, отклонен, состояние, 状态, 狀態, "
        "接受, 拒绝, ステータス, 状態, حالة, الحالة",
    ),
    "replaced": _concept(
        "superseded by, superseded, replaced by, is replaced by, obsoleted by, successor, next proposal, ersetzt durch",
        "superseded by, supersede, superseded, replace, replaced, obsolete, obsoleted, successor, replacement, "
        "succeed, took over from, took the place of, take the place of, abgelöst, ersetzt, nachfolger, заменен, "
        "заменил, 取代, 替代, 置き換え, 後継, استبدل",
    ),
    "replaces": _concept(
        "replaces, supersedes, obsoletes, predecessor, previous proposal, ersetzt",
        "predecessor, vorgänger, предшественник, 前身",
    ),
    "requires": _concept(
        "requires, depends on, dependencies, requirements, prerequisites, erfordert, требует, 依赖",
        "require, required, requirement, prerequisite, depend, dependency, rely, relies, builds on, build on, "
        "needed for, voraussetzung, erfordert, benötigt, abhängig, требует, зависит, 依赖, 依賴, 依存, يتطلب, يعتمد",
    ),
    "type": _concept("type, kind, typ, тип, 类型", "type, kind of, typ, тип, 类型"),
}
INVERSE_RELATIONS = {"replaced": "replaces", "replaces": "replaced"}
"""A relation between documents, and the same relation seen from the other document."""
MAKING_STEMS = frozenset(
    map(
        stem,
        (
            "write written create created creation make made propose proposed draft drafted submit submitted publish "
            "published introduce introduced design designed start started begin begun began found founded issue issued "
            "open opened file filed originate appear geschrieben erstellt entstanden angelegt vorgeschlagen "
            "написан создан создали предложен"
        ).split(),
    )
)
"""With "who" these words ask for the creator, with "when" for the date."""
STATE_STEMS = frozenset(
    map(stem, "active final accepted draft withdrawn obsolete rejected deferred deprecated superseded".split())
)
"""The states that "is it …?" asks about."""
FIELD_STEMS = frozenset(
    map(stem, "year day date time people person field header value target belong fall list record state mean".split())
)
"""Words that ask for a field's value, and do not describe anything in a document's text."""


# questions

CONJUNCTIONS = (
    " and ", " und ", " и ", " as well as ", " sowie ", " а также ", "以及", "、そして", "，并且", "，并",
    " وما ", " ومتى ",
)  # fmt: skip
"""Words between the parts of a question."""
OPENERS = word_set("""
    who whom whose what when where which why how is are was were does do did has have can could should will in
    wer wem wen was wann wo welche welcher welches welchem warum wie wieso ist sind war wurde hat kann
    кто что когда где какой какая какие каков почему зачем как сколько
    من ما ماذا متى أين كيف لماذا كم هل
    """)
COMPARING = word_set("""
    compare comparison compared versus vs differ differs difference differences contrast relation relationship
    vergleich vergleiche unterschied unterschiede unterscheiden сравни сравнить отличие отличия разница различия
    """)
COMPARING_CJK = ("比较", "比較", "区别", "區別", "違い", "差异", "مقارنة", "الفرق")
PRONOUNS = word_set("""
    it its they them their this that these those he him his she her hers er ihn ihm sie es ihr ihnen sein он она оно они
    его её ему ней нём ними
    """)
POINTING = PRONOUNS | word_set("""
    such dieser diese dieses dies jener sein seine ihr ihre il elle ils elles ce cet cette ces cela son sa ses leur
    leurs él ella ello ellos ellas este esta esto estos estas ese esa eso su sus этот эта это эти тот та те их هو هي هم
    هذا هذه ذلك
    """)
"""Words at the beginning of a sentence that stand for something said before it."""
POINTING_CJK = ("他", "她", "它", "这", "這", "该", "該", "此", "其", "それ", "これ", "その", "この", "彼")
YES_OR_NO = word_set("is was has are were ist wurde")


def begins_pointing_back(text: str) -> bool:
    """True if a sentence begins with a word for something that was said before it."""
    return text.startswith(POINTING_CJK) or not POINTING.isdisjoint(words(text)[:1])
