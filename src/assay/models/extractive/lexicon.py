"""Word tables: function words, question words, and the header fields questions ask for, in six languages.

Words are compared by `terms.stem`; Chinese and Japanese entries are looked for as they stand. The tables say which
words carry no topic and which field a question word means; without an entry a question still works, since any
header key is also recognised by its own name.
"""

from __future__ import annotations

import msgspec

ENGLISH = """
a about above across actually add added adding adds after against all along also am among an and any are
aren't around as at be because
been before being below between both but by can can't cannot come could did didn't do does doesn't doing don't done
during each either else ever every exactly explain far few find for from further get give gives given go had has
hasn't have having he her here hers him his how however i if in into is isn't it its itself just kind know last let
like list made main mainly make makes many may me mean means might mine more most much must my need needed
needs never no
nor not now of off on once one only or other otherwise our out over own per please point really s same say says
said shall she should show since so some something still such t take tell than that the their them then there
these they thing things this those through to today together too towards under until up upon us use used uses using
very via want was way ways we well were what whatever when where whether which while who whom whose why will with
within without would yes yet you your document documents describe describes described detail details information
regarding concerning overview summary summarize summarise brief briefly currently current there's what's who's
give present provide name specified called according work works working happen happens handle handles handled deal
deals part parts different difference differences compare comparison versus vs
"""

GERMAN = """
aber alle allem allen aller alles als am an auch auf aus bei bin bis bist da dabei damit dann das dass dazu dein
dem den denn der des dich die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
eines er es etwas euch euer für gegen gibt hab habe haben hat hatte hier ich ihm ihn ihnen ihr ihre im in ist ja
jede jedem jeden jeder jedes kann kein keine können man mehr mein mit muss nach nicht noch nur ob oder ohne sehr
sein seine seit sich sie sind so soll sollte über um und uns unser unter vom von vor war waren wann warum was
weil weshalb woher
welche welchem welchen welcher welches wenn wer wem wen werden wessen wie wieso wieviel viele wir wird wo wohin
wurde wurden zu zum zur zwischen bitte erkläre beschreibe nenne funktioniert macht
"""

RUSSIAN = """
а без бы был была были было в вам вас весь во вот все всё вы где да для до его ее её ей ему если есть еще ещё же за
и из или им их к как какая какие каким какими каких какого какой каком кем когда ко который которая которые кто
кого кому ли либо мы на над нас не него нее ней нет ни них но ну о об он она они оно от по под при про с со сколько
так также такой там то тогда того тоже той только том ты у уже чего чем через что чтобы чья чей эта эти это этого
этой этом этот почему зачем какую работает делает расскажи опиши является
"""

ARABIC = """
في من على إلى عن مع هل ما ماذا متى أين كيف لماذا كم أي هو هي هم هذا هذه ذلك تلك التي الذي الذين و أو ثم أن إن كان
كانت يكون تكون قد لا لم لن كل بعض بين عند بعد قبل حول منذ حتى إذا لكن به بها له لها فيه فيها
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP: dict[str, frozenset[str]] = {
    "en": _words(ENGLISH),
    "de": _words(GERMAN),
    "ru": _words(RUSSIAN),
    "ar": _words(ARABIC),
}
STOP_ALL: frozenset[str] = frozenset().union(*STOP.values())

# A pair of characters which holds one of these carries no topic (particles, question words; all hiragana do too).
CJK_FUNCTION = frozenset(
    "的了是在和吗呢么什谁誰何哪为為与與及或也就都而被把对對从從到这這那些个個其之于於請请怎样樣如吧啊有"
)


class Facet(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of header field: the `keys` documents use for it and the `triggers` by which questions ask for it.

    `mentions` are words which, in a sentence of the document itself, say the same in prose.
    """

    keys: tuple[str, ...]
    triggers: tuple[str, ...]
    mentions: tuple[str, ...] = ()


def _facet(keys: str, triggers: str, mentions: str = "") -> Facet:
    return Facet(keys=_parts(keys), triggers=_parts(triggers), mentions=_parts(mentions))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


