"""Which IP addresses a webhook may be called at: those of the public internet, and no way round through them.

Source: IANA's special-purpose address registries, as `ipaddress` has them, and the forms that carry another address.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# 6to4's relays (RFC 7526): a packet to them goes on to the address inside it.
_RELAYS = IPv4Network("192.88.99.0/24")
# All that is handed out to hosts. Outside it are loopback, link-local and unique local addresses (AWS's fd00:ec2::254),
# multicast, and the forms that carry an IPv4 address: mapped, compatible, NAT64.
_HOSTS = IPv6Network("2000::/3")
# Within it: 6to4 and Teredo carry an IPv4 address too; nobody's web server needs them.
_CARRIERS = (IPv6Network("2002::/16"), IPv6Network("2001::/32"))


def is_public(text: str) -> bool:
    """Tell whether an IP address, as a resolver gives it, is a single host's on the public internet."""
    try:
        address = ip_address(text)  # the one spelling: no octal, hexadecimal, short or decimal forms
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        return _is_public_v6(address)
    return _is_public_v4(address)


def _is_public_v4(address: IPv4Address) -> bool:
    # is_global says yes to multicast: it reaches further than one host.
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _RELAYS


def _is_public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _HOSTS:
        return False
    return address.is_global and not any(address in network for network in _CARRIERS)
