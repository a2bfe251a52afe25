"""The lexical toolkit: index terms and stems, and lists of words by function."""
