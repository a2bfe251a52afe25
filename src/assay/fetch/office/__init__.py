"""Documents of office programs: Word, PowerPoint, spreadsheets, OpenDocument, e-books.

packaged   the ZIP file each of them is: safe to open, its XML safe to read
writing    headings, paragraphs and tables as the text form
"""
