"""Weights and limits of the local ranking.

The weights of title, name and passage and the limit for common words were set with `python -m bench retrieval`
(Cranfield, CACM, NFCorpus), on all of it: no part was held out (docs/benchmarks.md, which reports the same figures).
The other values were chosen by hand; the same bench measures the effect. Decision 0027 lists what was tried and not
taken.
"""

# Words of the question (`words`).

MOST_CHARACTERS = 4_000
"""Only the beginning of a longer question is read."""
MOST_WORDS = 40
"""Of more words the rarest are searched for."""
COMMON_WORD = 0.4
"""A word in a larger share of the documents is left out if others remain: it distinguishes nothing. Set with the bench.
"""
COMMON_IN_TITLES = 0.05
"""A word in no larger share of the titles is kept, however common: it names something ("Germany" in a gazetteer)."""
TITLE_WEIGHT, NAME_WEIGHT = 0.4, 0.5
"""The weights of a match in a document's title, and in its name or address, beside one in its text. By the bench."""
NUMBERED_NAME = 3.0
"""The weight of a name with its number ("PEP 6") in a document's name or title."""
NUMBER_GAP = 2
"""Other words allowed between the two: `rust-rfcs/text/0253-…` is "RFC 253"."""
TITLE_NAMED = 0.8
"""The share of a title's words that a question must have to name it."""
TITLE_MEANT = 0.6
"""The share with which it may mean that title: then the best document is not doubted."""

# Words added to a question from the documents found first (`local_ranks`).

FEEDBACK_DOCUMENTS, FEEDBACK_LEAST = 5, 20
"""Documents whose words are used, and how many must be found: with fewer, the first say nothing special."""
FEEDBACK_PASSAGES = 5
"""Passages read of each, best first."""
FEEDBACK_WORDS = 20
"""Words added."""
MOST_COUNTED = 80
"""Words whose frequency is looked up, those with most weight in the documents. For speed."""
FEEDBACK_SHARE = 0.3
"""The share of all weight that the added words have together; the question's own words have the rest."""
SATURATION = 1.2
"""The constant k1 of BM25, at its usual value."""
FEEDBACK_COMMON, FEEDBACK_RARE = 0.2, 2
"""Words in a larger share of the documents, or in fewer documents, are not added."""
SHORTEST_TERM = 3
"""Letters of an added word."""

# Candidates and their passages (`local_ranks`; the shared indexes use the first two).

PASSAGE_WEIGHT = 0.5
"""The weight of the best passage's score beside the document's. Set with the bench."""
CANDIDATES = 60
"""Documents examined more closely, from each of both searches; four times the limit if that is more."""
PASSAGES_READ = 12
"""Passages ranked per candidate, on average. For speed."""
SMALL_SCOPE = 1_000
"""A scope up to this size is looked up row by row; for a larger one, more is fetched and filtered. For speed."""
MOST_EXPLAINED = 100_000
"""Passages with a word that are examined for an explanation. For speed."""
