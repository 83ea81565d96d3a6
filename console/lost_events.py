"""`paceline lost-events`: events of a provider that were given up are handed to their function once more.

SQS's own redrive moves messages to another queue only; these come from Lambda, and go back to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click

from console.operator.desk import ask, say
from console.reach import STACK, System, Where, explained, reach, reaches_a_system

# For longer than the function may take: a message that it takes is not seen by another reader meanwhile.
_HIDDEN_SECONDS = 60


@click.command("lost-events")
@click.option("--apply", "applies", is_flag=True, help="Hand them over, after a question.  [default: count them]")
@click.option("--yes", is_flag=True, help="With --apply: without the question.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def lost_events(where: Where, applies: bool, yes: bool, is_json: bool) -> None:
    """Let the function take the events of a provider that it gave up once more; what it takes leaves the queue.

    An event that it has taken before changes nothing. Exit status: 0 none is left, 1 some are, 2 it cannot be told. It
    needs cloudformation:DescribeStackResource, sqs:GetQueueAttributes, ReceiveMessage and DeleteMessage, and
    lambda:InvokeFunction.
    """
    system = reach(where)
    with explained(where):
        lost = _Lost.of(system, where.stack or STACK)
        waiting = lost.waiting()
        taken, failed = 0, list[str]()
        if applies and waiting:
            ask(f"Hand over about {waiting} events?", yes)
            taken, failed = lost.hand_over()
    left = len(failed) if applies else waiting
    if is_json:
        click.echo(json.dumps({"waiting": waiting, "taken": taken, "failed": failed}))
    else:
        _show(waiting, taken, failed, applies)
    raise click.exceptions.Exit(1 if left else 0)


@dataclass(frozen=True, slots=True)
class _Lost:
    """The queue of given-up events, and the function that they were meant for."""

    sqs: Any
    functions: Any
    queue: str
    function: str

    @classmethod
    def of(cls, system: System, stack: str) -> _Lost:
        cloudformation = system.client("cloudformation")

        def name_of(logical: str) -> str:
            found = cloudformation.describe_stack_resource(StackName=stack, LogicalResourceId=logical)
            return str(found["StackResourceDetail"]["PhysicalResourceId"])

        queue, function = name_of("LostProviderEvents"), name_of("ProviderEventsFunction")
        return cls(system.client("sqs"), system.client("lambda"), queue, function)

    def waiting(self) -> int:
        """Return about how many there are, as SQS counts them."""
        wanted = ["ApproximateNumberOfMessages"]
        found = self.sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=wanted)["Attributes"]
        return int(found[wanted[0]])

    def hand_over(self) -> tuple[int, list[str]]:
        """Return how many were taken, and the errors of those that were not: these stay, and are seen again later."""
        taken, failed = 0, list[str]()
        while messages := self._received():
            for message in messages:
                answer = self.functions.invoke(FunctionName=self.function, Payload=message["Body"].encode())
                if answer.get("FunctionError"):
                    failed.append(str(json.loads(answer["Payload"].read()).get("errorType", "Unknown")))
                    continue
                self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
                taken += 1
        return taken, failed

    def _received(self) -> list[dict[str, Any]]:
        more = {"MaxNumberOfMessages": 10, "VisibilityTimeout": 10 * _HIDDEN_SECONDS, "WaitTimeSeconds": 1}
        found: list[dict[str, Any]] = self.sqs.receive_message(QueueUrl=self.queue, **more).get("Messages", [])
        return found


def _show(waiting: int, taken: int, failed: list[str], applies: bool) -> None:
    if not applies:
        say(f"About {waiting} events are waiting." + (" --apply hands them over." if waiting else ""))
        return
    say(f"{taken} events were taken.")
    for error in sorted(set(failed)):
        say(f"{failed.count(error)} were not, by {error}: they stay in the queue; the log of provider_events says why.")
