"""Extractors: the bytes of a file become text the segmenter reads. Each format is one file and one entry point."""
