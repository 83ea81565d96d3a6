"""What is not ours: moto's backends of this process, asked over HTTP."""

from __future__ import annotations

import traceback
from urllib.parse import quote

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.models import botocore_stubber

from sandbox.gateway import Answer
from sandbox.server.answers import error_for, request_id
from sandbox.server.requests import Request

# Signing names that are not the first part of the service's host.
_HOSTS = {"eventbridge": "events", "cloudwatch": "monitoring"}
_GLOBAL = frozenset({"iam", "cloudfront", "budgets"})
# They speak of one connection, ours; the host is replaced by AWS's.
_HOP = frozenset({"host", "connection", "transfer-encoding", "expect", "keep-alive"})


def answer_moto(service: str, region: str, request: Request) -> Answer:
    """Answer with moto. In the sandbox's thread only: moto's backends belong to it."""
    is_json = "json" in request.headers.get("content-type", "")
    try:
        answer = botocore_stubber.process_request(_as_botocore(service, region, request))
    except (NotImplementedError, ImportError) as missing:
        message = f"the sandbox (moto) does not have this operation of {service}: {missing}"
        return error_for(service, is_json, 501, "NotSupportedBySandbox", message)
    except Exception:
        message = f"moto's {service} failed: {traceback.format_exc(limit=-3)}"
        return error_for(service, is_json, 501, "NotSupportedBySandbox", message)
    if answer is None or (answer[0] == 404 and answer[2] == "Not yet implemented"):
        message = f"the sandbox (moto) has no service {service!r}"
        return error_for(service, is_json, 501, "NotSupportedBySandbox", message)
    status, headers, body = answer
    content = body.encode() if isinstance(body, str) else bytes(body or b"")
    sent = {name.lower(): str(value) for name, value in headers.items() if name.lower() not in _HOP}
    if request.method != "HEAD":
        sent.pop("content-length", None)
    return Answer(int(status), {"x-amzn-requestid": request_id()} | sent, content)


def _as_botocore(service: str, region: str, request: Request) -> AWSPreparedRequest:
    """Return the request as one to AWS's own host."""
    name = _HOSTS.get(service, service)
    host = f"{name}.amazonaws.com" if name in _GLOBAL else f"{name}.{region}.amazonaws.com"
    path = request.path
    if service == "s3" and (bucket := _bucket_in_host(request)):
        path = f"/{quote(bucket)}{path}"
    headers = HTTPHeaders()
    for header, value in request.headers.items():
        if header not in _HOP:
            headers[header] = value
    url = f"https://{host}{path}" + (f"?{request.query}" if request.query else "")
    return AWSPreparedRequest(request.method, url, headers, request.body, stream_output=False)


def _bucket_in_host(request: Request) -> str:
    """Return the bucket that a virtual-hosted address names: bucket.localhost, bucket.s3.localhost."""
    name = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    return name.removesuffix(".localhost").removesuffix(".s3") if name.endswith(".localhost") else ""
