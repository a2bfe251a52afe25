"""Many questions, one after another or several at once, within one total budget.

rows          the lines of a file as orders, what is left of the total, and a folder that records progress work
the loop that starts runs and stores their results answer_table  documents by questions, and such a table as CSV, Excel,
Markdown, JSON
"""

from assay.services.batch.rows import BadLine, BatchBudget, BatchFolder, BatchResult, BatchRow, read_orders
from assay.services.batch.work import Batch, Terms

__all__ = ["BadLine", "Batch", "BatchBudget", "BatchFolder", "BatchResult", "BatchRow", "Terms", "read_orders"]
