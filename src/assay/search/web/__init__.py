"""Search providers of the web: each is one file that builds the query and reads the answer.

- `http`: one request, its limits and its failures; providers' texts in one form
- `online`: a provider for runs: hits become sources with the provider's snippet as text
"""
