"""The built-in verifier: calibrated verdicts from the words of claim and evidence, without a model."""
