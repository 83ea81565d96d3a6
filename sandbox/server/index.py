"""The page at /: what is served here, and how to use it."""

from __future__ import annotations

from html import escape

from sandbox.deployment import REGION
from sandbox.functions import Functions
from sandbox.server.requests import PROVIDER_PATH
from sandbox.world import Sandbox

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Paceline sandbox</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f23 }}
pre {{ background: #f3f4f6; padding: .8rem; overflow-x: auto }}
td {{ padding: .1rem 1rem .1rem 0; vertical-align: top; overflow-wrap: anywhere }}
@media (prefers-color-scheme: dark) {{ body {{ background: #16191d; color: #e6e8ea }} pre {{ background: #22262b }}
a {{ color: #8ab8ff }} }}
</style>
<h1>Paceline sandbox</h1>
<p>The whole system on this machine: nothing leaves it, and nothing is kept when it stops. Its clock
({clock}) says <b>{now} UTC</b>.</p>
<h2>Served here</h2>
<table>{served}</table>
<h2>The customers’ API</h2>
<p>The keys are printed in the terminal at the start.</p>
<pre>curl -H "x-api-key: $KEY" {address}/v1/account
curl -H "x-api-key: $KEY" {address}/v1/routes</pre>
<h2>AWS</h2>
<p>Any access key will do: signatures are not verified. There is one region, {region}.</p>
<pre>export AWS_ENDPOINT_URL={address} AWS_DEFAULT_REGION={region}
export AWS_ACCESS_KEY_ID=sandbox AWS_SECRET_ACCESS_KEY=sandbox
aws stepfunctions list-executions --state-machine-arn {machine}
aws dynamodb scan --table-name {table} --max-items 5
aws s3 ls s3://{bucket} --recursive
aws cloudformation describe-stacks</pre>
<h2>Names</h2>
<table>{names}</table>
"""


def index_page(sandbox: Sandbox, address: str, console: str) -> str:
    """Return the page as HTML."""
    book = f"{PROVIDER_PATH}Accounts/{sandbox.carrier.account_sid}/Messages.json"
    served = [
        ("Customers’ API", "<code>/v1/…</code>, with an <code>x-api-key</code> header"),
        ("Step Functions, Lambda invoke, DynamoDB items", "the sandbox’s own engines"),
        ("S3, EventBridge, CloudFormation, IAM, Secrets Manager, STS, Logs, tables", "moto"),
        ("The simulated provider’s book", f'<a href="{escape(book)}">{escape(book)}</a>'),
        ("Health", '<a href="/health">/health</a>'),
        ("The web console", f'<a href="{escape(console)}">{escape(console)}</a>' if console else "not asked for"),
    ]
    outputs = sandbox.outputs
    return _PAGE.format(
        clock="virtual: it jumps from event to event"
        if sandbox.clock == "virtual"
        else f"{sandbox.speed:g} × real time",
        now=f"{sandbox.scheduler.now():%Y-%m-%d %H:%M:%S}",
        address=escape(address),
        region=REGION,
        machine=escape(outputs["CampaignStateMachineArn"]),
        table=escape(outputs["TableName"]),
        bucket=escape(outputs["BucketName"]),
        served="".join(f"<tr><td>{what}<td>{how}" for what, how in served),
        names="".join(f"<tr><td>{escape(k)}<td><code>{escape(v)}</code>" for k, v in _names(sandbox)),
    )


def _names(sandbox: Sandbox) -> list[tuple[str, str]]:
    functions: Functions = sandbox.functions
    logical = {physical: name for name, physical in sandbox.names.items()}
    return [*sandbox.outputs.items(), *((logical.get(name, name), name) for name in functions.usage)]
