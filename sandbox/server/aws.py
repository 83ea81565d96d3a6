"""One endpoint for all of AWS: who answers which request."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

from sandbox.deployment import REGION
from sandbox.gateway import Answer
from sandbox.server.answers import error_for
from sandbox.server.json_service import answer_items, answer_workflows, is_item_operation
from sandbox.server.lambda_service import answer_invoke, is_invoke
from sandbox.server.moto_service import answer_moto
from sandbox.server.requests import Request
from sandbox.world import Sandbox

_READS = ("Get", "List", "Describe", "Validate", "Estimate", "Simulate")
# After a write to one of these, what the roles allow may be another.
_CHANGES_ROLES = frozenset({"iam", "cloudformation"})


@dataclass
class AwsEndpoint:
    """Answers AWS's requests. Its methods run as tasks of the sandbox's scheduler."""

    sandbox: Sandbox

    def answer(self, service: str, request: Request) -> Answer:
        """Answer a request for a service (its signing name)."""
        if service == "states":
            return answer_workflows(self.sandbox.workflows, request)
        if service == "dynamodb" and is_item_operation(request):
            return answer_items(self.sandbox.dynamodb, request)
        if service == "lambda" and is_invoke(request):
            return answer_invoke(self.sandbox, request)
        answer = answer_moto(service, REGION, request)
        if service in _CHANGES_ROLES and answer.status < 400 and not _only_reads(request):
            return self._with_new_roles(service, answer)
        return answer

    def _with_new_roles(self, service: str, answer: Answer) -> Answer:
        try:
            self.sandbox.permissions.read_again()
        except ValueError as error:
            message = f"{error}; the roles are taken as they were before"
            return error_for(service, False, 400, "NotSupportedBySandbox", message)
        return answer


def _only_reads(request: Request) -> bool:
    action = parse_qs(request.body.decode(errors="replace")).get("Action", [""])[0]
    return action.startswith(_READS)
