"""Extractors convert the bytes of a file to text for the segmenter. Each format is one file and one entry point."""
