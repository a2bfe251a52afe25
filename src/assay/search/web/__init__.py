"""Search providers of the web: each builds the query and reads the answer.

- `http`: one request, its limits and its failures; providers' texts in one form
- `engines`, `scholarship`, `ddgs`: the providers
- `online`: a provider for runs: hits become sources with the provider's snippet as text
"""
