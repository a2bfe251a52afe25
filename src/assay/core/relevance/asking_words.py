"""The words by which a question asks: for a kind of answer, for a measure; and those that only ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from assay.core.lazy import regex

AnswerKind = Literal["number", "date", "name", "reason", "other"]
MeasureKind = Literal[
    "", "age", "extent", "frequency", "money", "share", "weight", "temperature", "loudness", "voltage"
]
"""The kind of number asked for, if the question says so: an age, a length or time, how often, a price, a share …"""
ASKING_FORMS: dict[AnswerKind, str] = {
    "number": "number of, anzahl der, anzahl von, количество, число, número de, nombre de, "
    "how many, how much, how large, how big, how long, how old, how often, how frequently, how far, what percentage, "
    "what percent, wie viele, wie viel, wieviel, wieviele, wie lange, wie hoch, wie alt, wie oft, wie häufig, "
    "сколько, как долго, как часто, 多少, 几, 幾, 多大, 多久, いくつ, いくら, كم, "
    "cuántos, cuántas, cuánto, cuánta, con qué frecuencia, combien, à quelle fréquence, quanti, quante, quanto, "
    "con che frequenza, quantos, quantas, com que frequência, hoeveel, hoe vaak, "
    "कितने, कितना, कितनी",
    "date": "when, what year, which year, what date, what day, which day, what month, what century, wann, "
    "welchem jahr, welches jahr, "
    "welchem tag, когда, каком году, какого года, 什么时候, 什麼時候, 何时, 何時, 哪一年, 哪年, いつ, "
    "何年, متى, أي عام, "
    "أي سنة, cuándo, qué año, quand, quelle année, quando, che anno, que ano, wanneer, welk jaar, कब, किस वर्ष, किस साल",
    "name": "who, whom, whose, where, wer, wem, wen, wessen, wo, wohin, кто, кого, кем, кому, чей, где, куда, 谁, 誰, "
    "哪里, 哪裡, 哪儿, どこ, だれ, أين, quién, quiénes, dónde, qui, où, chi, dove, quem, onde, waar, "
    "कौन, किसने, किसे, किसका, किसकी, कहाँ, कहां",
    "reason": "why, warum, weshalb, wieso, почему, зачем, "
    "(?<![称成作认视])为什么, (?<![稱成作認視])為什麼, なぜ, لماذا, por qué, pourquoi, perché, por que, waarom, क्यों",
}
"""The words that ask for each kind, in any text; where there are none, a question asks for `other`."""
_ASKING_IN: dict[str, dict[AnswerKind, str]] = {
    "ja": {
        "number": "いくつ, いくら, 何人, 何件, 何回, 何個, 何年間, 何日間, 何歳, 何割, 何パーセント, "
        "どのくらい, どれくらい, どれだけ, どれほど, (?:どの|どれ)くらいの頻度",
        "date": "いつ, 何年, 何月, 何日, 何世紀, 何時",
        "name": "誰, だれ, どこ, どなた",
        "reason": "なぜ, どうして, 何故",
    },
    "ko": {
        "number": "(?<![가-힣])몇, (?<![가-힣])얼마, 얼마나 자주, 몇 년 동안, 몇 년간",
        "date": "(?<![가-힣])언제, (?<![가-힣])몇 년, (?<![가-힣])몇 월, 몇 세기, 어느 해",
        "name": "(?<![가-힣])누구, (?<![가-힣])누가, (?<![가-힣])어디",
        "reason": "(?<![가-힣])왜(?![가-힣])",
    },
    "pl": {
        "number": "ile, ilu, iloma, jak długo, jak daleko, jak często",
        "date": "kiedy, w którym roku, w jakim roku, którego roku, którego dnia, w którym wieku",
        "name": "kto, kogo, komu, kim, czyj, gdzie, dokąd, skąd",
        "reason": "dlaczego, czemu",
    },
    "cs": {
        "number": "kolik, kolika, jak dlouho, jak daleko, jak často",
        "date": "kdy, ve kterém roce, v kterém roce, v jakém roce, kterého roku, kterého dne",
        "name": "kdo, koho, komu, kým, čí, kde, kam, odkud",
        "reason": "proč",
    },
    "uk": {
        "number": "скільки, як довго, як далеко, як часто",
        "date": "коли, якого року, якому році, у якому році, якого дня, якому столітті",
        "name": "хто, кого, кому, ким, чий, де, куди, звідки",
        "reason": "чому, навіщо",
    },
    "fi": {
        "number": "kuinka monta, kuinka moni, kuinka paljon, kuinka kauan, kuinka usein, montako, paljonko",
        "date": "milloin, minä vuonna, minkä vuonna, minä päivänä, minä vuosina",
        "name": "kuka, kenen, ketä, ketkä, kenelle, keneltä, missä, mistä, mihin, minne",
        "reason": "miksi",
    },
    "sv": {
        "number": "hur många, hur mycket, hur länge, hur gammal, hur ofta, hur långt",
        "date": "när, vilket år, vilken dag, vilket datum, vilket århundrade",
        "name": "vem, vems, vart, ^var",
        "reason": "varför",
    },
    "da": {
        "number": "hvor mange, hvor meget, hvor længe, hvor gammel, hvor ofte, hvor langt",
        "date": "hvornår, hvilket år, hvilken dag, hvilken dato, hvilket århundrede",
        "name": "hvem, hvor",
        "reason": "hvorfor",
    },
    "no": {
        "number": "hvor mange, hvor mye, hvor lenge, hvor gammel, hvor ofte, hvor langt",
        "date": "når, hvilket år, hvilken dag, hvilken dato, hvilket århundre",
        "name": "hvem, hvor",
        "reason": "hvorfor",
    },
    "hu": {
        "number": "hány, hányan, mennyi, meddig, milyen gyakran",
        "date": "mikor, melyik évben, milyen évben, melyik napon, melyik században",
        "name": "^ki, kik, kit, kinek, hol, hova, hová, honnan",
        "reason": "miért",
    },
    "id": {
        "number": "berapa, berapa lama, berapa banyak, seberapa sering",
        "date": "kapan, tahun berapa, tanggal berapa",
        "name": "siapa, siapakah, di mana, dimana, ke mana, dari mana",
        "reason": "mengapa, kenapa",
    },
    "he": {
        "number": "כמה, כמה זמן, באיזו תדירות",
        "date": "מתי, באיזו שנה, באיזה תאריך, באיזה יום, באיזה חודש, באיזו מאה",
        "name": "מי, היכן, איפה, לאן, מאין",
        "reason": "למה, מדוע",
    },
    "fa": {
        "number": "چند, چقدر, چه تعداد, چه مدت",
        "date": "کی, چه زمانی, چه وقت, چه سالی, کدام سال, چه تاریخی, چه روزی, چه قرنی",
        "name": "چه کسی, چه کسانی, کیست, کجا",
        "reason": "چرا",
    },
    "bn": {
        "number": "কত, কতটি, কতজন, কতগুলি, কতদিন, কতটা, কয়টি",
        "date": "কবে, কখন, কোন সালে, কত সালে, কোন বছর, কোন বছরে, কোন তারিখে, কোন শতাব্দীতে",
        "name": "কে, কারা, কাকে, কার, কোথায়",
        "reason": "কেন",
    },
    "th": {
        "number": "กี่, เท่าไร, เท่าไหร่, เท่าใด, บ่อยแค่ไหน",
        "date": "เมื่อไร, เมื่อไหร่, เมื่อใด, ปีใด, ปีไหน, วันใด, วันไหน",
        "name": "ใคร, ผู้ใด, ที่ไหน, ที่ใด",
        "reason": "ทำไม, เหตุใด, เพราะอะไร",
    },
    "ta": {
        "number": "எத்தனை, எவ்வளவு",
        "date": "எப்போது, எந்த ஆண்டு, எந்த ஆண்டில், எந்த நாளில்",
        "name": "யார், யாரை, யாருக்கு, யாருடைய, எங்கு, எங்கே",
        "reason": "ஏன்",
    },
}
"""More of them, read only in questions or documents in their language: "kim" and "kit" are names elsewhere."""


_SUBORDINATE = frozenset(("cs", "fi", "hu", "pl", "uk"))
"""Languages in which a comma precedes every clause: after one, the word for "when?" is a conjunction."""
_ENDINGS = {"ja": "[\u3041-\u309f]*", "ko": "[\uac00-\ud7af]*"}
"""What is written together with a word that asks: particles, "is it?"."""


def asking_forms(languages: Iterable[str]) -> Iterator[tuple[AnswerKind, str]]:
    """The kinds and the forms that ask for them, in some languages: those known everywhere, and their own."""
    for language in ("", *languages):
        before, ending = "(?<!, )" if language in _SUBORDINATE else "", _ENDINGS.get(language, "")
        for answer_kind, forms in (_ASKING_IN.get(language, {}) if language else ASKING_FORMS).items():
            yield from ((answer_kind, before + form.strip() + ending) for form in forms.split(","))


HOW_HIGH_ENDING = "hoch"
"""The end of "wie hoch", which the answer may have too ("26 Meter hoch"); "how tall" and the like are no cue at all."""
MEASURE_FORMS: dict[MeasureKind, str] = {
    "age": "how old, wie alt, сколько лет, какого возраста, 几岁, 幾歲, 多大年纪, 何歳, كم عمر, qué edad, quel âge, "
    "quanti anni ha, che età, quantos anos tem, que idade, hoe oud",
    "extent": "how long, how far, how tall, how high, how deep, how wide, wie lange, wie lang, wie weit, "
    "wie tief, wie breit, как долго, как далеко, какой высоты, какой длины, 多久, 多长, 多長, 多高, 多远, 多遠, "
    "how much time, wie viel zeit, сколько (?:\\w+ )?времени, "
    "cuánto tiempo, cuánto mide, combien de temps, hoe lang, hoe hoog, hoe ver",
    "frequency": "how often(?! (?:did|has|have|had)\\b), how frequently, wie oft(?! (?:hat|haben|wurden?|waren?)\\b), "
    "wie häufig, как часто, con qué frecuencia, à quelle fréquence, con che frequenza, com que frequência, hoe vaak, "
    "多久[^?？]*一次, (?:どの|どれ)くらいの頻度, 얼마나 자주, jak często, jak často, як часто, kuinka usein, hur ofta, "
    "hvor ofte, milyen gyakran, seberapa sering, באיזו תדירות, บ่อยแค่ไหน",
    "money": r"how much (?:do|does|did|will|would|has|have|had)\b[^?]*(?<!\bthe )\bcost(?! of), "
    r"what (?:do|does|did|will|would)\b[^?]*\bcost(?=[^\w]*$), what price, wie teuer, "
    r"what (?:does|did|will|would) it cost(?= (?:to|if|when|for|per)\b), "
    r"how much (?:money )?(?:do|does|did|will|would|has|have|had)\b[^?]*\b(?:pay|paid|spend|spent|earn|earned|owe), "
    r"wie viel (?:geld )?(?:be)?zahl(?:t|te|ten|en)\b, wie viel (?:geld )?hat\b[^?]*\b(?:be|ge)zahlt, "
    r"was kostet, was kostete, wie viel [^?]*\b(?:ge)?koste\w+, сколько сто(?:ит|ят|ил[аио]?), 多少钱, 多少錢, いくら, "
    r"cuánto [^?]*(?<!\bel )\bc(?:uest|ost)\w+, combien [^?]*\bcoût\w+, quanto [^?]*\bcost\w+, hoeveel [^?]*\bkost\w*",
    "weight": r"how heavy, how much (?:do|does|did)\b[^?]*\bweigh, wie schwer, wie viel wieg(?:t|en), "
    "сколько вес(?:ит|ят|ил[аио]?), 多重, cuánto pesan?, combien pès(?:e|ent), quanto pesa(?:no)?, hoe zwaar, "
    "hoeveel weegt",
    "temperature": "how (?:hot|warm|cold), (?:what|which) temperature, wie (?:heiß|warm|kalt), welche[rn]? temperatur, "
    "какая температура, какой температуре, 多热, 多冷, 温度是多少, qué temperatura, quelle température, "
    "che temperatura, que temperatura, hoe (?:heet|warm|koud)",
    "loudness": "how (?:loud|noisy), wie laut, qué tan ruidos[oa], hoe luid",
    "voltage": "(?:what|which) voltage, welche spannung, какое напряжение, 什么电压, qué voltaje, welke spanning",
    "share": "what percentage, what percent, which percentage, wie viel prozent, welcher prozentsatz, какой процент, "
    "сколько процентов, 百分之几, 百分比, qué porcentaje, quel pourcentage, che percentuale, que percentagem",
}
"""The words that ask for a measure. How often something *did* happen is a count."""
LIGHT_WORDS: dict[MeasureKind, str] = {
    "weight": "heavy weigh weighs schwer wiegt wiegen весит весят pesa pesan pèse pèsent pesano zwaar weegt",
    "temperature": "hot warm cold temperature heiß warm kalt temperatur температура température temperatura",
    "loudness": "loud noisy laut ruidoso luid",
    "voltage": "voltage spannung напряжение voltaje spanning",
    "extent": "long far tall high deep wide lang lange weit tief breit largo alto loin take takes took dauern dauert "
    "dauerte prendre prend durer dure tardar tarda durar dura занимать занимает длиться длится",
    "money": "cost costs kosten kostet kostete gekostet coûter coûte coûté costar cuesta costó costare costa "
    "стоить стоит",
}
"""Words that only ask for a measure: a price is also what is "paid", and what takes a week is done "within" it."""
UNSPACED_ASKING = regex(
    "什么时候|什麼時候|多少|什么|什麼|哪一年|哪年|哪里|哪裡|哪个|哪個|哪些|哪|何时|何時|いくつ|いくら|どこ|だれ|どの|いつ|怎么|怎麼"
    "|如何|为什么|為什麼|なぜ|几|幾|谁|誰|吗|嗎|呢|的|了|是|在|被|和|与|與"
    "|เมื่อ(?:ไร|ไหร่|ใด)|เท่า(?:ไร|ไหร่|ใด)|อะไร|ใคร|ที่ไหน|ไหน|ใด|กี่|อย่างไร|ยังไง|หรือไม่|คือ"
)
"""Words which ask in unspaced scripts, cut out before keys are made of a question."""


_KOREAN = regex(r"[\uac00-\ud7af]")
_KOREAN_ASKING = regex(
    "(?<![가-힣])(?:무엇|무슨|누구|누가|언제|어디|어느|어떤|어떻게|얼마나?|몇|왜(?![가-힣]))[가-힣]*"
    r"|(?:습니까|입니까|인가요|나요|까요|는가|는지|습니다|입니다)(?!\w)"
    r"|(?<=[가-힣]{2})(?:에서는|에서|에게|으로|까지|부터|에는|[와과]의|[은는이가을를의에로와과도])(?!\w)"
)
"""Words that ask, endings of questions, and particles after a word of two syllables."""


def remove_asking_words(text: str) -> str:
    """A question without the words that ask, where nothing separates them from its topic.

    In Korean also without particles and endings.
    """
    text = UNSPACED_ASKING.sub(" ", text)
    return _KOREAN_ASKING.sub(" ", text) if _KOREAN.search(text) else text
