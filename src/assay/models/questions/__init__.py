"""What a question asks: its words and parts, the documents it names, fields asked for, conditions on all documents."""
