"""The rules: each a file whose `find` says what it has to object to in a claim, as `verify.checks` asks them."""
