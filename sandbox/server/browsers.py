"""Web pages are kept out: a browser on this machine lets any page in it send requests here.

No signature is verified, so a page of anybody's could do everything: by a form, by an image, or, once its own name
leads to 127.0.0.1 (DNS rebinding), by reading the answers too. What programs send looks different: it names this
machine, and no page that it comes from.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from sandbox.server.requests import Request, aws_service

# How containers call the machine that they run on.
_OF_CONTAINERS = frozenset({"host.docker.internal", "gateway.docker.internal"})


def refusal_of_page(request: Request, own_host: str) -> str:
    """Return why a request is refused, in a sentence; "" where it is none of a web page elsewhere.

    own_host: the name or address that the server was told to listen on.
    """
    host = request.headers.get("host", "")
    if host and not _is_ours(_name_of(f"//{host}"), own_host):
        return f"This is the Paceline sandbox, and {host[:100]!r} is no name of it: call it by the address it printed."
    origin = request.headers.get("origin")
    if origin is not None:
        is_of_here = origin == f"http://{host}" or _is_loopback(_name_of(origin))
        return "" if is_of_here else "The Paceline sandbox takes no requests from web pages elsewhere."
    if request.headers.get("sec-fetch-site") == "cross-site" and not _is_followed_link(request):
        return "The Paceline sandbox takes no requests from web pages elsewhere."
    return ""


def _is_followed_link(request: Request) -> bool:
    """Tell whether somebody opened a page of ours; AWS's operations are no pages, though a link can name one."""
    is_opened = request.headers.get("sec-fetch-mode") == "navigate" and request.method == "GET"
    return is_opened and not request.query and aws_service(request) is None


def _name_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_ours(name: str, own_host: str) -> bool:
    """Tell whether a host is one that no page elsewhere can have: rebinding needs a name of its owner's."""
    return name == own_host.lower() or name in _OF_CONTAINERS or _is_localhost(name) or _is_address(name)


def _is_localhost(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")  # S3's buckets are names below it


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


def _is_loopback(name: str) -> bool:
    return _is_localhost(name) or (_is_address(name) and ip_address(name).is_loopback)
