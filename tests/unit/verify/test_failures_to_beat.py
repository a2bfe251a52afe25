"""What other verifiers took for supported: each a claim, the passage it cites, and the rule which must object."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage

from assay.core.claims import CHECKS
from assay.verify.checks import check_by_code, examine

FAILURES = [
    ("words overlap, values differ", "Revenue rose 5% to $3 billion.", "Revenue fell 25% to $13 million.", "number"),
    ("months read as millions", "The trial lasted 3 months.", "The trial cost 3 million.", "number"),
    (
        "a sign lost",
        "The account closed the year at 4.2 million.",
        "The account closed the year at -4.2 million.",
        "number",
    ),
    (
        "inverted, and nearly verbatim",
        "The committee approved the plan to widen the northern harbour.",
        "The committee did not approve the plan to widen the northern harbour.",
        "negation",
    ),
    (
        "what rose has fallen",
        "Exports of wheat rose in the spring of that year.",
        "Exports of wheat fell in the spring of that year.",
        "direction",
    ),
    (
        "a quotation retyped",
        'The chair said "we will never surrender".',
        'The chair said: "We shall never surrender."',
        "quote",
    ),
    (
        "a quotation with code in it, retyped",
        'It says "call `flush` after every write".',
        "It says: call `flush` before every write.",
        "quote",
    ),
    (
        "a number which stands elsewhere in the passage",
        "The northern plant employs 900 people.",
        "The northern plant employs 400 people. The southern plant near the river employs 900 people.",
        "number",
    ),
    (
        "the rows of two subjects exchanged",
        "Norway exported 70 tonnes of salmon and Iceland exported 40 tonnes of salmon.",
        "Norway exported 40 tonnes of salmon. Iceland exported 70 tonnes of salmon.",
        "number",
    ),
    ("percent for points", "Turnout rose by 4 percent.", "Turnout rose by 4 percentage points.", "number"),
    ("another unit", "The bridge is 300 miles long.", "The bridge is 300 km long.", "number"),
    ("another currency", "The bridge cost €300 million.", "The bridge cost $300 million.", "number"),
    ("another day", "It opened on 4 March 2021.", "It opened on 5 March 2021.", "date"),
    (
        "a year off",
        "The treaty was signed in 1998 by both states.",
        "The treaty was signed in 1999 by both states.",
        "date",
    ),
    (
        "another name",
        "The bridge over the river was designed by Anna Keller in her last year.",
        "The bridge over the river was designed by Maria Schmidt in her last year.",
        "name",
    ),
    (
        "a bound left out",
        "The new boiler reduces the costs of heating by 30%.",
        "The new boiler reduces the costs of heating by up to 30%.",
        "quantifier",
    ),
    (
        "all for some",
        "All patients in the trial recovered within a week.",
        "Some patients in the trial recovered within a week.",
        "quantifier",
    ),
    (
        "first for last",
        "She was the first director of the museum in Ghent.",
        "She was the last director of the museum in Ghent.",
        "quantifier",
    ),
]


@pytest.mark.parametrize(("claim", "text", "rule"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_none_is_taken_for_supported(claim: str, text: str, rule: str) -> None:
    found = check_by_code(claim, evidence(passage("S1.1", text)), has_markers=True)
    assert (found.rule, found.verdict in ("unsupported", "contradicted")) == (rule, True), found


@pytest.mark.parametrize(("claim", "text", "rule"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_a_check_switched_off_says_nothing(claim: str, text: str, rule: str) -> None:
    held = evidence(passage("S1.1", text))
    assert rule in {finding.rule for finding in examine(claim, held)}
    assert rule not in {finding.rule for finding in examine(claim, held, checks_off=(rule,))}
    assert check_by_code(claim, held, has_markers=True, checks_off=CHECKS).rule not in {*CHECKS} - {"judge"}


FAITHFUL = [
    ("Revenue fell by a quarter, to $13 million.", "Revenue fell 25% to $13 million."),
    ("In the spring of that year, exports of wheat rose.", "Exports of wheat rose in the spring of that year."),
    ("The plan was not approved by the committee.", "The committee did not approve the plan."),
    (
        "The southern plant employs 900 people.",
        "The northern plant employs 400 people. The southern plant employs 900.",
    ),
    (
        "Iceland exported 70 tonnes of salmon, Norway 40 tonnes.",
        "Norway exported 40 tonnes of salmon. Iceland exported 70 tonnes of salmon.",
    ),
    ("The bridge is 186 miles long.", "The bridge is 300 km long."),
    ("Costs fall by at most 30%.", "The new boiler reduces the costs of heating by up to 30%."),
    ("It opened on March 4, 2021.", "The opening was on 2021-03-04."),
    ("Over 1,000 people came.", "1,247 people came."),
    ("Nearly 1.3 million people came.", "1,247,000 people came."),
    ("The two plants employ 1,300 people together.", "The northern plant employs 400 people, the southern 900 people."),
    ("The film opened 14 years after the book of 1906.", "The book came out in 1906. The film opened in 1920."),
    ('The chair said "we shall ... never surrender".', 'The chair said: "we shall, come what may, never surrender."'),
    ("The committee only approved the plan in May.", "The plan was approved by the committee in May, not before."),
    ("Potatoes came to Spain in the 16th century.", "The potato came to Spain in 1567."),
    ("Potatoes came to Spain in the 16th century.", "The potato came to Spain in the late 1500s."),
    ("It has to cost under 12.50 Euros.", "You have to keep it under twelve dot fifty Euros."),
    ("It has to cost 3.52 Euros.", "It has to cost three point five two Euros."),
    ("The album sold more than 100,000 copies.", "The album sold 757,000 copies."),
    ("The 14th Dalai Lama lives in India.", "The Dalai Lama lives in India, where he fled to."),
    ("Perth is where Australia (2008 film) was made.", "It was made in Perth."),
    ("COVID-19 spreads through the air.", "The virus which causes COVID19 spreads through the air."),
    (
        "They toured from August through October 2007.",
        "Published 2007-05-22. The tour will run from August through October.",
    ),
    ('The agency says "the risk to humans is low".', '"The risk to humans is low," said the agency.'),
    ('They covered "Master of Puppets Revisited".', "They covered a song for a tribute album."),
    ('It is called "Salt and Pepper Kings".', "It is called SALT & PEPPER KINGS."),
    ('He guessed "colour technician" in the fourth round.', "Round four: Colour Technician!"),
    ("An estimated 1,600 migrants have died this year.", "An estimated 1, 600 migrants have died so far this year."),
    ("A balance is important for health.", "A balance is not only important for health, but for work."),
    ("Ann and Emily take care of food.", "Ann and Emily, could you take care of food?"),
    ("He was captain in the Indian Premier League in that year.", "He was captain in the IPL in that year."),
    (
        "She was not the first woman to lead a major party in the kingdom.",
        "She became the second woman to lead a major party in the kingdom.",
    ),
    (
        "The islands are not currently part of the Hereditary Kingdom of Norway.",
        "Between 1035 and 1814 the islands were part of the Hereditary Kingdom of Norway.",
    ),
    (
        "The coach says Wales must take risks on Saturday.",
        "The coach says Wales must not be afraid to take risks on Saturday.",
    ),
    (
        "The Faroe Islands are part of the Hereditary Kingdom of Norway.",
        "The Faeroes are part of the Hereditary Kingdom of Norway.",
    ),
    (
        "Methods such as moving averages serve for forecasting.",
        "Top Forecasting Methods: other methods are moving averages. Repeated forecasts.",
    ),
]

NEARLY = [
    ("centuries count", "Potatoes came to Spain in the 15th century.", "The potato came to Spain in 1567.", "number"),
    (
        "another ordinal before the name",
        "The 13th Dalai Lama lives in India.",
        "The 14th Dalai Lama lives in India.",
        "number",
    ),
    ("ten times as much", "The album sold more than 70,000 copies.", "The album sold 757,000 copies.", "number"),
    ("both are bounded", "Releases are at least 4 days apart.", "Releases are at least 4 weeks apart.", "number"),
    (
        "another year in brackets",
        "Hush (2015 film) was shot in Perth.",
        "Hush (2016 film) was shot in Perth.",
        "number",
    ),
    ("a title retyped", 'They wrote "Patience Is All You Need".', 'They wrote "Attention Is All You Need".', "quote"),
    ("a sentence with capitals", 'It says "Data Was Never On Disk."', "It says: data was never on tape.", "quote"),
    (
        "a rank which the evidence gives",
        "She was not the first woman to lead a major party in the kingdom.",
        "She was the first woman to lead a major party in the kingdom.",
        "negation",
    ),
    (
        "it was not, and is not",
        "The islands were not part of the Hereditary Kingdom of Norway.",
        "The islands were part of the Hereditary Kingdom of Norway.",
        "negation",
    ),
    (
        "names which differ in a consonant",
        "The treaty was signed in Austria by all four of the ministers.",
        "The treaty was signed in Australia by all four of the ministers.",
        "name",
    ),
]
"""What is near to something that says the same, and is not."""


@pytest.mark.parametrize(("claim", "text", "rule"), [row[1:] for row in NEARLY], ids=[row[0] for row in NEARLY])
def test_what_only_nearly_says_the_same_is_objected_to(claim: str, text: str, rule: str) -> None:
    vetoes = {finding.rule for finding in examine(claim, evidence(passage("S1.1", text))) if finding.veto}
    assert rule in vetoes or (rule == "number" and "date" in vetoes)


@pytest.mark.parametrize(("claim", "text"), FAITHFUL)
def test_what_says_the_same_in_other_words_is_not_objected_to(claim: str, text: str) -> None:
    held = evidence(passage("S1.1", text))
    assert [finding for finding in examine(claim, held) if finding.veto] == []


def test_a_claim_as_long_as_a_page_is_left_unchecked_and_costs_nothing():
    claim = "one hundred and five million of seven hundred in two thousand and nine, " * 60
    checked = check_by_code(claim, evidence(passage("S1001.1", "Nine of ten in 2009.")), has_markers=True)
    assert (checked.verdict, checked.reason) == ("unchecked", "longer than 2,000 characters")
