"""The rules: each is a file with a `find` that returns objections to a claim, called by `verify.checks`."""
