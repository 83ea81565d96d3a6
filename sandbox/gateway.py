"""The HTTP API: the template's routes, turned into Lambda events (payload format 2.0) and back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sandbox.engine import TaskFailed
from sandbox.functions import Functions
from sandbox.scheduler import Scheduler

# API Gateway's own; with the event around it, Lambda takes 6 MB.
MAX_BODY_BYTES = 10 * 1024 * 1024
# "Total combined size of request line and header values", its quota says.
MAX_HEAD_BYTES = 10_240


# The route of whatever no other route takes.
DEFAULT = "$default"
_ANY = "X-AMAZON-APIGATEWAY-ANY-METHOD"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class _Authorizer:
    function: str
    headers: tuple[str, ...]
    ttl_seconds: float


@dataclass(frozen=True)
class _Route:
    method: str
    path: str
    pattern: re.Pattern[str]
    function: str
    authorizer: _Authorizer | None

    @property
    def key(self) -> str:
        return DEFAULT if self.path == DEFAULT else f"{self.method} {self.path}"

    def takes(self, method: str) -> bool:
        return self.method in (method, _ANY)


@dataclass
class Gateway:
    """One HTTP API of the template.

    names: logical to physical function names. watchers: told of the function of each request.
    """

    api_id: str
    definition: dict[str, Any]
    names: dict[str, str]
    functions: Functions
    scheduler: Scheduler
    domain: str
    watchers: list[Callable[[str], None]] = field(default_factory=list)
    _routes: list[_Route] = field(init=False)
    _of_moment: dict[int, int] = field(default_factory=dict)
    _authorized: dict[tuple[str, ...], tuple[float, dict[str, Any] | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        schemes = self.definition.get("components", {}).get("securitySchemes", {})
        authorizers = {name: self._authorizer(scheme) for name, scheme in schemes.items()}
        self._routes = [
            self._route(path, method, operation, authorizers)
            for path, methods in self.definition["paths"].items()
            for method, operation in methods.items()
        ]

    def handle(self, method: str, url: str, headers: dict[str, str], body: bytes = b"") -> Answer:
        """Answer one request. Only inside a task. url: absolute or from the path on."""
        parts = urlsplit(url)
        headers = {name.lower(): value for name, value in headers.items()}
        if len(method) + len(url) + sum(map(len, headers.values())) > MAX_HEAD_BYTES:
            return _HEAD_TOO_LARGE
        found = [(r, m) for r in self._routes if r.takes(method) and (m := r.pattern.fullmatch(parts.path))]
        if not found:
            return _json(404, {"message": "Not Found"})
        if len(body) > MAX_BODY_BYTES:
            return _TOO_LARGE
        route, match = min(found, key=lambda one: one[0].key == DEFAULT)
        for watcher in self.watchers:
            watcher(route.function)
        event = self._event(route, method, parts.path, parts.query, headers, body, match.groupdict())
        if route.authorizer is not None:
            missing = [name for name in route.authorizer.headers if name not in headers]
            try:
                context = None if missing else self._authorize(route.authorizer, event, headers)
            except TaskFailed:
                return _FAILED
            if context is None:
                return _json(401, {"message": "Unauthorized"}) if missing else _json(403, {"message": "Forbidden"})
            event["requestContext"]["authorizer"] = {"lambda": context}
        try:
            return _answer(json.loads(self.functions.invoke(route.function, json.dumps(event))))
        except TaskFailed as failed:
            if failed.error == "Lambda.RequestTooLargeException":
                return _TOO_LARGE
            return _FAILED

    # -- the template's definition --------------------------------------------------------------------------------

    def _function(self, uri: Any) -> str:
        """Return the physical name of the function that an integration's uri names by its logical one."""
        text = json.dumps(uri)
        logical = re.search(r"\$\{(\w+)\.Arn\}", text) or re.search(r'"Fn::GetAtt": \["(\w+)", "Arn"\]', text)
        if logical is None:
            raise ValueError(f"the sandbox cannot tell the function of the integration {uri!r}")
        return self.names[logical[1]]

    def _authorizer(self, scheme: dict[str, Any]) -> _Authorizer:
        settings = scheme["x-amazon-apigateway-authorizer"]
        sources = settings.get("identitySource", [])  # "$request.header.x-api-key"
        headers = tuple(source.split(".")[-1].lower() for source in sources)
        ttl = float(settings.get("authorizerResultTtlInSeconds", 0))
        return _Authorizer(self._function(settings["authorizerUri"]), headers, ttl)

    def _route(self, path: str, method: str, operation: dict[str, Any], authorizers: dict[str, _Authorizer]) -> _Route:
        named = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path))
        pattern = re.compile(".*" if path == DEFAULT else named, re.DOTALL)
        schemes = [name for security in operation.get("security", []) for name in security if name in authorizers]
        function = self._function(operation["x-amazon-apigateway-integration"]["uri"])
        return _Route(method.upper(), path, pattern, function, authorizers[schemes[0]] if schemes else None)

    # -- a request --------------------------------------------------------------------------------------------------

    def _authorize(
        self, authorizer: _Authorizer, event: dict[str, Any], headers: dict[str, str]
    ) -> dict[str, Any] | None:
        """Return the authorizer's context, from its cache where it may be; None: not authorized."""
        key = tuple(headers[name] for name in authorizer.headers)
        until, context = self._authorized.get(key, (0.0, None))
        if self.scheduler.time() < until:
            return context
        seen = {name: value for name, value in event.items() if name not in ("body", "isBase64Encoded")}
        answer = json.loads(self.functions.invoke(authorizer.function, json.dumps(seen | {"type": "REQUEST"})))
        context = answer.get("context", {}) if answer.get("isAuthorized") else None
        if authorizer.ttl_seconds:
            self._remember(key, self.scheduler.time() + authorizer.ttl_seconds, context)
        return context

    def _remember(self, key: tuple[str, ...], until: float, context: dict[str, Any] | None) -> None:
        """Keep what an authorizer said, and nothing that is no longer asked for."""
        now = self.scheduler.time()
        self._authorized = {one: said for one, said in self._authorized.items() if said[0] > now}
        self._authorized[key] = (until, context)

    def _request_id(self) -> str:
        """Return an id that no other request has, those of the same moment too."""
        moment = self.scheduler.microseconds
        self._of_moment[moment] = count = self._of_moment.pop(moment, 0) + 1
        while len(self._of_moment) > 1:
            del self._of_moment[next(iter(self._of_moment))]
        return f"{moment:x}" if count == 1 else f"{moment:x}-{count}"

    def _event(
        self,
        route: _Route,
        method: str,
        path: str,
        query: str,
        headers: dict[str, str],
        body: bytes,
        path_parameters: dict[str, str],
    ) -> dict[str, Any]:
        now = self.scheduler.now()
        try:
            text, is_base64 = body.decode(), False
        except UnicodeDecodeError:
            text, is_base64 = base64.b64encode(body).decode(), True
        event: dict[str, Any] = {
            "version": "2.0",
            "routeKey": route.key,
            "rawPath": path,
            "rawQueryString": query,
            "headers": headers,
            "requestContext": {
                "accountId": "123456789012",
                "apiId": self.api_id,
                "domainName": self.domain,
                "domainPrefix": self.api_id,
                "http": {
                    "method": method,
                    "path": path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": "127.0.0.1",
                    "userAgent": headers.get("user-agent", ""),
                },
                "requestId": self._request_id(),
                "routeKey": route.key,
                "stage": "$default",
                "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
                "timeEpoch": int(now.timestamp() * 1000),
            },
            "isBase64Encoded": is_base64,
        }
        if query:
            event["queryStringParameters"] = dict(parse_qsl(query, keep_blank_values=True))
        if path_parameters:
            event["pathParameters"] = {name: unquote(value) for name, value in path_parameters.items()}
        if body:
            event["body"] = text
        return event


def _json(status: int, body: object) -> Answer:
    return Answer(status, {"content-type": "application/json"}, json.dumps(body).encode())


_FAILED = _json(500, {"message": "Internal Server Error"})
_HEAD_TOO_LARGE = _json(431, {"message": f"The address and the headers have more than {MAX_HEAD_BYTES:,} bytes."})
_TOO_LARGE = _json(413, {"message": "Request Entity Too Large"})


def _answer(result: Any) -> Answer:
    """Return a function's answer as HTTP: its own status, or 200 with the whole value."""
    if not isinstance(result, dict) or "statusCode" not in result:
        return _json(200, result)
    text = result.get("body") or ""
    body = base64.b64decode(text) if result.get("isBase64Encoded") else text.encode()
    headers = {name.lower(): str(value) for name, value in (result.get("headers") or {}).items()}
    for name, values in (result.get("multiValueHeaders") or {}).items():
        headers[name.lower()] = ", ".join(values)
    return Answer(result["statusCode"], headers, body)
