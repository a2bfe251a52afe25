"""Tables reconstructed from a document's passages, and the questions they answer.

`core.plain_text` finds the columns of plain text; `cells` binds cells to their headers, with their bytes, and `records`
reads lists of fields; `figures` reads cells as amounts; `columns` tells what a column holds and is for; `words` knows
the operations that questions name; `table_questions` chooses table, column and rows; `answers` computes the result,
states it in a sentence, and computes it again from the rows that a sentence cites; `rows` says a row in
words, compares a sentence that states one or a cell, and shows a model what was computed.
"""
