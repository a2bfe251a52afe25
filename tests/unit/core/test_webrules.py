"""What of the web a run may use: domains, days, a country."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.languages import country_name
from assay.core.web_addresses import ANYTHING, WebRules
from assay.services.arguments import make_rules


def test_domains_hold_what_is_below_them():
    rules = make_rules(domains=["gov.uk", "https://Example.ORG/"], denied=["*.bad.gov.uk"])
    assert rules.domains == ("gov.uk", "example.org")
    assert not rules.refusal_reason("https://www.gov.uk/x")
    assert not rules.refusal_reason("http://example.org:8080/")
    assert rules.refusal_reason("https://notgov.uk/") == "not of gov.uk, example.org"
    assert rules.refusal_reason("https://a.bad.gov.uk/x") == "bad.gov.uk was left out by request"
    assert rules.refusal_reason("javascript:alert(1)") == "not an address"


def test_a_domain_is_known_in_its_other_notation():
    assert make_rules(denied=["bücher.de"]).host_refusal_reason("www.xn--bcher-kva.de")


@pytest.mark.parametrize(
    ("since", "until", "published", "why"),
    [
        ("2024", "", "2023-12-31", "published 2023-12-31, before 2024-01-01"),
        ("2024", "", "2024-01-01", ""),
        ("2024-02-10", "", "2024", ""),
        ("2024-02-10", "", "2024-02", ""),
        ("2024-02-10", "", "2024-02-09T23:00:00", "published 2024-02-09, before 2024-02-10"),
        ("", "2024-02", "2024-02-29", ""),
        ("", "2024-02", "2024-03", "published 2024-03, after 2024-02-29"),
        ("", "2023", "2024", "published 2024, after 2023-12-31"),
        ("2024", "2024", "", ""),
        ("2024", "2024", "9999-99-99", ""),
        ("2024", "2024", "yesterday", ""),
    ],
)
def test_days(since: str, until: str, published: str, why: str):
    assert make_rules(since=since, until=until).refusal_reason("https://a.org/", published) == why


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"domains": ["exa mple.org"]}, "not a domain"),
        ({"domains": ["example.org/path"]}, "not a domain"),
        ({"denied": ["localhost"]}, "not a domain"),
        ({"denied": ["ftp://a.org"]}, "not a domain"),
        ({"since": "last week"}, "not a date: write a day"),
        ({"until": "2024-13"}, "not a date: write a day"),
        ({"since": "2024-02-30"}, "not a date: write a day"),
        ({"since": "2024", "until": "2023"}, "--until 2023-12-31 is before --since 2024-01-01"),
        ({"domains": ["a.b.org"], "denied": ["b.org"]}, "both included and excluded"),
        ({"country": "Germany"}, "no country 'Germany'; write two letters"),
        ({"country": "qq"}, "no country"),
        ({"country": "zz"}, "no country 'zz'"),  # an unknown one
        ({"country": "EU"}, "no country 'EU'"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object], message: str):
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        make_rules(**wrong)  # type: ignore[arg-type]


def test_countries():
    assert make_rules(country="DE").country == "de"
    assert make_rules(country="uk").country == "gb"
    assert country_name("de") == "Germany"
    assert country_name("") == ""


@given(st.text(), st.text())
def test_no_rules_refuse_no_page_and_nothing_breaks(host: str, published: str):
    assert ANYTHING.host_refusal_reason(host) == ""
    assert ANYTHING.refusal_reason("https://a.org/", published) == ""
    WebRules(since="2024-01-01", until="2024-12-31", domains=("a.org",)).refusal_reason(host, published)


@given(st.dates(), st.dates())
def test_a_day_is_let_through_when_it_is_not_before(since: object, day: object):
    refused = make_rules(since=str(since)).refusal_reason("https://a.org/", str(day))
    assert bool(refused) == (str(day) < str(since))
