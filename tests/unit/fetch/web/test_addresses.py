from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ConfigError
from assay.fetch.web.addresses import METADATA_ADDRESSES, PUBLIC, parse_policy, refusal_reason

FORBIDDEN_4 = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.1.1", "172.16.0.1", "172.31.255.255",
    "192.0.0.8", "192.168.0.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "169.254.169.254", "100.100.100.200",
]  # fmt: skip
FORBIDDEN_6 = [
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::127.0.0.1", "2001:db8::1",
    "100::1", "5f00::1", "fec0::1",
]  # fmt: skip
GOOD = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2a00:1450:4001:82a::200e",
    "172.32.0.1",
    "9.9.9.9",
]


@pytest.mark.parametrize("address", FORBIDDEN_4 + FORBIDDEN_6)
def test_what_is_not_public_is_refused(address: str):
    assert refusal_reason(address, PUBLIC, named=False)


@pytest.mark.parametrize("address", GOOD)
def test_what_is_public_is_not(address: str):
    assert refusal_reason(address, PUBLIC, named=False) == ""


@pytest.mark.parametrize("inner", FORBIDDEN_4)
def test_no_ipv6_address_stands_for_a_refused_one(inner: str):
    number = int(IPv4Address(inner))
    high, low = number >> 16, number & 0xFFFF
    mapped = [
        f"::ffff:{inner}",
        f"::{inner}",
        f"64:ff9b::{inner}",
        f"64:ff9b:1::{inner}",
        f"2002:{high:x}:{low:x}::1",
        f"2606:4700::5efe:{inner}",
        f"2606:4700::200:5efe:{inner}",
        f"2001:0:{0x08080808 >> 16:x}:{0x0808:x}::{(number ^ 0xFFFFFFFF) >> 16:x}:{(number ^ 0xFFFFFFFF) & 0xFFFF:x}",
    ]
    assert [address for address in mapped if not refusal_reason(address, PUBLIC, named=False)] == []


def test_a_user_may_name_hosts_and_networks():
    named = parse_policy(["wiki.corp", "localhost:8080", "10.1.0.0/16", "[::1]"])
    assert named.is_named("WIKI.corp", 443)
    assert named.is_named("localhost", 8080)
    assert not named.is_named("localhost", 8081)
    assert named.is_named("::1", 80)
    assert parse_policy(["[::1]:8080"]).is_named("::1", 8080)
    assert parse_policy(["Bücher.example:8080"]).is_named("xn--bcher-kva.example", 8080)
    assert parse_policy(["bücher.example"]).is_named("xn--bcher-kva.example", 443)
    assert refusal_reason("10.1.2.3", named, named=False) == ""
    assert refusal_reason("::ffff:10.1.2.3", named, named=False) == ""
    assert refusal_reason("10.2.2.3", named, named=False)
    assert refusal_reason("192.168.0.1", named, named=True) == ""


@pytest.mark.parametrize("address", sorted(map(str, METADATA_ADDRESSES)))
def test_nobody_may_name_the_metadata_service(address: str):
    everything = parse_policy(["0.0.0.0/0", "::/0"])
    assert refusal_reason(address, everything, named=True)


def test_a_wrong_entry_is_told():
    with pytest.raises(ConfigError, match=r"10\.1/99"):
        parse_policy(["10.1/99"])


@given(st.ip_addresses(v=4).map(str))
def test_an_ipv4_address_is_let_through_only_if_it_is_global(address: str):
    if refusal_reason(address, PUBLIC, named=False) == "":
        known = IPv4Address(address)
        assert known.is_global
        assert not known.is_multicast
        assert not known.is_private


@given(st.text(max_size=30))
def test_any_text_is_judged(text: str):
    assert refusal_reason(text, PUBLIC, named=True) == "" or refusal_reason(text, PUBLIC, named=False)
