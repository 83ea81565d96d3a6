"""The template deployed to moto, with what an operator makes beside it: what a sandbox begins with.

It is the same for every seed, and takes a third of a second: who plays many worlds deploys once, and plays each world
in a copy of the process.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import boto3
from moto import mock_aws
from moto.moto_api._internal import mock_random

from sandbox.functions import Function
from sandbox.hooks import environment_kept
from sandbox.sessions import a_session
from sandbox.template import Subscribers, aliases_of, events_of, to_text, translate, without_gateway

ROOT = Path(__file__).parent.parent
ACCOUNT, REGION, STACK = "123456789012", "us-east-1", "paceline"


@dataclass(frozen=True)
class Machine:
    """A state machine as the stack has it. alias: that of its newest version; blank where it has none."""

    name: str
    definition: str
    role_arn: str
    alias: str = ""


@dataclass(frozen=True)
class Deployment:
    """One stack. names: physical by logical; apis: the HTTP APIs, which moto leaves to us; topics, subscribers: of SNS.

    provider_secret: the account_sid and auth_token; key_pepper: what API keys are hashed with.
    """

    outputs: dict[str, str]
    names: dict[str, str]
    apis: dict[str, Any]
    functions: list[Function]
    machines: list[Machine]
    topics: dict[str, str]
    subscribers: Subscribers
    provider_secret: dict[str, str]
    key_pepper: bytes


def api_url(api_id: str) -> str:
    """Return where an HTTP API is."""
    return f"https://{api_id}.execute-api.{REGION}.amazonaws.com"


@contextmanager
def deployed(template: Path, seed: int, s3_endpoint: str | None = None) -> Iterator[Deployment]:
    """Deploy a template to a moto of its own, which answers this process's boto3 meanwhile. seed: of its names.

    s3_endpoint: where presigned addresses lead.
    """
    with ExitStack() as undo:
        undo.enter_context(environment_kept())
        os.environ.update(AWS_DEFAULT_REGION=REGION, AWS_ACCESS_KEY_ID="sandbox", AWS_SECRET_ACCESS_KEY="sandbox")  # noqa: S106 (moto takes any)
        _keep_aws_settings_out()
        if s3_endpoint is not None:  # the first for botocore, the second so that moto still answers in process
            os.environ.update(AWS_ENDPOINT_URL_S3=s3_endpoint, MOTO_S3_CUSTOM_ENDPOINTS=s3_endpoint)
        undo.enter_context(mock_aws())
        mock_random.seed(seed)
        boto3.setup_default_session(botocore_session=a_session(REGION))
        undo.callback(setattr, boto3, "DEFAULT_SESSION", None)
        undo.callback(setattr, boto3, "client", boto3.client)
        boto3.client = lru_cache(maxsize=None)(boto3.client)  # a cold start makes four; each takes 20 ms of real time
        yield _deploy(template, seed)


def _keep_aws_settings_out() -> None:
    """Let no profile or endpoint of the person's own decide where the calls made in here go."""
    for name in [name for name in os.environ if name.startswith(("AWS_ENDPOINT_URL", "AWS_PROFILE"))]:
        del os.environ[name]
    os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)


def _deploy(path: Path, seed: int) -> Deployment:
    translated = translate(path, REGION)
    template, apis = without_gateway(translated, api_url("{id}"))
    s3, cloudformation = boto3.client("s3"), boto3.client("cloudformation")
    s3.create_bucket(Bucket="code")
    s3.put_object(Bucket="code", Key="functions.zip", Body=_empty_zip())
    cloudformation.create_stack(StackName=STACK, TemplateBody=to_text(template), Capabilities=["CAPABILITY_IAM"])
    stack = cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
    resources = cloudformation.get_paginator("list_stack_resources").paginate(StackName=STACK)
    names = {
        r["LogicalResourceId"]: r.get("PhysicalResourceId", "") for r in resources.search("StackResourceSummaries")
    }
    for logical, resource in template["Resources"].items():
        if versioning := resource.get("Properties", {}).get("VersioningConfiguration"):  # moto leaves it out
            s3.put_bucket_versioning(Bucket=names[logical], VersioningConfiguration=versioning)
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}
    topics, subscribers = events_of(translated, STACK, names)
    secret, pepper = _create_secrets(seed)
    machines = list(_machines(aliases_of(translated, names)))
    return Deployment(outputs, names, apis, list(_functions()), machines, topics, subscribers, secret, pepper)


def _functions() -> Iterator[Function]:
    pages = boto3.client("lambda").get_paginator("list_functions").paginate()
    for f in pages.search("Functions"):  # their variables are texts, as CloudFormation makes them
        variables = {name: str(value) for name, value in f["Environment"]["Variables"].items()}
        yield Function(
            f["FunctionName"], f["FunctionArn"], f["Handler"], f["Role"], f["Timeout"], f["MemorySize"], variables
        )


def _machines(aliases: Mapping[str, str]) -> Iterator[Machine]:
    client = boto3.client("stepfunctions")
    for machine in client.list_state_machines()["stateMachines"]:
        described = client.describe_state_machine(stateMachineArn=machine["stateMachineArn"])
        alias = aliases.get(machine["stateMachineArn"], "")
        yield Machine(machine["name"], described["definition"], described["roleArn"], alias)


def _create_secrets(seed: int) -> tuple[dict[str, str], bytes]:
    """What an operator makes beside the template: the provider's secret, and what keys and webhooks depend on."""
    provider = {"account_sid": "AC" + "0" * 32, "auth_token": f"sandbox-{seed}"}
    client = boto3.client("secretsmanager")
    client.create_secret(Name="paceline/providers/twilio", SecretString=json.dumps(provider))
    pepper = f"pepper-of-the-sandbox-with-seed-{seed}"
    client.create_secret(Name="paceline/api-keys/pepper", SecretString=pepper)
    master = f"webhook-master-of-the-sandbox-with-seed-{seed}"
    client.create_secret(Name="paceline/webhooks/master", SecretString=master)
    return provider, pepper.encode()


def _empty_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("placeholder"), "the handlers are imported from the working tree")
    return buffer.getvalue()
