"""Many questions, one after another or some at once, under one total budget.

rows       the lines of a file as orders         folder     what of them is done, in a folder
purse      what is left of the total             work       the loop which begins runs and takes their results
"""

from assay.app.batch.folder import Folder, Result
from assay.app.batch.purse import Purse
from assay.app.batch.rows import BadLine, Order, read_orders
from assay.app.batch.work import Batch, Terms

__all__ = ["BadLine", "Batch", "Folder", "Order", "Purse", "Result", "Terms", "read_orders"]
