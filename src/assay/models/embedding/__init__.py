"""Embedders: services which speak OpenAI's format of embeddings, and models which run in this process."""
