"""Thresholds of the built-in verifier that are not in `model.json`.

The thresholds of its verdicts are fitted and stand in `model.json`, whose `provenance` says on what. Those here were
chosen by hand; `bench/grounding.py` measures the effect (docs/verification-measured.md). The model was trained with
these values (`bench/grounding_training.py`): a change needs a new model.
"""

# Reading evidence (`index`).

LONGEST_PART = 60
"""Words. Text without sentence ends (tables, code, lists) is cut into pieces of this size."""
MOST_EVIDENCE = 400_000
"""Characters; only the beginning of longer evidence is read."""
UNKNOWN_WEIGHT = 11.0
"""The weight of a word that is not in `frequencies.txt`, in nats."""
NUMBER_WEIGHTS = (6.0, 9.0)
"""The least and the greatest weight of a number, in nats: numbers are never common words nor the rarest ones."""
ALIKE_STEMS = 0.7
"""How much of two stems must agree from their beginning (Dice's measure) to count as similar."""
COMMON_HEAD = 4
"""The first letters that similar stems share."""

# Comparing a claim's sentence with parts of the evidence (`signs`, `features`).

MOST_PARTS = 40
"""Parts of the evidence compared with a sentence, those with most of its weight."""
PART_COST = 0.01
"""The cost of each word of a part in the ranking, in nats: of equal parts the shorter comes first."""
SHORT_REPLACEMENT = 4
"""Words of a short replacement: longer runs are other text rather than an edit."""
COPIED_ORDER = 0.7
"""A claim with this share of its best part's words in their order is a copy: differences are edits.

docs/verification.md gives it to readers.
"""
WHOLE_SENTENCE = 0.95
"""The share of a sentence, by weight, that its best part must say to be the same sentence in another order."""

# Verdicts (`verdicts`).

MOST_LISTED = 6
"""Words that a reason lists."""
ENGLISH_WORDS = 8
"""Words; a claim of this length without an English function word is in another language."""
LIKELY = 0.5
"""The score from which a claim is likely supported. It is not a verdict: about one in three such claims is not."""
LOG_ODDS_BOUND = 6.9
"""Keeps probabilities between 0.001 and 0.999: words alone never make certain."""
