"""Numbers: which statements of a number in the evidence carry a claim's, and which do not."""

from __future__ import annotations

from datetime import date

import pytest
from evidence_of import passage
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Surroundings
from assay.verify.amounts import Amount, Day, tokens
from assay.verify.analyzed_text import analyze_text, fold_text, read_texts
from assay.verify.checks import check_by_code, examine
from assay.verify.claim_check import decide
from assay.verify.evidence import ClaimEvidence, text_evidence
from assay.verify.rules.numbers import find


def missing(claim: str, evidence: list[str], names: list[str] | None = None) -> tuple[str, ...]:
    """The numbers of the claim which the evidence is found not to state."""
    held = read_texts([(f"S1.{at}", text) for at, text in enumerate(evidence)], names or [])
    return tuple(finding.slot.text for finding in find(analyze_text(claim), held) if finding.veto)


CARRIED = [
    # separators
    ("1,000 people", "1000 people"),
    ("1000 people", "1,000 people"),
    ("1.000 Menschen", "1000 Menschen"),
    ("1 000 personnes", "1,000 personnes"),
    ("1\u202f000 personnes", "1000 personnes"),
    ("1'000'000 Leute", "1,000,000 Leute"),
    ("1.234.567,5 kg", "1,234,567.5 kg"),
    ("0,5 kg", "0.5 kg"),
    # columns in per cent
    ("It rose by 6.5 % to 5,340 tonnes", "species: Mackerel | tonnes: 5340 | change_pct: 6.5"),
    ("It rose by 6.5 %", "Change (%): +6.5"),
    ("It rose by 6.5 percent", "species: Mackerel | Percentage change: 6.5 | x: 3"),
    # columns with a unit, a currency or a scale
    ("The bridge is 220 feet long", "Bridge: North | Length (m): 67.06"),
    ("It cost 620,000 euros", "Betrag (EUR): 620.000,00"),
    ("It cost 2.1 million dollars", "Awarded: 2022 | Amount USD: 2100000"),
    ("It cost 2.1 million dollars", "Amount (USD million): 2.1"),
    ("The flow is 5 kg", "The flow is 5 kg/day"),
    # scales
    ("1.5 million people", "1,500,000 people"),
    ("1,500,000 people", "1.5 million people"),
    ("1.5 million people", "1,523,400 people"),
    ("2 thousand", "2000"),
    ("3 Mio. Euro", "3 million euros"),
    ("2,5 Milliarden", "2.5 billion"),
    ("3.5万人", "35,000人"),
    ("$5bn", "$5 billion"),
    ("10k users", "10,000 users"),
    # units, currency, precision
    ("37%", "37 %"),
    ("37 percent", "37%"),
    ("37.2%", "37.18 per cent"),
    ("10% of users", "between 10 and 20 %"),
    ("$5 million", "US$5 million"),
    ("$20", "20 dollars"),
    ("20", "$20"),
    ("over 37", "37.6"),
    ("about 38", "37.6"),
    # sign
    ("−5 degrees", "-5 degrees"),
    ("10–20 people", "10-20 people"),
    ("from 20", "10-20 people"),
    # words
    ("three parts", "3 parts"),
    ("3 parts", "three parts"),
    ("twelve", "12"),
    ("twenty-one", "21"),
    ("two million", "2,000,000"),
    ("the third release", "the 3rd release"),
    ("one of them", "some of them"),
    ("two years later", "later"),
    ("COVID-19", "the coronavirus"),
    ("an N95 mask", "a mask"),
    # dates
    ("4 March 2021", "2021-03-04"),
    ("March 4, 2021", "04-Mar-2021"),
    ("March 2021", "4 March 2021"),
    ("March 4", "2021-03-04"),
    ("in 2021", "on 2021-03-04"),
    ("March 4, 2021", "On March 4 of that year (2021)"),
    ("2021年3月4日", "4 March 2021"),
    ("3/4/2021", "4 March 2021"),
    ("on May 30", "his fight on may 30"),
    ("died on May 7, 2018", "By A. Writer, May 10, 2018. He died on May 7."),
    ("the 2018-19 season", "the 2018-2019 season"),
    ("3/4/2021", "3 April 2021"),
    ("4. März 2021", "2021-03-04"),
    ("4 марта 2021", "04.03.2021"),
    # literal tokens
    ("Python 3.11", "Python 3.11"),
    ("v3.11.4", "3.11.4"),
    ("the 1990s", "the 1990's"),
    ("at 10:30", "10:30 UTC"),
    ("ERC20", "ERC-20"),
    ("EIP-1559", "EIP 1559"),
    (f"{2**256 - 1}", f"{2**256 - 1}"),
    ("3 to 4 million", "3,000,000 to 4,000,000"),
    ("٣٧ people", "37 people"),
    ("١٬٢٣٤ people", "1,234 people"),
    ("٣٫٥ million people", "3.5 million people"),
    ("**37** people", "37 people"),
    ("no number at all", ""),
]

