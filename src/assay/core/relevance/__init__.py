"""How well a statement answers a question: one scorer for the built-in model, the tools and verification.

A statement is a sentence, a row or a line with a key, in the context of its headings and its document. Words are
compared as in the search index (`analysis`). A few features of question and statement are weighted (`weights`); the
weights were trained on questions that people asked, and no table has words of a single domain.
"""

from assay.core.messages import Rarity
from assay.core.relevance.scores import Judgement, ScoredStatement, judge, rank
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, read_question

__all__ = [
    "Judgement",
    "QuotableStatement",
    "Rarity",
    "ScoredStatement",
    "TopicQuestion",
    "judge",
    "rank",
    "read_question",
]
