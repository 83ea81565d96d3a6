"""Only a single host on the public internet may be called, in whatever form an address carries another."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.webhooks.public import is_public


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "2a00::1"])
def test_a_public_host_may_be_called(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 (judged, not bound)
        "10.1.2.3",
        "100.64.0.1",  # carrier-grade NAT; inside AWS too
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",  # the metadata service
        "169.254.170.2",  # a container's credentials
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",  # 6to4's relays
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",  # IPv4-compatible
        "::ffff:10.0.0.1",  # IPv4-mapped
        "::ffff:93.184.216.34",  # mapped to a public one: no resolver of a customer's has a reason to say so
        "64:ff9b::a00:1",  # NAT64 of 10.0.0.1
        "64:ff9b:1::a00:1",
        "100::1",
        "2001::1",  # Teredo
        "2001:db8::1",
        "2002:a00:1::1",  # 6to4 of 10.0.0.1
        "2002:a9fe:a9fe::1",  # 6to4 of the metadata service
        "fc00::1",
        "fd00:ec2::254",  # the metadata service
        "fe80::1",
        "fe80::1%eth0",
        "2606:2800:220:1:248:1893:25c8:1946%eth0",
        "fec0::1",
        "ff02::1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1 ",
        "localhost",
        "",
    ],
)
def test_no_other_address_may_be_called(address: str) -> None:
    assert not is_public(address)


CARRIERS = {
    "compatible": lambda number: number,
    "mapped": lambda number: 0xFFFF << 32 | number,
    "NAT64": lambda number: 0x64_FF9B << 96 | number,
    "6to4": lambda number: 0x2002 << 112 | number << 80 | 1,
    "Teredo": lambda number: 0x2001_0000 << 96 | (number ^ 0xFFFF_FFFF),
}


@pytest.mark.parametrize("carrier", CARRIERS)
@given(number=st.integers(0, 2**32 - 1))
def test_no_form_that_carries_an_ipv4_address_may_be_called(carrier: str, number: int) -> None:
    assert not is_public(str(IPv6Address(CARRIERS[carrier](number))))


@given(number=st.integers(0, 2**32 - 1))
def test_an_ipv4_address_that_may_be_called_is_global_and_one_hosts(number: int) -> None:
    address = IPv4Address(number)

    if is_public(str(address)):
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved
