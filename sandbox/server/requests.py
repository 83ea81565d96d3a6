"""An HTTP request as it came in, and whom it is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs

_CREDENTIAL = re.compile(r"Credential=[^/\s]+/\d+/[^/]+/([^/]+)/aws4_request")
# Where a request is not signed: the service by what X-Amz-Target begins with.
_TARGETS = {
    "AWSStepFunctions": "states",
    "DynamoDB_20120810": "dynamodb",
    "DynamoDBStreams_20120810": "dynamodb",
    "AWSEvents": "events",
    "secretsmanager": "secretsmanager",
    "Logs_20140328": "logs",
}
_PRESIGNED = ("X-Amz-Signature", "Signature")
PROVIDER_PATH = "/2010-04-01/"
LAMBDA_PATH = "/2015-03-31/functions"


@dataclass(frozen=True)
class Request:
    """path: percent-encoded as sent, without the query. headers: lower-case names."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def target(self) -> str:
        """The operation that X-Amz-Target names, for example StartExecution."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    def parameters(self) -> dict[str, str]:
        """Return the query's first values."""
        return {name: values[0] for name, values in parse_qs(self.query, keep_blank_values=True).items()}


def aws_service(request: Request) -> str | None:
    """Return the signing name of the AWS service that a request is for; None: it is not for AWS.

    Read, in this order, from the signature's scope (never verified), X-Amz-Target, and the shape of S3's and
    Lambda's unsigned requests. The region is not looked at: the sandbox is one region.
    """
    parameters = request.parameters()
    scope = request.headers.get("authorization", "")
    if "X-Amz-Credential" in parameters:
        scope = f"Credential={parameters['X-Amz-Credential']}"
    if (signed := _CREDENTIAL.search(scope)) is not None:
        return signed[1].lower()
    prefix = request.headers.get("x-amz-target", "").partition(".")[0]
    if prefix in _TARGETS:
        return _TARGETS[prefix]
    if request.path.startswith(LAMBDA_PATH):
        return "lambda"
    if any(name in parameters for name in _PRESIGNED) or scope.startswith("AWS "):
        return "s3"
    is_form = request.headers.get("content-type", "").startswith("multipart/form-data")
    return "s3" if request.method == "POST" and is_form and not request.path.startswith("/v1/") else None
