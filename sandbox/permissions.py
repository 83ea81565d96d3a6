"""What each role may do, as the template says: a call that it does not allow is refused, as on AWS.

Read: Effect, Action, Resource with `*` and `?`. A statement with anything else (Condition, NotAction, ...) is refused
when the sandbox starts, never ignored.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

from moto.iam.models import iam_backends

_KNOWN = {"Sid", "Effect", "Action", "Resource"}


class NotAllowed(Exception):
    """A role's policies do not allow a call."""

    def __init__(self, who: str, action: str, resource: str) -> None:
        super().__init__(
            f"{who} is not allowed to call {action} on {resource}: no statement of its role in template.yaml allows it"
        )
        self.who, self.action, self.resource = who, action, resource


def _document(document: Any) -> dict[str, Any]:
    """Return a policy document; moto gives one from CloudFormation as text, in Python's spelling or JSON's."""
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except ValueError:
            document = ast.literal_eval(document)
    return dict(document)


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _as_statements(value: Any) -> list[dict[str, Any]]:
    return [value] if isinstance(value, dict) else list(value)


def _pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*", ".*").replace(r"\?", "."), flags | re.S)


@dataclass(frozen=True)
class _Statement:
    allows: bool
    actions: dict[str, re.Pattern[str]]
    resources: dict[str, re.Pattern[str]]

    def covers(self, action: str, resource: str) -> bool:
        return any(p.fullmatch(action) for p in self.actions.values()) and any(
            p.fullmatch(resource) for p in self.resources.values()
        )

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield each action with each resource, as they are written."""
        return product(self.actions, self.resources)


@dataclass
class Permissions:
    """The policies of every role, by the role's ARN, and what calls made of them. refused: (role, action, resource)."""

    account: str
    _roles: dict[str, list[_Statement]] = field(default_factory=dict)
    refused: set[tuple[str, str, str]] = field(default_factory=set)
    _used: set[tuple[str, str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._allowed = lru_cache(maxsize=4096)(self._decide)

    @classmethod
    def of(cls, account: str) -> Permissions:
        """Read the inline policies of an account's roles. Raises: ValueError for a statement it cannot judge."""
        permissions = cls(account)
        permissions.read_again()
        return permissions

    def read_again(self) -> None:
        """Take what IAM says now, all of it or, where it cannot be judged, nothing. Raises: ValueError."""
        roles = {}
        for role in iam_backends[self.account]["aws"].roles.values():  # moto's own: a client would ask 30 times
            documents = [_document(policy) for policy in role.policies.values()]
            statements = [s for document in documents for s in _as_statements(document["Statement"])]
            roles[role.arn] = [_read(statement) for statement in statements]
        self._roles = roles
        self._allowed.cache_clear()

    def check(self, role_arn: str, who: str, action: str, resource: str) -> None:
        """Raises: NotAllowed, which names function, action and resource."""
        if not self._allowed(role_arn, action, resource):
            self.refused.add((role_arn, action, resource))
            raise NotAllowed(who, action, resource)

    def may_list(self, role_arn: str, bucket: str) -> bool:
        """Tell whether S3 says to a role that an object is not there; to others it says no more than AccessDenied."""
        return self._allowed(role_arn, "s3:ListBucket", f"arn:aws:s3:::{bucket}")

    def allows(self, role_arn: str, action: str, resource: str) -> bool:
        """Tell whether a role may make a call, without making it."""
        covering = [s for s in self._roles.get(role_arn, []) if s.covers(action, resource)]
        return bool(covering) and all(s.allows for s in covering)

    def unused(self) -> set[tuple[str, str, str]]:
        """Return every (role's ARN, action, resource), as written, that no call until now needed."""
        return {
            (role_arn, action, resource)
            for role_arn, statements in self._roles.items()
            for statement in statements
            for action, resource in statement.pairs()
            if not self._is_used(role_arn, statement.actions[action], statement.resources[resource])
        }

    def _is_used(self, role_arn: str, action: re.Pattern[str], resource: re.Pattern[str]) -> bool:
        return any(r == role_arn and action.fullmatch(a) and resource.fullmatch(on) for r, a, on in self._used)

    def _decide(self, role_arn: str, action: str, resource: str) -> bool:
        self._used.add((role_arn, action, resource))  # once a kind of call: the answer is kept
        return self.allows(role_arn, action, resource)


def _read(statement: dict[str, Any]) -> _Statement:
    if unknown := set(statement) - _KNOWN:
        raise ValueError(f"the sandbox cannot judge a policy statement with {', '.join(sorted(unknown))}")
    return _Statement(
        statement["Effect"] == "Allow",
        {action: _pattern(action, re.I) for action in _as_list(statement["Action"])},
        {resource: _pattern(resource) for resource in _as_list(statement["Resource"])},
    )