FACETS: dict[str, Facet] = {
    "author": _facet(
        "author, authors, author s, written by, editor, editors, proposed by, creator, autor, autoren, автор, авторы, "
        "作者, 著者, مؤلف, المؤلف",
        "author, authored, authorship, coauthor, co-author, wrote, writer, written by, who is behind, who has written, "
        "who proposed, who created, who made, who came up with, who designed, who drafted, who submitted, "
        "who introduced, "
        "whose, who is responsible, who penned, written, verfasser, verfasst, autor, geschrieben, schrieb, "
        "автор, написал, написали, авторы, создатель, 作者, 谁写, 誰寫, 谁提出, "
        "誰が書, 著者, 執筆, مؤلف, كتب, كاتب, ألف",
    ),
    "status": _facet(
        "status, zustand, статус, 状态, 狀態, ステータス, 状態, الحالة, حالة",
        "status, state, accepted, rejected, withdrawn, finalized, finalised, stagnant, deferred, abandoned, "
        "is final, still active, still a draft, still draft, been approved, approved, in force, implemented, "
        "stand, zustand, angenommen, abgelehnt, zurückgezogen, статус, принят, отклонён, отклонен, состояние, "
        "状态, 狀態, 接受, 拒绝, ステータス, 状態, 承認, حالة, الوضع, قبول",
    ),
    "created": _facet(
        "created, date created, creation date, start date, date, datum, erstellt, создан, дата, 创建, 创建日期, "
        "作成日, 日期, تاريخ",
        "created, creation, creation date, start date, date of creation, when was it written, proposed, drafted, "
        "submitted, started, begun, made, written, authored, published, introduced, opened, date, filed, originate, "
        "how old, erstellt, datum, angelegt, entstanden, vorgeschlagen, создан, создали, предложен, дата, написан, "
        "创建, 創建, 日期, 提出, 何时, 何時, 什么时候, 作成, いつ, 日付, تاريخ, متى, أنشئ, إنشاء",
    ),
    "superseded": _facet(
        "superseded by, superseded, replaced by, obsoleted by, obsoletes by, successor, ersetzt durch, 被取代, "
        "次の提案, next proposal",
        "superseded by, superseded, supersede, replaced by, replaced, replace, obsoleted, obsolete, successor, "
        "succeeded by, took over from, took the place of, abgelöst, ersetzt, nachfolger, заменён, заменен, "
        "заменил, вытеснил, 取代, 替代, 置き換え, 後継, حل محل, استبدل",
        "superseded, replaced, obsoleted",
    ),
    "replaces": _facet(
        "replaces, supersedes, obsoletes, previous proposal, predecessor, ersetzt",
        "replaces, supersedes, obsoletes, predecessor, succeed, vorgänger, ersetzen, предшественник, заменяет, "
        "前身, 前任",
        "replaces, supersedes, obsoletes, replacing, superseding, obsoleting",
    ),
    "requires": _facet(
        "requires, depends on, dependencies, requirement, erfordert, требует, 依赖, 依賴, 依存",
        "require, required, requires, requirement, needed for, needed by, "
        "prerequisite, depend, depends, dependency, dependencies, "
        "relies on, rely on, build on, builds on, builds upon, voraussetzung, voraus, erfordert, benötigt, abhängig, "
        "требует, "
        "зависит, 依赖, 依賴, 需要哪, 前提, 依存, 必要, يتطلب, يعتمد",
    ),
    "type": _facet(
        "type, kind, typ, art, тип, 类型, 類型, 種類, نوع",
        "type, kind of, what kind, what sort, classified, typ, art von, тип, вид, 类型, 類型, 種類, 種別, نوع",
    ),
    "category": _facet(
        "category, categories, kategorie, категория, 类别, 類別, カテゴリ, فئة",
        "category, categorized, categorised, kategorie, категория, категории, 类别, 類別, 分类, カテゴリ, فئة, تصنيف",
    ),
    "version": _facet(
        "python version, version, target version, swift version, rust version",
        "python version, version of python, python release, release of python, "
        "target version, which version, what version, which release, what release, welche version, python-version, "
        "welcher version, версия, версии python, 版本, バージョン, الإصدار, إصدار",
    ),
    "discussion": _facet(
        "discussions to, discussion, discussions, discussed at, review, forum",
        "discussions to, discussion, discussed, discuss, discussions, discussion thread, diskutiert, diskussion, "
        "обсуждение, обсуждался, обсуждается, 讨论, 討論, 議論, نقاش, مناقشة",
    ),
    "history": _facet("post history, posted", "post history, posted, posting, postings, posts"),
    "resolution": _facet(
        "resolution, decision, decision notes",
        "resolution, resolved, decision notes, when was it accepted, date of acceptance, announced acceptance",
    ),
    "sponsor": _facet("sponsor, sponsors", "sponsor, sponsored, sponsors, спонсор, 赞助, スポンサー"),
    "delegate": _facet(
        "bdfl delegate, pep delegate, delegate", "delegate, bdfl delegate, pep delegate, delegated, delegierte, делегат"
    ),
    "manager": _facet("review manager", "review manager, managed the review, manager of the review"),
    "topic": _facet("topic, topics", "topic, topics, under which topic, thema, тема, 主题, 主題, トピック"),
    "description": _facet("description, summary, beschreibung", "description, beschreibung, описание, 描述, 説明"),
    "title": _facet(
        "title, titel, название, заголовок, 标题, 標題, タイトル, عنوان, feature name, name",
        "title, titled, titel, named, called, name of, heißt, название, называется, заголовок, 标题, 標題, タイトル, "
        "عنوان, feature name",
    ),
    "deadline": _facet("last call deadline, deadline", "last call deadline, deadline, last call, frist"),
    "withdrawal": _facet(
        "withdrawal reason, reason", "withdrawal reason, reason for withdrawal, why was it withdrawn, reason withdrawn"
    ),
    "implementation": _facet("implementation", "implementation field, link to the implementation"),
    "issue": _facet(
        "rust issue, tracking issue, cargo issue, issue",
        "rust issue, tracking issue, issue tracks, issue tracked, issue tracking, tracked by, tracked in",
    ),
    "bug": _facet("bug, bugs", "bug, bugs"),
    "pull": _facet("rfc pr, pull request, pr", "rfc pr, pull request"),
}

