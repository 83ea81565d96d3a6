"""A webhook's address names a public host over https, in one spelling that every program reads alike."""

from __future__ import annotations

import pytest

from paceline.webhooks.urls import MAX_LENGTH, Target, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://hooks.example.com", Target("hooks.example.com", "/")),
        ("https://hooks.example.com/a/b?key=1%20@2", Target("hooks.example.com", "/a/b?key=1%20@2")),
        ("HTTPS://Hooks.Example.COM:443/", Target("hooks.example.com", "/")),
        pytest.param("https://xn--bcher-kva.example/", Target("xn--bcher-kva.example", "/"), id="IDN as it is sent"),
        pytest.param(
            "https://hooks.example.com?@10.0.0.1", Target("hooks.example.com", "/?@10.0.0.1"), id="@ in query"
        ),
    ],
)
def test_an_address_is_taken_apart_once(url: str, target: Target) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://hooks.example.com/", "https://"),
        ("ftp://hooks.example.com/", "https://"),
        ("//hooks.example.com/", "https://"),
        ("hooks.example.com", "https://"),
        ("https:hooks.example.com", "full name"),
        ("https:///hooks", "full name"),
        pytest.param("https://ana:secret@hooks.example.com/", "password", id="credentials"),
        pytest.param("https://hooks.example.com@10.0.0.1/", "password", id="a host as user name"),
        pytest.param("https://@hooks.example.com/", "password", id="an empty user name"),
        pytest.param("https://hooks.example.com\\@10.0.0.1/", "ASCII", id="a backslash: a slash for browsers"),
        pytest.param("https://hooks.example.com#@10.0.0.1/", "#", id="an @ behind the #"),
        pytest.param("https://hooks.exa\tmple.com/", "ASCII", id="a tab, which some parsers drop"),
        pytest.param("https://hooks.example.com/\r\nx: y", "ASCII", id="a header in the path"),
        pytest.param(" https://hooks.example.com/", "ASCII", id="a space in front"),
        pytest.param("https://bücher.example/", "ASCII", id="IDN in its own script"),
        pytest.param("https://hooks.example。com/", "ASCII", id="an ideographic full stop"),
        pytest.param("https://①②⑦.0.0.1/", "ASCII", id="digits that normalise to 127"),
        ("https://hooks.example.com:8443/", "port"),
        ("https://hooks.example.com:/", "port"),
        ("https://hooks.example.com:x/", "no address"),
        ("https://[::1/", "no address"),
        pytest.param("https://hooks.example.com./", "dot at the end", id="a dot at the end"),
        pytest.param("https://93.184.216.34/", "IP address", id="a public IPv4 address"),
        ("https://127.0.0.1/", "IP address"),
        ("https://10.0.0.1/", "IP address"),
        ("https://169.254.169.254/", "IP address"),
        pytest.param("https://2130706433/", "IP address", id="127.0.0.1 as one number"),
        pytest.param("https://0x7f000001/", "IP address", id="127.0.0.1 in hexadecimal"),
        pytest.param("https://0x7f.0.0.0x1/", "IP address", id="127.0.0.1 in hexadecimal, by parts"),
        pytest.param("https://017700000001/", "IP address", id="127.0.0.1 in octal"),
        pytest.param("https://0177.0.0.01/", "IP address", id="127.0.0.1 in octal, by parts"),
        pytest.param("https://127.1/", "IP address", id="127.0.0.1, short"),
        pytest.param("https://hooks.127.0.0.0x1/", "IP address", id="a name that ends in a number"),
        ("https://[::1]/", "IP address"),
        ("https://[::ffff:10.0.0.1]/", "IP address"),
        ("https://[fe80::1%25eth0]/", "IP address"),
        pytest.param("https://127.0.0.1%2ehooks.example.com/", "full name", id="a dot that is escaped"),
        pytest.param("https://localhost/", "full name", id="localhost"),
        pytest.param("https://hooks/", "full name", id="a name without a dot"),
        ("https://api.localhost/", "private network"),
        ("https://printer.local/", "private network"),
        ("https://instance-data.ec2.internal/", "private network"),
        ("https://1.0.0.127.in-addr.arpa/", "private network"),
        ("https://-hooks.example.com/", "full name"),
        ("https://hooks..example.com/", "full name"),
        (f"https://{'a' * 64}.example.com/", "full name"),
        (f"https://{'a.' * 130}com/", "full name"),
        (f"https://hooks.example.com/{'a' * MAX_LENGTH}", "500 characters"),
        ("", "ASCII"),
    ],
)
def test_an_address_that_leads_elsewhere_or_can_be_read_in_two_ways_is_refused(url: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        target_of(url)
