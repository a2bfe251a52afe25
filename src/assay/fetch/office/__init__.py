"""Documents of office programs: Word, PowerPoint, spreadsheets, OpenDocument, e-books."""
