"""The sandbox itself: one template, deployed on one machine, with a clock of its own."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
from moto import mock_aws
from moto.moto_api._internal import mock_random

from sandbox.calls import Calls
from sandbox.carrier import Carrier, Profile
from sandbox.collecting import collecting_seldom
from sandbox.counters import Counters
from sandbox.dynamodb import DynamoDB
from sandbox.end_user_messaging import HOST as MESSAGING_HOST
from sandbox.end_user_messaging import EndUserMessaging
from sandbox.engine import Engine, Execution
from sandbox.faults import Faults
from sandbox.functions import Function, Functions
from sandbox.gateway import Answer, Gateway
from sandbox.hooks import LogSink, clock_of, environment_kept, logs_to
from sandbox.integrations import SandboxIntegrations
from sandbox.latency import Latencies
from sandbox.network import Network
from sandbox.permissions import Permissions
from sandbox.receiver import Receiver
from sandbox.scheduler import Future, Scheduler
from sandbox.sessions import a_session
from sandbox.template import events_of, to_text, translate, without_gateway
from sandbox.workflows import Workflows

ROOT = Path(__file__).parent.parent
ACCOUNT, REGION, STACK = "123456789012", "us-east-1", "paceline"
# A Wednesday, noon in New York and 9 in Los Angeles: every sending window of the contiguous US is open.
START = datetime(2026, 9, 2, 16, tzinfo=UTC)
CARRIER_HOST = "api.twilio.com"
# A customer's server, for webhooks, and where its name leads: a public address, to which nothing here ever connects.
RECEIVER_HOST, RECEIVER_ADDRESS = "hooks.customer.example", "93.184.216.34"
T = TypeVar("T")


@dataclass
class Sandbox:
    """The whole system. Use as a context manager: it holds this process's boto3 and httpx while it is open.

    clock: "virtual" or "wall" (then `speed` times real time). seed: the same seed gives the same timeline.
    s3_endpoint: where presigned addresses lead (None: to AWS's host, which only this process answers for).
    """

    seed: int = 1
    start: datetime = START
    clock: str = "virtual"
    speed: float = 1.0
    profile: Profile = field(default_factory=Profile)
    latencies: Latencies | None = None
    template: Path = ROOT / "template.yaml"
    logs: LogSink = field(default_factory=LogSink)
    s3_endpoint: str | None = None

    def __enter__(self) -> Sandbox:
        with ExitStack() as undo:  # what fails half-way leaves nothing behind
            self._take_over(undo)
            self._deploy(undo)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._undo.close()

    def _take_over(self, undo: ExitStack) -> None:
        """Put the sandbox in the place of AWS, the network and the time in this process."""
        undo.enter_context(environment_kept())
        undo.enter_context(collecting_seldom())
        os.environ.update(AWS_DEFAULT_REGION=REGION, AWS_ACCESS_KEY_ID="sandbox", AWS_SECRET_ACCESS_KEY="sandbox")  # noqa: S106 (moto takes any)
        self._keep_aws_settings_out()
        undo.enter_context(mock_aws())
        mock_random.seed(self.seed)  # physical names, so that two runs' histories are the same too
        self.scheduler = Scheduler(self.start, self.clock, self.speed)
        undo.enter_context(clock_of(self.scheduler))
        undo.enter_context(logs_to(self.logs))
        self.faults = Faults()
        self.network = Network(self.scheduler)
        boto3.setup_default_session(botocore_session=a_session(REGION))
        undo.callback(setattr, boto3, "DEFAULT_SESSION", None)
        undo.callback(setattr, boto3, "client", boto3.client)
        boto3.client = lru_cache(maxsize=None)(boto3.client)  # a cold start makes four; each takes 20 ms of real time

    def _keep_aws_settings_out(self) -> None:
        """Let no profile or endpoint of the person's own decide where the calls made in here go."""
        for name in [name for name in os.environ if name.startswith(("AWS_ENDPOINT_URL", "AWS_PROFILE"))]:
            del os.environ[name]
        os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
        if self.s3_endpoint is not None:  # the first for botocore, the second so that moto still answers in process
            os.environ.update(AWS_ENDPOINT_URL_S3=self.s3_endpoint, MOTO_S3_CUSTOM_ENDPOINTS=self.s3_endpoint)

    # -- deployment -------------------------------------------------------------------------------------------------

    def _deploy(self, undo: ExitStack) -> None:
        rng = self._rng
        latencies = self.latencies or Latencies.realistic(self.seed)
        self.outputs, self.names, apis = self._create_stack()
        permissions = self.permissions = Permissions.of(ACCOUNT)
        self.counters = Counters()
        self.dynamodb = DynamoDB(
            self.scheduler,
            latencies.dynamodb,
            rng("dynamodb"),
            account=ACCOUNT,
            region=REGION,
            on_call=self.counters.take,
        )
        self.functions = Functions(self.scheduler, latencies, rng("functions"), ROOT / "functions", self.faults)
        self.functions.deploy(self._read_functions())
        undo.callback(self.functions.undeploy)
        integrations = SandboxIntegrations(self.functions, permissions, boto3.client("s3"), boto3.client("events"))
        self.engine = Engine(
            self.scheduler, integrations, rng=rng("engine"), timing=latencies.workflow, account=ACCOUNT, region=REGION
        )
        self._create_state_machines()
        self._create_secret()
        self.workflows = Workflows(self.engine)
        self._open_network(apis, self.names, latencies)
        self.calls = Calls(
            self.scheduler,
            self.functions,
            self.dynamodb,
            self.workflows,
            self.messaging,
            permissions,
            latencies.other,
            ACCOUNT,
            REGION,
            self.faults,
        )
        self.calls.install()
        undo.callback(self.calls.uninstall)
        self.network.install(self.functions, self.faults)
        undo.callback(self.network.uninstall)
        undo.callback(self.scheduler.close)  # first: what ends then must still find its hooks

    def _rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed}:{name}")

    def _create_stack(self) -> tuple[dict[str, str], dict[str, str], dict[str, Any]]:
        """Deploy the template to moto. Return its outputs, its physical names, and the HTTP APIs."""
        template, apis = without_gateway(translate(self.template, REGION), self._api_url("{id}"))
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
        return {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}, names, apis

    def _read_functions(self) -> list[Function]:
        pages = boto3.client("lambda").get_paginator("list_functions").paginate()
        return [
            Function(
                f["FunctionName"],
                f["FunctionArn"],
                f["Handler"],
                f["Role"],
                f["Timeout"],
                f["MemorySize"],
                {name: str(value) for name, value in f["Environment"]["Variables"].items()},  # as CloudFormation has it
            )
            for f in pages.search("Functions")
        ]

    def _create_state_machines(self) -> None:
        client = boto3.client("stepfunctions")
        for machine in client.list_state_machines()["stateMachines"]:
            described = client.describe_state_machine(stateMachineArn=machine["stateMachineArn"])
            self.engine.create_state_machine(machine["name"], described["definition"], described["roleArn"])

    def _create_secret(self) -> None:
        """What an operator makes beside the template: the provider's secret, and what keys and webhooks depend on."""
        self._secret = {"account_sid": "AC" + "0" * 32, "auth_token": f"sandbox-{self.seed}"}
        client = boto3.client("secretsmanager")
        client.create_secret(Name="paceline/providers/twilio", SecretString=json.dumps(self._secret))
        self.key_pepper = f"pepper-of-the-sandbox-with-seed-{self.seed}".encode()
        client.create_secret(Name="paceline/api-keys/pepper", SecretString=self.key_pepper.decode())
        master = f"webhook-master-of-the-sandbox-with-seed-{self.seed}"
        client.create_secret(Name="paceline/webhooks/master", SecretString=master)

    def _open_network(self, apis: dict[str, Any], names: dict[str, str], latencies: Latencies) -> None:
        for logical, api in apis.items():
            url = self._api_url(logical.lower())
            domain = urlsplit(url).netloc
            body = api["Properties"]["Body"]
            gateway = Gateway(logical.lower(), body, names, self.functions, self.scheduler, domain)
            self.network.add(domain, gateway.handle)
        self.carrier = Carrier(
            self.scheduler,
            latencies,
            self._rng("carrier"),
            self.profile,
            self._secret["account_sid"],
            self._secret["auth_token"],
            self.network.request,
        )
        self.network.add(CARRIER_HOST, self.carrier.handle)
        topics, subscribers = events_of(translate(self.template, REGION), STACK, names)
        self.messaging = EndUserMessaging(self.carrier, topics, subscribers, self.functions.invoke)
        self.network.add(MESSAGING_HOST, self.messaging.handle)
        self.receiver = Receiver(self.scheduler)
        self.network.add(RECEIVER_HOST, self.receiver.handle, RECEIVER_ADDRESS)

    @staticmethod
    def _api_url(api_id: str) -> str:
        return f"https://{api_id}.execute-api.{REGION}.amazonaws.com"

    # -- use ----------------------------------------------------------------------------------------------------------

    def do(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function as a task, and the world with it, until it returns."""
        task = self.scheduler.spawn(function, *arguments)
        self.scheduler.run(until=task)
        result: T = task.wait()
        return result

    def call_api(self, method: str, path: str, body: object = None, key: str = "", **headers: str) -> Answer:
        """Call the customers' API, and let time pass until it answers."""
        sent = {"x-api-key": key, "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = b"" if body is None else json.dumps(body).encode()
        return self.do(self.network.request, method, f"{self.outputs['ApiUrl']}{path}", sent, content)

    def execution(self, campaign_id: str) -> Execution:
        """Return a campaign's execution."""
        arn = self.outputs["CampaignStateMachineArn"].replace(":stateMachine:", ":execution:")
        return self.engine.execution(f"{arn}:{campaign_id}")

    def run_until(self, future: Future) -> None:
        """Let time pass until `future` is done. Raises: sandbox.scheduler.Stalled, where it never can be."""
        self.scheduler.run(until=future)


def _empty_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("placeholder"), "the handlers are imported from the working tree")
    return buffer.getvalue()
