"""The words of claim and evidence, as the embedded verifier compares them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib import resources

import msgspec
from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

# Words whose sense the embedded verifier knows: they join, deny, soften, count, or are each other's opposites.

FUNCTION = frozenset(
    """
    a about above across after again against ago all along already also although am amid among an and another any
    are around as at away be became because become becomes been before being below beside between beyond both but
    by can could did do does doing down due during each either else ever every for from further had has have having
    he hence her here hers herself him himself his how however i if in including indeed instead into is it its
    itself just least less like many may me might more moreover most much must my myself near neither no nor not
    of off often on once one only onto or other others otherwise our ours out over own per perhaps quite rather
    said same say says shall she should since so some such than that the their theirs them themselves then there
    thereby therefore these they this those though through throughout thus to together too toward towards under
    until up upon us very via was we well were what when where whereas whether which while who whom whose why will
    with within without would yet you your yours isn't aren't wasn't weren't don't doesn't didn't
    won't can't couldn't wouldn't shouldn't hasn't haven't hadn't it's that's there's he's she's they're we're
    i'm i've you're cannot never none nobody nothing
    """.split()
)
NEUTRAL = frozenset(
    """
    a an the of in on at by for to from with as and or that this these those it its he his she her they their them
    which who whom whose is are was were be been being am has have had having do does did into onto within also there
    then here such itself himself herself themselves upon we our you your i my us me
    """.split()
)
"""Function words which may be put in without a change of sense, by and large."""
NEGATORS = frozenset(
    """
    no not never none nobody nothing nowhere neither nor without cannot isn't aren't wasn't weren't don't doesn't
    didn't won't can't couldn't wouldn't shouldn't hasn't haven't hadn't fail fails failed failing lack lacks lacked
    lacking unable refuse refuses refused refusing deny denies denied denying hardly barely rarely seldom absent
    absence reject rejects rejected impossible false incorrect
    """.split()
)
HEDGES = frozenset(
    """
    may might could can would possibly perhaps probably likely unlikely potentially appears appear seem seems
    suggest suggests suggested some sometimes often usually generally typically mostly partly nearly almost about
    approximately around roughly estimated reportedly allegedly expected believed thought plans planned proposed
    """.split()
)
ABSOLUTES = frozenset(
    """
    all every always never only none exclusively solely entirely completely fully totally first last best worst
    most least highest lowest largest smallest biggest oldest youngest single unique sole whole entire must
    """.split()
)
QUALIFIERS = frozenset(
    """
    more less fewer over under above below than least nearly almost about around roughly approximately up former
    formerly ex alleged allegedly claimed supposed supposedly so-called proposed planned future would-be partly
    """.split()
)
"""Words which limit what follows them."""
RELATIONS = frozenset(
    """
    because due cause causes caused causing leads led lead results resulted result despite although after before
    during until since if unless more less than greater fewer higher lower better worse
    """.split()
)
NUMBER_WORDS = {
    **{
        word: str(value)
        for value, word in enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty".split()
        )
        if word != "one"
    },
    **{
        w: str(v)
        for w, v in zip("thirty forty fifty sixty seventy eighty ninety".split(), range(30, 100, 10), strict=True)
    },
    **{
        w: str(v)
        for w, v in zip("third fourth fifth sixth seventh eighth ninth tenth".split(), range(3, 11), strict=True)
    },
    "twice": "2",
    "half": "0.5",
    "dozen": "12",
}
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_WORD = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\W_]+")
_MARKUP = re.compile(r"\[\d{1,3}\]|(?<!\w)-LSB-.{0,200}?-RSB-(?!\w)|(?<!\w)-[LR][RSC]B-(?!\w)|https?://\S+")
"""What is no part of the sentence: citations by number, addresses, brackets as some treebanks write them."""


class WordToken(msgspec.Struct, frozen=True, gc=False):
    """A word: as written, its stem, and what kind it is.

    `number` tells a figure (also a number word), `name` a word with a capital which does not begin its sentence,
    `function` a word which only joins others. `first` is the first word of a sentence.
    """

    text: str
    stem: str
    number: bool = False
    name: bool = False
    function: bool = False
    first: bool = False

    @property
    def content(self) -> bool:
        return not self.function


def tokens(sentence: str) -> tuple[WordToken, ...]:
    """The words of one sentence, in order."""
    found: list[WordToken] = []
    for match in _WORD.finditer(_MARKUP.sub(" ", unicodedata.normalize("NFKC", sentence))):
        found.append(_token(match[0].replace("’", "'"), not found))
    return _scaled(found)


def _scaled(found: list[WordToken]) -> tuple[WordToken, ...]:
    """A figure and the scale word after it ("3 million") as one number; the scale word stays a word of its own."""
    for at in range(len(found) - 1):
        one, scale = found[at], SCALES.get(found[at + 1].text.lower())
        if one.number and scale and one.stem.replace(".", "", 1).isdecimal():
            found[at] = msgspec.structs.replace(one, stem=_figure(f"{float(one.stem) * 10**scale:.4f}"))
    return tuple(found)


@lru_cache(maxsize=50_000)
def _token(text: str, first: bool) -> WordToken:
    lower = text.lower()
    if text[0].isdecimal():
        return WordToken(text, _figure(text), number=True, first=first)
    if lower in NUMBER_WORDS:
        return WordToken(text, NUMBER_WORDS[lower], number=True, first=first)
    bare = lower[:-2] if lower.endswith("'s") else lower
    function = bare in FUNCTION or lower in FUNCTION
    name = text[0].isupper() and not function and (not first or (len(text) > 1 and text.isupper()))
    return WordToken(text, stem_of(bare), name=name, function=function, first=first)


def _figure(text: str) -> str:
    """One form for equal numbers: `1,000.50` and `1000.5`; a per cent sign is left out."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text.rstrip("%")).replace(",", ".")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> str:
    """The stem of a lower-case word (Snowball's English; Porter 2001), without accents."""
    found = _analyzer().analyze(word)
    return found[0] if found else word


@lru_cache(maxsize=1)
def _analyzer() -> TextAnalyzer:
    simple = TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.lowercase()).filter(Filter.stemmer("english"))
    return simple.filter(Filter.ascii_fold()).build()


# Which words exclude each other: a table, and prefixes which turn a word round.

_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "de", "anti")


@cache
def table() -> dict[str, frozenset[str]]:
    """The opposites of each stem, both ways."""
    found: dict[str, set[str]] = {}
    text = resources.files(__package__).joinpath("opposites.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#") or "|" not in line:
            continue
        one, other = ({stem_of(word) for word in side.split()} for side in line.split("|"))
        for here, there in ((one, other), (other, one)):
            for stem in here:
                found.setdefault(stem, set()).update(there - {stem})
    return {stem: frozenset(others) for stem, others in found.items()}


@cache
def opposites(stem: str) -> frozenset[str]:
    """Stems which exclude `stem`: those of the table, and `stem` with or without a prefix which turns it round."""
    turned = {prefix + stem for prefix in _PREFIXES if len(stem) > 3}
    bare = {stem[len(prefix) :] for prefix in _PREFIXES if stem.startswith(prefix) and len(stem) - len(prefix) > 3}
    return table().get(stem, frozenset()) | turned | bare
