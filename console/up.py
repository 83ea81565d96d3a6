"""`paceline up`: the sandbox as a server."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click

from console.moment import Moment
from console.web.beside import ConsoleBeside
from sandbox.customer import ACCOUNT_ID, DEFAULT_PER_MINUTE, operator_of, set_up
from sandbox.deployment import REGION
from sandbox.gateway import Answer
from sandbox.hooks import LogSink
from sandbox.server.app import ServerApp
from sandbox.server.listening import PortTaken, is_every_address, is_loopback, listen
from sandbox.server.requests import Request
from sandbox.server.serving import WebServer
from sandbox.server.world_thread import WorldThread
from sandbox.world import START, Sandbox

CREDITS = 1_000_000
DEFAULT_PORT = 4600


@dataclass(frozen=True, slots=True)
class UpOptions:
    """The command's options. start: None is the moment in `sandbox.world.START`. console_port: None is the next one."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    clock: str = "wall"
    speed: float = 1.0
    start: datetime | None = None
    seed: int = 1
    as_json: bool = False
    verbose: bool = False
    console_port: int | None = None
    has_console: bool = True
    is_empty: bool = False


class RecentLog(LogSink):
    """Keeps only the last lines that the functions log: a server has no end. echo: print them too."""

    def __init__(self, echo: bool) -> None:
        super().__init__()
        self._echo = echo
        self._recent: deque[str] = deque(maxlen=1000)

    def write(self, text: str) -> int:
        lines = [line for line in text.splitlines() if line]
        self._recent.extend(lines)
        if self._echo:
            for line in lines:
                click.echo(line, err=True)
        return len(text)


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 takes any free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--clock",
    type=click.Choice(["wall", "virtual"]),
    default="wall",
    show_default=True,
    help="Live the waiting, or skip it: virtual time jumps to the next event, and stands still while none is to come.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="With --clock wall: times real time.",
)
@click.option("--start", type=Moment(), help="What the clock says at the start.  [default: 2026-09-02T16:00Z]")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same chances.")
@click.option("--json", "as_json", is_flag=True, help="Print the addresses, keys and names as one JSON line.")
@click.option(
    "--console-port",
    type=click.IntRange(0, 65535),
    help="The web console's port.  [default: the next one, or any free one]",
)
@click.option("--console/--no-console", "has_console", default=True, help="Serve the web console too.  [default: yes]")
@click.option(
    "--empty", "is_empty", is_flag=True, help="No account, route or key, as after a deployment; and so no web console."
)
@click.option("--verbose", "-v", is_flag=True, help="Print each request and what the functions log.")
def up(**options: Any) -> None:
    """Serve the sandbox: the customers' API and AWS's protocols on one port, the web console on the next, until Ctrl-C.

    boto3 and the aws command use it with --endpoint-url; signatures are not verified. Nothing leaves this machine and
    nothing is kept. Exit status: 0 when it was told to stop, 1 after a fault of the sandbox, 2 when it cannot listen.
    """
    sys.exit(serve(UpOptions(**options)))


def serve(options: UpOptions) -> int:
    """Serve until a signal. Return the exit status: 0 ended as asked, 1 a fault, 2 the port cannot be had."""
    try:
        listening = listen(options.host, options.port)
    except PortTaken:
        _say(
            f"Error: port {options.port} on {options.host} is taken, perhaps by another `paceline up`. "
            "Stop that, or choose another port: paceline up --port 4601 (--port 0 takes any free one)."
        )
        return 2
    except OSError as error:
        _say(f"Error: nothing can listen on {options.host} port {options.port}: {error.strerror or error}.")
        return 2
    if not is_loopback(options.host):
        _say(
            f"Warning: {options.host} can be reached from other machines. No signature is verified and nothing is "
            "encrypted: whoever reaches the port can do everything. Only do this in a network that you trust."
        )
    web = WebServer()
    web.take_signals()
    address = _address(options.host, listening.getsockname()[1])
    has_console = options.has_console and not options.is_empty  # it needs an operator's key
    console = ConsoleBeside(_console_port(options, listening.getsockname()[1])) if has_console else None
    prepare = _leave_empty if options.is_empty else _set_up
    world = WorldThread(lambda: _sandbox(options, address), prepare, on_end=web.stop)
    _say("Setting up the sandbox …")
    world.begin()
    at = console.address if console else ""
    app = ServerApp(world, address, at, _log_answer if options.verbose else _log_nothing)
    try:
        web.serve(app, listening, lambda: _begin(options, address, world, console))
    finally:
        if console:
            console.stop()
    world.stop()
    if world.error is not None:
        _say(f"Error: the sandbox itself failed: {world.error!r}. This is a fault; everything it held is lost.")
        return 1
    _say("Stopped. Nothing was kept.")
    return 0


