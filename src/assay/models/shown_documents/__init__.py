"""Documents as a model was shown them: header fields, sentences, rows, and which of them a question names."""
