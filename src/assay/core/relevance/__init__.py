"""How well a statement answers a question: one scorer for the built-in model, the tools and verification.

A statement is a sentence, a row or a line with a key, in the context of its headings and its document. Words are
compared as the search index compares them (`analysis`); a few features of question and statement are weighed by
weights which were trained on questions people asked (`weights`), never by tables of words of a domain.
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
