"""Documents of office programs: Word, PowerPoint, spreadsheets, OpenDocument, e-books.

packaged   their ZIP files, checked for safety, and their XML, parsed safely writing    headings, paragraphs and tables
as the text form
"""
