"""The one lexical toolkit: index terms and stems, and lists of words by what they do."""
