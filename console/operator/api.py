"""The API as a command calls it: an operator's key, time-outs, and each refusal as a sentence that says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

import click
import httpx

# A plan or an import takes the API most; its gateway gives up after 30 s.
_TIMEOUT = httpx.Timeout(35, connect=5)
_PAGE = 99


class Refused(click.ClickException):
    """The API would not do it: a rule forbids it, or somebody changed the thing first. Exit status 1."""

    exit_code = 1


class NoAnswer(click.ClickException):
    """It cannot be told: no such thing, a key that is not taken, an API that is not reached. Exit status 2."""

    exit_code = 2
    status: int | None = None  # of the API's answer, where there was one


class Api:
    """Paceline's API at an address. Each call raises Refused or NoAnswer, with what to do.

    transport: how it is reached; None: over the network.
    """

    def __init__(self, url: str, key: str, transport: httpx.BaseTransport | None = None) -> None:
        self._url = _checked(url)
        if not key:
            raise NoAnswer("Which key? Set PACELINE_KEY (or give --key) to an operator's; `paceline up` prints one.")
        headers = {"x-api-key": key}
        self._client = httpx.Client(base_url=self._url, headers=headers, timeout=_TIMEOUT, transport=transport)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Return what is at a path. query: what is None is left out."""
        return self._call("GET", path, params={name: value for name, value in query.items() if value is not None})

    def post(self, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Ask for something to be done."""
        return self._call("POST", path, json=body, headers=headers)

    def patch(self, path: str, body: object, **headers: str) -> dict[str, Any]:
        """Change something."""
        return self._call("PATCH", path, json=body, headers=headers)

    def every(self, path: str, name: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield all of a list that comes in pages. name: the list's, in the answer."""
        after = None
        while True:
            page = self.get(path, limit=_PAGE, after=after, **query)
            yield from page[name]
            if (after := page["next"]) is None:
                return

    def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **request)
        except httpx.ConnectError as error:
            raise NoAnswer(
                f"Nothing answers at {self._url}: is the address right, or `paceline up` running?"
            ) from error
        except httpx.TimeoutException as error:
            raise NoAnswer(f"{self._url} did not answer in time{_unsure(method)}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NoAnswer(f"{self._url} does not answer as it should ({error}){_unsure(method)}") from error
        content = _content(answer)
        if answer.is_success and content is not None:
            return content
        refusal = _refusal(answer.status_code, content, self._url)
        if isinstance(refusal, NoAnswer):
            refusal.status = answer.status_code
        raise refusal


def at(*parts: str) -> str:
    """Return a path of the API, each part as it may stand in an address."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _checked(url: str) -> str:
    if not url:
        raise NoAnswer(
            "Which API? Set PACELINE_URL (or give --url): the stack's output ApiUrl, or what `paceline up` prints."
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NoAnswer(f"{url!r} is no address of an API; write it like http://127.0.0.1:4600.")
    if parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise NoAnswer(f"{url} would carry your key unencrypted: use https (http only reaches this machine itself).")
    return url.rstrip("/").removesuffix("/v1")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _content(answer: httpx.Response) -> dict[str, Any] | None:
    try:
        found = json.loads(answer.content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _unsure(method: str) -> str:
    return "." if method == "GET" else ": it may be done or not. Look, then try again."


def _refusal(status: int, content: dict[str, Any] | None, url: str) -> click.ClickException:
    """Return the refusal in a sentence. Problem details have `detail`; API Gateway's own answers only `message`."""
    detail = str((content or {}).get("detail") or "")
    match status:
        case 401:
            return NoAnswer("The API saw no key: set PACELINE_KEY, or give --key.")
        case 403 if not detail:
            return NoAnswer(
                "The API does not take this key: it is unknown there, or was revoked. Is it of this system?"
            )
        case 403:
            return NoAnswer(f"{detail} Your key is a customer's: set PACELINE_KEY to an operator's.")
        case 404:
            return NoAnswer(
                detail or f"There is no such address at {url}: is that Paceline's API, and of this version?"
            )
        case 409:
            return Refused(f"{detail} Look at it again, then decide.")
        case 422:
            return Refused(detail or "The API refused the request.")
        case 429:
            return NoAnswer("Too many requests at once; nothing was done. Wait some seconds, then try again.")
        case 503:
            return NoAnswer(detail or "The API is busy: it may be done or not. Look, then try again in some seconds.")
        case _ if detail:
            return NoAnswer(detail)
    return NoAnswer(f"{url} answered {status}, not as Paceline's API does.")
