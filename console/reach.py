"""Reaching a system from the console: a deployed stack, or the sandbox of `paceline up`, by the same AWS protocols."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import boto3
import click
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
)

from paceline.adapters.dynamodb import DynamoDBTable
from paceline.adapters.s3 import S3Store
from paceline.errors import ServiceFault, ServiceUnavailable

# What template.yaml is deployed as, here and in the sandbox.
STACK = "paceline"
_OUTPUTS = ("TableName", "BucketName", "CampaignStateMachineArn")
_CONFIG = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 5})
# For who asks again by its own rule, and would rather know at once that it is too much.
ONE_TRY = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 1})
_FORBIDDEN = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Forbidden", "403"}
_WHO_IS_IT = {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException"}
F = TypeVar("F", bound=Callable[..., Any])


class CannotReach(click.ClickException):
    """The system cannot be reached, or not with what was given; the text says what to do. Exit status 2."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Where:
    """What a person gave to say which system is meant. Blank: not given."""

    stack: str = ""
    endpoint_url: str = ""
    table: str = ""
    bucket: str = ""
    state_machine: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """A system that can be reached. name: for people. state_machine_arn, api_url: blank where they were not given."""

    name: str
    table: DynamoDBTable
    store: S3Store
    state_machine_arn: str
    client: Callable[..., Any]
    api_url: str = ""

    def execution_arn(self, campaign_id: str) -> str:
        """Return the ARN of the execution that sends a campaign, which has its id; "" where no machine was given."""
        if not self.state_machine_arn:
            return ""
        return f"{self.state_machine_arn.replace(':stateMachine:', ':execution:')}:{campaign_id}"


def reaches_a_system(function: F) -> F:
    """Add the options that say which system is meant; the command gets them as `where`."""

    def command(**given: Any) -> Any:
        names = Where.__dataclass_fields__
        where = Where(**{name: given.pop(name) or "" for name in names})
        return function(where=where, **given)

    command.__doc__, command.__name__ = function.__doc__, function.__name__
    command.__click_params__ = list(getattr(function, "__click_params__", []))  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]


def _option(name: str, metavar: str, text: str) -> Any:
    variable = "PACELINE_" + name.strip("-").upper().replace("-", "_")
    return click.option(name, metavar=metavar, envvar=variable, show_envvar=True, help=text)


_OPTIONS = (
    _option("--stack", "NAME", "The CloudFormation stack; its outputs name the table, bucket and state machine."),
    _option("--endpoint-url", "URL", "The address of `paceline up`, http://127.0.0.1:4600."),
    _option("--table", "NAME", "Instead of a stack: the table."),
    _option("--bucket", "NAME", "Instead of a stack: the bucket."),
    _option("--state-machine", "ARN", "Instead of a stack: the campaigns' state machine."),
    click.option("--region", metavar="NAME", help="The AWS region.  [default: as for the aws command]"),
)


def reach(where: Where) -> System:
    """Return the system that is meant. Raises: CannotReach."""
    endpoint = where.endpoint_url or os.environ.get("AWS_ENDPOINT_URL", "")
    if not (where.stack or endpoint or (where.table and where.bucket)):
        missing = "the table and the bucket" if not (where.table or where.bucket) else "both --table and --bucket"
        raise CannotReach(
            f"Which system? Give --stack NAME (or PACELINE_STACK; the template's own name is {STACK}), or "
            f"--endpoint-url http://127.0.0.1:4600 for `paceline up`, or {missing}."
        )
    with explained(where):
        client = _clients(where, endpoint)
        outputs = {} if where.table and where.bucket else _outputs(client, where.stack or STACK)
        table, bucket, machine = (
            given or outputs.get(name, "")
            for given, name in zip((where.table, where.bucket, where.state_machine), _OUTPUTS, strict=True)
        )
        name = where.endpoint_url or where.stack or table
        rows, objects = DynamoDBTable(client("dynamodb"), table), S3Store(client("s3"), bucket)
        return System(name, rows, objects, machine, client, outputs.get("ApiUrl", ""))


def _clients(where: Where, endpoint: str) -> Callable[..., Any]:
    """Return a function that makes clients (name, config=…).

    An endpoint of one's own takes any key: none needs to be set up for it.
    """
    session = boto3.Session(region_name=where.region or None)
    more: dict[str, Any] = {"config": _CONFIG}
    if endpoint:
        more["endpoint_url"] = endpoint
        if session.region_name is None:
            more["region_name"] = "us-east-1"
        if session.get_credentials() is None:
            more |= {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return lambda service, **chosen: session.client(service, **(more | chosen))


def _outputs(client: Callable[[str], Any], stack: str) -> dict[str, str]:
    try:
        [described] = client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            raise CannotReach(
                f"There is no stack {stack!r} in this account and region. `aws cloudformation list-stacks` lists them; "
                "--region chooses another region, AWS_PROFILE another account."
            ) from error
        raise
    outputs = {one["OutputKey"]: one["OutputValue"] for one in described.get("Outputs", [])}
    if lacking := [name for name in _OUTPUTS if name not in outputs]:
        raise CannotReach(f"The stack {stack!r} has no output {lacking[0]}: it is not Paceline's, or deployed in part.")
    return outputs


@contextmanager
def explained(where: Where) -> Iterator[None]:
    """Turn what AWS's client says into what a person can do about it. Raises: CannotReach."""
    try:
        with _as_aws_said_it():
            yield
    except (EndpointConnectionError, NoCredentialsError, NoRegionError, ProfileNotFound) as error:
        raise CannotReach(_unreachable(error, where)) from error
    except ClientError as error:
        raise CannotReach(_refused(error, where)) from error
    except BotoCoreError as error:  # time-outs, a broken connection, an address that is none
        at = where.endpoint_url or "AWS"
        raise CannotReach(f"{at} does not answer as it should: {error}") from error


@contextmanager
def _as_aws_said_it() -> Iterator[None]:
    """Let an error of AWS's that an adapter put into our words leave as it came: here it is a person who reads it."""
    try:
        yield
    except (ServiceFault, ServiceUnavailable) as error:
        if isinstance(error.__cause__, (ClientError, BotoCoreError)):
            raise error.__cause__ from error
        raise


def _unreachable(error: BotoCoreError, where: Where) -> str:
    match error:
        case NoCredentialsError():
            return "There are no AWS credentials: set AWS_PROFILE, or sign in as for the aws command."
        case NoRegionError():
            return "There is no AWS region: give --region, or set AWS_DEFAULT_REGION."
        case ProfileNotFound():
            return f"{error}. AWS_PROFILE names it; `aws configure list-profiles` lists those there are."
    if where.endpoint_url:
        return f"Nothing answers at {where.endpoint_url}. Is `paceline up` running, on that port?"
    return f"AWS cannot be reached: {error}"


def _refused(error: ClientError, where: Where) -> str:
    code, text = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code in _FORBIDDEN:
        return (
            f"You may not do {error.operation_name} here: {(text or code).rstrip('.')}. Reading needs "
            "cloudformation:DescribeStacks, dynamodb:GetItem, BatchGetItem and Query, and s3:GetObject; repairs also "
            "dynamodb:PutItem and UpdateItem."
        )
    if code in _WHO_IS_IT:
        return f"AWS does not take your credentials ({code}): sign in again, or choose another AWS_PROFILE."
    if code == "ResourceNotFoundException":
        return f"There is no such table here ({where.table or 'of the stack'}): {text}"
    if code == "NoSuchBucket":
        return f"There is no such bucket here ({where.bucket or 'of the stack'})."
    return f"AWS refused {error.operation_name}: {code}: {text}"