NOT_CARRIED = [
    ("37 people", "38 people", ("37",)),
    ("37 people", "370 people", ("37",)),
    ("37 people", "3.7 people", ("37",)),
    ("37 people", "137 people", ("37",)),
    ("1,000 people", "1 person", ("1,000",)),
    ("1,000 people", "10,000 people", ("1,000",)),
    ("1.5 million", "1.5 billion", ("1.5 million",)),
    ("1.5 million", "1.5", ("1.5 million",)),
    ("1.5 million", "1,570,000", ("1.5 million",)),
    ("37%", "37 people", ("37%",)),
    ("37 people", "37%", ("37",)),
    ("37%", "37 percentage points", ("37%",)),
    ("$5", "€5", ("$5",)),
    ("-5 degrees", "5 degrees", ("-5",)),
    ("5 degrees", "-5 degrees", ("5",)),
    ("3.1", "3.10", ("3.1",)),
    ("3.10", "3.1", ("3.10",)),
    ("3.11", "3.12", ("3.11",)),
    ("37", "37.4", ("37",)),
    ("It rose by 6.5 %", "species: Mackerel | change: 6.5", ("6.5 %",)),
    ("The bridge is 67.06 feet long", "Bridge: North | Length (m): 67.06", ("67.06 feet",)),
    ("It cost 620,000 dollars", "Betrag (EUR): 620.000,00", ("620,000 dollars",)),
    ("It cost 2,100,000 euros", "Awarded: 2022 | Amount USD: 2100000", ("2,100,000 euros",)),
    ("It rose by 5,340 %", "tonnes: 5340 | change (%): 6.5", ("5,340 %",)),
    ("It rose by 6.5 %", "After a rise of 3 %: 6.5 boats", ("6.5 %",)),
    ("3.11.4", "3.11.5", ("3.11.4",)),
    ("three parts", "four parts", ("three",)),
    ("three parts", "in 4 parts", ("three",)),
    ("the third part", "the fourth part", ("third",)),
    ("EIP-1559", "this EIP", ("1559",)),
    (f"{2**256 - 1}", f"{2**256 - 2}", (f"{2**256 - 1}",)),
    ("COVID-19", "COVID-20", ("19",)),
    ("10²", "102", ("10",)),
    ("4 March 2021", "5 March 2021", ("4 March 2021",)),
    ("4 March 2021", "4 March 2022", ("4 March 2021",)),
    ("4 March 2021", "4 April 2021", ("4 March 2021",)),
    ("2021-03-04", "2021-03-05", ("2021-03-04",)),
    ("March 4, 2021", "March 2021", ("March 4, 2021",)),
    ("in 2021", "in 2012", ("2021",)),
    ("4 parts", "on March 4, 2021", ("4",)),
    ("the 1990s", "1990", ("1990s",)),
    ("at 10:30", "at 10:31", ("10:30",)),
    ("EIP-1559", "EIP-1558", ("1559",)),
    ("sha256", "sha512", ("sha256",)),
    ("1, 2 and 5", "1, 2 and 3", ("5",)),
]


@pytest.mark.parametrize(("claim", "evidence"), CARRIED)
def test_carried(claim: str, evidence: str) -> None:
    assert missing(claim, [evidence]) == ()


@pytest.mark.parametrize(("claim", "evidence", "absent"), NOT_CARRIED)
def test_not_carried(claim: str, evidence: str, absent: tuple[str, ...]) -> None:
    assert missing(claim, [evidence]) == absent


@pytest.mark.parametrize(
    ("head", "row", "absent"),
    [
        ("| Species | Tonnes | Change (%) |", "| Mackerel | 5,340 | +6.5 |", []),
        ("| Species | Tonnes | Change |", "| Mackerel | 5,340 | +6.5 |", ["6.5 %"]),
        ("| Species | Share (%) | Change |", "| Mackerel | 5,340 | +6.5 |", ["6.5 %"]),
    ],
)
def test_a_row_is_read_under_a_header_in_per_cent_that_stands_before_it(head: str, row: str, absent: list[str]) -> None:
    before = f"Landings.\n\n{head}\n|---|---|---|\n| Cod | 1 | 2 |\n"
    around = {"S1.0": Surroundings(id="S1.0", before=before, after="")}
    held = ClaimEvidence(passages=(passage("S1.0", row),), sources={}, surroundings=around)
    found = examine("Mackerel rose by 6.5 % to 5,340 tonnes.", held)
    assert [each.slot.text for each in found if each.veto] == absent


def test_any_of_several_passages_will_do() -> None:
    assert missing("37 of 90", ["37 were found", "there were 90"]) == ()
    assert missing("37 of 91", ["37 were found", "there were 90"]) == ("91",)


