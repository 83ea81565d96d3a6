"""Which addresses a customer may give: https, a public host name, nothing that two programs could read differently.

What is refused here is refused with a sentence, when it is set. It protects nobody: a name can lead anywhere by the
time that it is called, so `public.py` judges the IP address in each call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_LENGTH = 500
PORT = 443

# Printable ASCII without what one parser drops and another keeps (WHATWG URL's tabs and backslashes).
_PRINTABLE = re.compile(r"[!-\[\]-~]+", re.ASCII)
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter: otherwise a host may be an IP address (WHATWG URL, "ends in a number").
_HOST = re.compile(rf"({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?", re.ASCII)
# Names that lead nowhere but into somebody's own network (RFC 6761, 6762, 8375; ICANN's .internal, 2024).
_PRIVATE_ENDINGS = frozenset(
    {"localhost", "local", "internal", "arpa", "onion", "lan", "home", "corp", "test", "invalid"}
)


@dataclass(frozen=True, slots=True)
class Target:
    """An address taken apart, once. path: with its query, as it goes over the wire."""

    host: str
    path: str


def target_of(url: str) -> Target:
    """Return where a webhook's address leads. Raises: ValueError, with what to change."""
    if len(url) > MAX_LENGTH:
        raise ValueError(f"give an address of at most {MAX_LENGTH} characters")
    if not _PRINTABLE.fullmatch(url):
        raise ValueError("write it in printable ASCII without spaces; names of other scripts as xn--…, the rest as %XX")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("it is no address; write it like https://hooks.example.com/paceline") from None
    if parts.scheme != "https":
        raise ValueError("it begins with https://: what is signed is to be encrypted too")
    if "@" in parts.netloc:
        raise ValueError("leave the user name and password out: requests are signed instead")
    if port not in (None, PORT) or parts.netloc.endswith(":"):
        raise ValueError(f"leave the port out: requests go to {PORT}")
    if "#" in url:
        raise ValueError("leave the part from # on out: it would never be sent")
    return Target(_host(parts.hostname or ""), (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def _host(name: str) -> str:
    if len(name) > 253 or not _HOST.fullmatch(name):
        raise ValueError("give a host by its full name, such as hooks.example.com: no IP address, no dot at the end")
    if name.rpartition(".")[2] in _PRIVATE_ENDINGS:
        raise ValueError("give a host that the internet knows: names with this ending lead into a private network")
    return name


def checked_url(url: str) -> str:
    """Return the address as it was given. Raises: ValueError, with what to change."""
    target_of(url)
    return url
