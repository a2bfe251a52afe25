"""Tables reconstructed from a document's passages, and the questions they answer.

`cells` binds cells to their headers, with their bytes; `figures` reads them as amounts; `words` knows the operations
that questions name; `asking` chooses table, column and rows; `answers` computes the result, states it in a sentence,
and computes it again from the rows that a sentence cites.
"""
