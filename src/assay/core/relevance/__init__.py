"""How well a statement answers a question: one scorer for the built-in model, the tools and verification.

A statement is a sentence, a row or a line with a key, in the context of its headings and its document. Words are
compared as the search index compares them (`analysis`); a few features of question and statement are weighed by
weights which were trained on questions people asked (`weights`), never by tables of words of a domain.
"""

from assay.core.relevance.asking import Question, read_question
from assay.core.relevance.scoring import Judged, Judgement, judge, rank
from assay.core.relevance.statements import Statement

__all__ = ["Judged", "Judgement", "Question", "Statement", "judge", "rank", "read_question"]
