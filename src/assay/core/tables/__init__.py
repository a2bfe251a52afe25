"""Tables reconstructed from a document's passages, and the questions they answer.

`core.plain_text` finds the columns of plain text; `cells` binds cells to their headers, with their bytes; `figures`
reads them as amounts, and `quantities` tells what they measure; `words` knows the operations that questions name;
`table_questions` chooses table, column and rows; `answers` computes the result, of `groups` of rows too, states it in a
sentence, and computes it again from the rows that a sentence cites; `rows` says one in words, and compares a sentence
that states a row or a cell.
"""