def test_identifiers_may_come_from_what_the_document_is_called_and_bare_numbers_not() -> None:
    assert missing("PEP 6 was superseded", ["This PEP was superseded"], ["PEP 6 – Bug Fix Releases"]) == ()
    assert missing("PEP 6 was superseded", ["This PEP was superseded"], ["https://peps.example/pep-0006/"]) == ()
    assert missing("PEP 8 was superseded", ["This PEP was superseded"], ["PEP 6"]) == ("8",)
    assert missing("There were 6", ["There were some"], ["PEP 6"]) == ("6",)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_an_integer_is_carried_by_itself_alone(one: int, other: int) -> None:
    assert missing(f"there are {one:,} of them", [f"there are {one} of them"]) == ()
    if one != other:
        assert missing(f"there are {one:,} of them", [f"there are {other} of them"]) != ()


DATES = st.dates(min_value=date(1000, 1, 1))


@given(DATES, DATES)
def test_a_date_is_carried_in_every_form_by_itself_alone(one: date, other: date) -> None:
    forms = ["%Y-%m-%d", "%-d %B %Y", "%B %-d, %Y", "%d-%b-%Y"]
    for claim in forms:
        for evidence in forms:
            text = f"It was on {one:{claim}} that"
            assert missing(text, [f"dated {one:{evidence}} there"]) == ()
            assert (missing(text, [f"dated {other:{evidence}} there"]) == ()) == (one == other)


@given(st.text(alphabet="0123456789.,-–+%$€ kmb/:'年月日万ndthrs\nMarch", max_size=40) | st.text(max_size=40))
def test_tokens_ascend_and_text_carries_its_own(text: str) -> None:
    folded = fold_text(text).text
    at = 0
    for token in tokens(folded):
        assert at <= token.start < token.end <= len(folded)
        at = token.end
        assert isinstance(token, Day) or any(sign.isdecimal() for sign in token.text) or isinstance(token, Amount)
    assert missing(text, [text]) == ()


@pytest.mark.parametrize(
    ("claim", "text", "verdict", "reason"),
    [
        ("Sales were 5 million in 2024.", "Sales were 5 million in FY24.", "unchecked", "'2024', the text says 'FY24'"),
        (
            "Sales were 5 million in 2024.",
            "Sales were 5 million in fiscal year 2024.",
            "unchecked",
            "'2024', the text says 'fiscal year 2024'",
        ),
        ("Sales were 5 million in FY24.", "Sales were 5 million in 2024.", "unchecked", "'FY24', the text says '2024'"),
        (
            "Sales were 5 million in fiscal year 2024.",
            "Sales were 5 million by 24 March 2024.",
            "unchecked",
            "'fiscal year 2024', the text says '24 March 2024'",
        ),
        (
            "Sales were 5 million in 2024.",
            "Sales were 5 million in FY24. The board met in 2024.",
            "unchecked",
            "'2024', the text says 'FY24'",
        ),
        ("Sales were 5 million in 2024.", "Sales were 5 million in 2024. The board met in FY24.", "quoted", ""),
        ("In 2024 sales were 5 million.", "Sales were 5 million in 2024. The board met in FY24.", "supported", ""),
        ("In fiscal 2024 sales were 5 million.", "Sales were 5 million in fiscal year 2024.", "supported", ""),
        ("Sales were 5 million in FY24.", "In the 2024 Fiscal Year, sales were 5 million.", "unchecked", "the nearest"),
        (
            "Sales in fiscal 2024 were 5 million.",
            "Sales in fiscal years 2023 and 2024 were 5 million.",
            "supported",
            "",
        ),
        (
            "Sales were 5 million in 2024.",
            "Sales were 5 million in the 2024 financial year.",
            "unchecked",
            "'2024', the text says '2024 financial year'",
        ),
        ("Sales were 5 million in FY2024/25.", "In 2024-25, sales were 5 million.", "unchecked", "the nearest"),
        ("Sales were 5 million in 2023/24.", "Sales were 5 million in FY2024/25.", "contradicted", "'2023/24'"),
        ("Sales were 5 million in 2024.", "Sales were 5 million in 2024/25.", "unchecked", "the text says '2024/25'"),
        ("Sales were 5 million in FY25.", "Sales were 5 million in FY2024/25.", "unchecked", "'FY2024/25'"),
        ("FY24 ended on 30 June 2024.", "On 30 June 2024, FY24 ended.", "supported", ""),
        ("Sales were 5 million in 2023.", "Sales were 5 million in FY24.", "contradicted", "'2023'"),
        ("Sales were 6 million in 2024.", "Sales were 5 million in FY24.", "contradicted", "'6 million'"),
        ("It was built in the 21st century.", "It was built in FY24.", "unsupported", "its words"),
    ],
)
def test_a_fiscal_year_is_no_calendar_year(claim: str, text: str, verdict: str, reason: str) -> None:
    decision = decide(claim, text)
    assert decision.verdict == verdict, decision
    assert reason in decision.reasons[0]
    by_code = check_by_code(claim, text_evidence(text), has_markers=True)
    assert by_code.verdict == verdict
    assert by_code.rule == decision.rule
