"""Tables as read back from a document's passages, and what they answer.

`cells` binds cells to their heads, with the bytes where they stand; `figures` reads them as amounts; `words` knows the
operations questions name; `asking` chooses table, column and rows; `answers` computes, says it in a sentence, and
computes it again from the rows a sentence cites.
"""
