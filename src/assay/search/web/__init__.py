"""Search providers of the web: each one file, which says how a question is put and how an answer is read.

asking     what is asked and what comes back      http      one request, its limits and its failures
words      what providers say, in one form
online     a provider as a run sees it: hits become sources whose text is the provider's snippet
"""
