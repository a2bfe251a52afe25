"""Notices of code in a text from outside, which is an export of Assay's."""

from __future__ import annotations

from assay.core.report_sentences import claims
from assay.core.translation import Phrases, use_phrases
from assay.verify.texts.references import exported_notices

EXPORT = """It rose in 2019. [S1]

*As of 2024-05-01, the date of the newest source cited.*

The level of 2019 is known. As of 2024-05-01, the date of the newest source cited. [S1]

- *This answer rests on no sources.*

1,234 documents match; the words of 1,200 of 1,234 documents were read.
"""


def test_an_exports_notices_are_no_claims_and_what_only_speaks_of_them_is() -> None:
    found = exported_notices(EXPORT)
    assert set(found) == {
        "As of 2024-05-01, the date of the newest source cited.",
        "This answer rests on no sources.",
        "1,234 documents match; the words of 1,200 of 1,234 documents were read.",
    }
    with use_phrases(Phrases(statements=found)):
        claims_found = [claim.text for claim in claims(EXPORT)]
    assert claims_found[:2] == ["It rose in 2019.", "The level of 2019 is known."]
    assert len(claims_found) == 3  # what is cited states a fact, whatever it says
    assert exported_notices("As of 2024-05-01, the date of the treaty is known.") == {}
