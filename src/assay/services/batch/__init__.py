"""Many questions, one after another or some at once, under one total budget.

rows       the lines of a file as orders         folder     what of them is done, in a folder
budget      what is left of the total             work       the loop which begins runs and takes their results
answer_table  documents by questions, and such a table as CSV, Excel, Markdown, JSON
"""

from assay.services.batch.folder import BatchFolder, BatchResult
from assay.services.batch.rows import BadLine, BatchBudget, BatchRow, read_orders
from assay.services.batch.work import Batch, Terms

__all__ = ["BadLine", "Batch", "BatchBudget", "BatchFolder", "BatchResult", "BatchRow", "Terms", "read_orders"]
