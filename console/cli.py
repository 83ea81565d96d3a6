"""The command `paceline`. What a command needs is imported when it is run."""

from __future__ import annotations

import click

from console.lazy import LazyGroup, Place

COMMANDS = {
    "run": Place("console.run_command", "run", "Run a campaign in the sandbox, to its outcome report."),
    "plan": Place("console.plan", "plan", "Say what a campaign would do; nothing is sent."),
    "up": Place("console.up", "up", "Serve the sandbox: the API and AWS's protocols."),
    "console": Place("console.web.command", "console", "Serve the web console: see and steer, in a browser."),
    "campaigns": Place(
        "console.operator.campaigns", "campaigns", "List campaigns: progress, what holds each, the end."
    ),
    "campaign": Place("console.operator.campaign", "campaign", "Show, pause, resume or cancel a campaign."),
    "routes": Place("console.operator.routes", "routes", "List routes: every cap, today's use, what binds each."),
    "route": Place("console.operator.routes", "route", "Change a route's caps; see who changed them."),
    "account": Place("console.operator.account", "account", "Show an account; add credits; change it."),
    "opt-outs": Place("console.operator.opt_outs", "opt_outs", "List, add, import or export opt-outs."),
    "redrive": Place("console.operator.redrive", "redrive", "Let a failed execution go on from where it failed."),
    "replay": Place("console.replay", "replay", "Apply stored receipts that were not applied."),
    "lost-events": Place("console.lost_events", "lost_events", "Let lost events of a provider be taken once more."),
    "restored": Place("console.restored", "restored", "Make a restored table safe before it is used."),
    "first-key": Place("console.first_key", "first_key", "Make a new system's first operator's key."),
    "explain": Place("console.explain", "explain", "Tell the life of a lead or of a campaign."),
    "forget": Place("console.forget", "forget", "Erase one person everywhere."),
    "audit": Place("console.audit", "audit", "Recount the credits of accounts."),
    "check": Place("console.check", "check", "Check state machines, template, contracts and samples."),
    "contention": Place("console.contention.command", "contention", "Compare three designs of a send path."),
    "cost": Place("console.cost.command", "cost", "Say what 1,000 messages cost on AWS, from counted operations."),
    "simulate": Place("console.simulation.command", "simulate", "Prove what holds: random worlds, faults, mutants."),
    "conformance": Place("console.conformance", "conformance", "Run recorded executions on the sandbox's engine."),
    "completion": Place("console.operator.completion", "completion", "Print the completion script of a shell."),
}


@click.group(cls=LazyGroup, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="paceline", message="%(prog)s %(version)s")
def main() -> None:
    """Paceline sends SMS campaigns: exact caps, nothing sent twice, and a report whose sums close."""