def _console_port(options: UpOptions, port: int) -> int:
    """Return the console's port; 0: any."""
    if options.console_port is not None:
        return options.console_port
    return port + 1 if options.port else 0


def _begin(options: UpOptions, address: str, world: WorldThread, console: ConsoleBeside | None) -> None:
    if console:
        console.start(address, world.prepared["operator_key"])
    _announce(options, address, world, console.address if console else "")


def _sandbox(options: UpOptions, address: str) -> Sandbox:
    return Sandbox(
        seed=options.seed,
        start=(options.start or START).astimezone(UTC),
        clock=options.clock,
        speed=options.speed,
        logs=RecentLog(options.verbose),
        s3_endpoint=address,
    )


def _address(host: str, port: int) -> str:
    """Return the address that a client on this machine uses."""
    if host == "localhost" or is_every_address(host):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _set_up(sandbox: Sandbox) -> dict[str, str]:
    """Create an account, its routes and its key, as an operator does; return both keys."""
    customer = set_up(sandbox, credits=CREDITS, parts_per_minute=DEFAULT_PER_MINUTE)
    return {"operator_key": operator_of(sandbox).key, "customer_key": customer.key}


def _leave_empty(sandbox: Sandbox) -> dict[str, str]:
    """Create nothing: whoever follows docs/deploy.md does."""
    return {}


def _announce(options: UpOptions, address: str, world: WorldThread, console: str) -> None:
    sandbox = world.sandbox
    machine = sandbox.outputs["CampaignStateMachineArn"]
    if options.as_json:
        functions = {name: p for name, p in sandbox.names.items() if p in sandbox.functions.usage}
        facts = {"address": address, "console": console, "account_id": ACCOUNT_ID, "region": REGION, **world.prepared}
        click.echo(json.dumps(facts | {"outputs": sandbox.outputs, "functions": functions}))
        sys.stdout.flush()
        return
    if options.is_empty:
        click.echo(f"Paceline's sandbox is up, and empty: {address}  (Ctrl-C stops it; nothing is kept)\n")
        click.echo(f"  export PACELINE_ENDPOINT_URL={address} PACELINE_URL={address}\n  paceline first-key")
        sys.stdout.flush()
        return
    key, operator = world.prepared["customer_key"], world.prepared["operator_key"]
    click.echo(f"""
Paceline's sandbox is up: {address}  (Ctrl-C stops it; nothing is kept)

  Console         {console or "not asked for"}
  Clock           {_clock(options, sandbox)}
  Customers' API  {address}/v1
  Account         {ACCOUNT_ID}, {CREDITS:,} credits; routes shared and verizon, {DEFAULT_PER_MINUTE} parts a minute each
  Its key         {key}
  Operator's key  {operator}
  AWS endpoint    {address}, region {REGION}; signatures are not verified, any access key will do
  State machine   {machine}
  Table, bucket   {sandbox.outputs["TableName"]}, {sandbox.outputs["BucketName"]}

Try, in another terminal:
  KEY={key}
  curl -H "x-api-key: $KEY" {address}/v1/routes
  curl -H "x-api-key: $KEY" -H "content-type: application/json" \\
    -d '{{"name": "first", "message": "Hi {{{{first_name|there}}}}, your quote is ready."}}' {address}/v1/campaigns
  export PACELINE_URL={address} PACELINE_KEY={operator}
  paceline campaigns
  export AWS_ACCESS_KEY_ID=sandbox AWS_SECRET_ACCESS_KEY=sandbox AWS_DEFAULT_REGION={REGION}
  aws --endpoint-url {address} stepfunctions list-executions --state-machine-arn {machine}
  aws --endpoint-url {address} lambda invoke --function-name PlanFunction /dev/stdout
""")
    sys.stdout.flush()


def _clock(options: UpOptions, sandbox: Sandbox) -> str:
    begins = f"from {sandbox.start:%Y-%m-%d %H:%M} UTC"
    if options.clock == "virtual":
        return f"virtual, {begins}: it jumps to the next event at once, and stands still while nothing is to come"
    return f"wall, {options.speed:g} × real time, {begins}"


def _log_nothing(request: Request, name: str, answer: Answer) -> None:
    """Print nothing."""


def _log_answer(request: Request, name: str, answer: Answer) -> None:
    click.echo(
        f"{time.strftime('%H:%M:%S')} {name} {request.target or request.method} {request.path} {answer.status}",
        err=True,
    )


def _say(text: str) -> None:
    click.echo(text, err=True)
