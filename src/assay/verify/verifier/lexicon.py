"""Words whose sense the embedded verifier knows: they join, deny, soften, count, or are each other's opposites."""

from __future__ import annotations

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