# Words which ask or frame and say nothing about a document: they never count against an answer.
FRAMES = _words("""
    who when which what how many year month day date time ever officially first originally people person persons
    proposal proposals specification spec standard standards pep peps eip eips erc ercs rfc rfcs kep keps field
    header value listed list recorded stated state currently current present number count author contents content
    document file page entry answer question yes no supersede next prior other new old earlier later older newer
    project system tool tools software program product team company library
    language python ethereum anything someone anyone something improvement enhancement version target targeting targeted
    aim aimed intended meant belong belongs fall falls under place url link where thread take takes took originally
    jahr tag monat dokument datei vorschlag nummer steht год году день документ предложение номер
    """)

# How much of something is asked: "how long does it take?" is answered by "it takes three hours".
DEGREES = _words("long old tall high far often big large deep heavy fast wide lange alt hoch oft groß weit schwer tief")
DEGREE_ASKERS = frozenset(("how", "wie"))

# What a text says where a question asks "how long may it be?".
DEGREE_NOUNS = {
    "long": "length", "many": "number", "much": "amount", "big": "size", "large": "size", "high": "height",
    "tall": "height", "wide": "width", "deep": "depth", "fast": "speed", "heavy": "weight",
}  # fmt: skip
BOUNDING = _words("may can must maximum minimum at most least allowed allow up")

# Question words of unspaced scripts, cut out before pairs of characters are made of a question.
CJK_ASKING = (
    "什么时候", "什麼時候", "多少", "多长", "多高", "多大", "多久", "什么", "什麼", "哪一年", "哪年", "哪里", "哪裡",
    "哪个", "哪些", "何时", "何時", "何年", "何人", "いくつ", "いくら", "どこ", "だれ", "なに", "どの", "いつ", "怎么",
    "怎麼", "如何", "为什么", "為什麼", "何", "几", "幾", "谁", "誰", "哪", "吗", "嗎", "呢",
)  # fmt: skip

# What "is it ...?" asks of a status field.
STATES = _words(
    "active final accepted draft withdrawn stagnant living provisional deprecated obsolete rejected deferred superseded"
)
YES_OR_NO = _words("is was has are were ist wurde")

# Joins between the parts of a question.
JOINS = (
    " and ",
    " und ",
    " и ",
    " as well as ",
    " sowie ",
    " а также ",
    "以及",
    "、そして",
    "，并且",
    "，并",
    " وما ",
    " ومتى ",
)
OPENERS = _words("""
    who whom whose what when where which why how is are was were does do did has have can could should will in
    wer wem wen was wann wo welche welcher welches welchem warum wie wieso ist sind war wurde hat kann
    кто что когда где какой какая какие каков почему зачем как сколько
    من ما ماذا متى أين كيف لماذا كم هل
    """)
COMPARING = _words("""
    compare comparison compared versus vs differ differs difference differences contrast relation relationship
    vergleich vergleiche unterschied unterschiede unterscheiden сравни сравнить отличие отличия разница различия
    """)
COMPARING_CJK = ("比较", "比較", "区别", "區別", "違い", "差异", "مقارنة", "الفرق")
EXPLAINING = _words("how why explain warum wieso weshalb wie erkläre как почему зачем объясни كيف لماذا اشرح")
EXPLAINING_CJK = ("怎么", "怎麼", "如何", "为什么", "為什麼", "どのように", "なぜ")
WHY = _words("why warum wieso weshalb почему зачем لماذا")
WHY_CJK = ("为什么", "為什麼", "なぜ")
ABOUT = _words("about summary abstract overview propose proposes purpose motivation introduce introduces worum geht")
PRONOUNS = _words(
    "it its they them their this that these those he she his her er sie es ihr sein он она оно они его её"
)
