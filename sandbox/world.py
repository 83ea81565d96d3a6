"""The sandbox itself: one template, deployed on one machine, with a clock of its own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
from moto.moto_api._internal import mock_random

from sandbox.calls import Calls
from sandbox.carrier import Carrier, Profile
from sandbox.collecting import collecting_seldom
from sandbox.counters import Counters
from sandbox.deployment import ACCOUNT, REGION, ROOT, Deployment, api_url, deployed
from sandbox.dynamodb import DynamoDB
from sandbox.end_user_messaging import HOST as MESSAGING_HOST
from sandbox.end_user_messaging import EndUserMessaging
from sandbox.engine import Engine, Execution
from sandbox.faults import Faults
from sandbox.functions import Functions
from sandbox.gateway import Answer, Gateway
from sandbox.hooks import LogSink, clock_of, environment_kept, logs_to
from sandbox.integrations import SandboxIntegrations
from sandbox.latency import Latencies
from sandbox.network import Network
from sandbox.objects import Objects
from sandbox.permissions import Permissions
from sandbox.receiver import Receiver
from sandbox.scheduler import Future, Scheduler
from sandbox.workflows import Workflows

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
    deployment: a stack that is there already and that nobody has used (None: one of its own, from `template`).
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
    deployment: Deployment | None = None

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
        self._stack = self.deployment or undo.enter_context(deployed(self.template, self.seed, self.s3_endpoint))
        self.outputs, self.names, self.key_pepper = self._stack.outputs, self._stack.names, self._stack.key_pepper
        mock_random.seed(self.seed)  # ids, so that two runs' histories are the same too
        self.scheduler = Scheduler(self.start, self.clock, self.speed)
        undo.enter_context(clock_of(self.scheduler))
        undo.enter_context(logs_to(self.logs))
        self.faults = Faults()
        self.network = Network(self.scheduler)

    # -- deployment -------------------------------------------------------------------------------------------------

    def _deploy(self, undo: ExitStack) -> None:
        rng = self._rng
        latencies = self.latencies or Latencies.realistic(self.seed)
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
        self.functions.deploy(self._stack.functions)
        undo.callback(self.functions.undeploy)
        integrations = SandboxIntegrations(self.functions, permissions, boto3.client("s3"), boto3.client("events"))
        self.engine = Engine(
            self.scheduler, integrations, rng=rng("engine"), timing=latencies.workflow, account=ACCOUNT, region=REGION
        )
        for machine in self._stack.machines:
            arn = self.engine.create_state_machine(machine.name, machine.definition, machine.role_arn)
            if machine.alias:
                self.engine.set_alias(machine.alias, self.engine.publish_version(arn))
        self.workflows = Workflows(self.engine)
        self._open_network(latencies)
        self.calls = Calls(
            self.scheduler,
            self.functions,
            self.dynamodb,
            self.workflows,
            self.messaging,
            Objects(ACCOUNT),
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

    def _open_network(self, latencies: Latencies) -> None:
        self.gateways: list[Gateway] = []
        for logical, api in self._stack.apis.items():
            domain = urlsplit(api_url(logical.lower())).netloc
            body = api["Properties"]["Body"]
            gateway = Gateway(logical.lower(), body, self.names, self.functions, self.scheduler, domain)
            self.gateways.append(gateway)
            self.network.add(domain, gateway.handle)
        self.carrier = Carrier(
            self.scheduler,
            latencies,
            self._rng("carrier"),
            self.profile,
            self._stack.provider_secret["account_sid"],
            self._stack.provider_secret["auth_token"],
            self.network.request,
        )
        self.network.add(CARRIER_HOST, self.carrier.handle)
        stack = self._stack
        self.messaging = EndUserMessaging(self.carrier, stack.topics, stack.subscribers, self.functions.invoke)
        self.network.add(MESSAGING_HOST, self.messaging.handle)
        self.receiver = Receiver(self.scheduler)
        self.network.add(RECEIVER_HOST, self.receiver.handle, RECEIVER_ADDRESS)

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
