"""`paceline console`: the web console."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from console.reach import Where, reach, reaches_a_system
from console.web.serving import ConsoleOptions, check, serve

DEFAULT_PORT = 4601
SANDBOX = "http://127.0.0.1:4600"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--sandbox", "is_sandbox", is_flag=True, help=f"Look at `paceline up` at {SANDBOX}.")
@click.option("--aws-profile", metavar="NAME", help="Look at AWS with this profile's credentials (or set AWS_PROFILE).")
@click.option(
    "--url",
    metavar="URL",
    default="",
    envvar="PACELINE_URL",
    show_envvar=True,
    help="The API's address.  [default: the stack's output ApiUrl, or the sandbox's]",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 takes any free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="A further name it is called by.")
@click.option("--tls-certificate", "certificate", type=_FILE, help="Serve https with this PEM file.")
@click.option("--tls-key", "private_key", type=_FILE, help="The certificate's private key, PEM.")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of it speaks https to browsers.")
@click.option("--every", type=click.FloatRange(min=0.1), help="Seconds between looks.  [default: 0.4, on AWS 2]")
@click.option("--listening", type=int, hidden=True, help="A socket of the process that started it, and ends it.")
@click.option("--json", "is_json", is_flag=True, help="Print the address as one JSON line.")
@reaches_a_system
def console(where: Where, is_sandbox: bool, aws_profile: str | None, **options: Any) -> None:
    """Serve the web console until Ctrl-C: campaigns, executions, routes, accounts, leads; live, and to steer.

    It needs an operator's key: PACELINE_KEY, which then is everybody's who reaches it, so on this machine only; or each
    person signs in with the own one. Off this machine it is served by https, and everybody signs in. On AWS it reads
    with your credentials: dynamodb, s3:GetObject, and states:Describe*, List*, GetExecutionHistory.

    Exit status: 0 when it was told to stop, 2 when it cannot begin.
    """
    if is_sandbox and aws_profile:
        raise click.UsageError("--sandbox and --aws-profile are two systems: give one.")
    if aws_profile:
        os.environ["AWS_PROFILE"] = aws_profile
    if is_sandbox and not where.endpoint_url:
        where = replace(where, endpoint_url=SANDBOX)
    if aws_profile and not (where.stack or where.table):
        where = replace(where, stack="paceline")
    wanted, key = ConsoleOptions(**options), os.environ.get("PACELINE_KEY", "")
    check(wanted, key)
    sys.exit(serve(where, reach(where), wanted, key))
