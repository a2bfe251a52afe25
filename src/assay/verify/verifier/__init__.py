"""The embedded verifier: calibrated verdicts on claims from the words of claim and evidence, without any model."""
