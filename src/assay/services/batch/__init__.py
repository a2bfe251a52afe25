"""Many questions, one after another or some at once, under one total budget.

rows          the lines of a file as orders, what is left of the total, and a folder which says what is done
work          the loop which begins runs and takes their results
answer_table  documents by questions, and such a table as CSV, Excel, Markdown, JSON
"""

from assay.services.batch.rows import BadLine, BatchBudget, BatchFolder, BatchResult, BatchRow, read_orders
from assay.services.batch.work import Batch, Terms

__all__ = ["BadLine", "Batch", "BatchBudget", "BatchFolder", "BatchResult", "BatchRow", "Terms", "read_orders"]
