"""What the rules need from the world outside. `adapters/` holds the real ones, `tests/fakes/` those for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Protocol

from paceline.receipts import Receipt
from paceline.status import MessageStatus


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """What a provider is given. validity_seconds: after this long undelivered, the provider gives up."""

    message_id: str
    sender: str
    phone_number: str
    text: str
    validity_seconds: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider took the message and will send receipts."""

    provider_message_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The provider refused the message for good. cause: our word for its code."""

    cause: str
    code: str


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """A message as the provider's own book has it, in our words."""

    provider_message_id: str
    status: MessageStatus
    cause: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """Where to look for a message whose acceptance is in doubt: made between since and until, and none of the known.

    known: the provider's ids that other messages of ours to the same person carry.
    """

    since: datetime
    until: datetime
    known: Set[str] = frozenset()


class Clock(Protocol):
    """The only source of the time."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""


class ObjectStore(Protocol):
    """The bucket of lead files, batch files and reports. Keys are relative to the one bucket."""

    @property
    def bucket(self) -> str:
        """The bucket's name."""

    def open(self, key: str) -> BinaryIO:
        """Return the object as a binary stream. Raises: ObjectNotFound."""

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        """Return the object, or its bytes first_byte..last_byte (inclusive). Raises: ObjectNotFound."""

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        """Write the object, replacing what was there."""


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One version of an object. is_marker: it only says that the object was deleted."""

    key: str
    version_id: str
    is_latest: bool
    is_marker: bool = False


class VersionedStore(Protocol):
    """The bucket with all that was written over or deleted."""

    def versions(self, prefix: str) -> Iterable[StoredVersion]:
        """Yield every version of every object whose key begins so, those of one key together."""

    def read_version(self, version: StoredVersion) -> bytes:
        """Return a version's bytes. Raises: ObjectNotFound."""

    def write_over(self, version: StoredVersion, body: bytes) -> str:
        """Write an object anew, as what it is; return the new version's id."""

    def erase(self, versions: Iterable[StoredVersion]) -> None:
        """Delete versions for good."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What an object is before it is read. size: bytes; head: the first of them; etag: another one for other bytes."""

    size: int
    etag: str
    head: bytes


class DryRunner(Protocol):
    """Plans large files while nobody waits."""

    def begin(self, campaign_id: str, dry_run_id: str) -> None:
        """Let a dry run that was begun be carried out. Raises: ServiceUnavailable, ServiceFault."""


class OptOuts(Protocol):
    """Who said STOP to an account."""

    def opted_out(self, account_id: str, phone_numbers: Iterable[str]) -> set[str]:
        """Return those of the numbers (E.164) that opted out."""


class CarrierLookUp(Protocol):
    """Who carries a number, where the customer's file does not say."""

    def carriers_of(self, account_id: str, phone_numbers: Iterable[str]) -> Mapping[str, str]:
        """Return number → carrier for those of up to 100 numbers (E.164) that are known."""


class Workflow(Protocol):
    """The state machine that runs campaigns."""

    def start(self, campaign_id: str) -> str:
        """Start the campaign's execution, or find it where it runs already; return its ARN."""

    def revise(self, campaign_id: str, reports_begun: int) -> str:
        """Start the execution that makes the report after so many; the same again finds it. Return its ARN."""

    def resume(self, token: str, output: dict[str, object]) -> None:
        """Let a waiting task go on. A task that is over already is no error: its timeout was first."""


class Events(Protocol):
    """The event bus that customers' systems listen to."""

    def publish(self, detail_type: str, detail: dict[str, object]) -> None:
        """Publish one event."""


class Webhooks(Protocol):
    """Customers' servers, at the addresses that they gave."""

    def post(self, url: str, headers: dict[str, str], body: str) -> int:
        """Send one request and return the status that was answered. Raises: AddressRefused; WebhookFailed."""


class Provider(Protocol):
    """A provider that takes messages. Neither we nor it retries a send by itself: a retry is a second message."""

    def get_ready(self) -> None:
        """Read what the first message needs (a secret), so that a send is one call. Raises: as `send`."""

    def send(self, message: OutgoingMessage) -> Accepted | Refused:
        """Hand over one message.

        Raises: ProviderThrottled, ProviderMisconfigured (not accepted); ProviderUnsure (nobody knows).
        """

    def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
        """Return the one message of the provider's book that can only be this one.

        None: there is none, or more than one. Raises: ProviderUnsure, where it does not answer now.
        """

    def status_of(self, provider_message_id: str) -> ProviderRecord | None:
        """Return what the provider knows of a message that it accepted; None: nothing. Raises: ProviderUnsure, where it
        does not answer now.
        """


@dataclass(frozen=True, slots=True)
class Inbound:
    """What a person wrote to one of our senders. to: the number that it came to, E.164. said_id: the provider's."""

    sender: str
    to: str
    text: str
    said_id: str


class EventReader(Protocol):
    """A provider's side of the events that it publishes to a topic of ours. None of them is personal in the inbox."""

    @property
    def name(self) -> str:
        """The provider's name, as rows and logs have it."""

    def our_id(self, event: Mapping[str, Any]) -> str:
        """Return our id of the message that an event is about ("": not in it). Raises: KeyError, for no such event."""

    def read_event(self, event: Mapping[str, Any]) -> Receipt | None:
        """Return an event in our words; None for a type that we do not know. Raises: KeyError, for no such event."""

    def read_inbound(self, event: Mapping[str, Any]) -> Inbound | None:
        """Return what somebody wrote to us; None where the event is not that."""

    def without_people(self, event: Mapping[str, Any]) -> dict[str, str]:
        """Return the event as it may be kept: without numbers and texts, its other values as text."""


class CallbackReader(Protocol):
    """A provider's side of its callbacks."""

    @property
    def name(self) -> str:
        """The provider's name, as rows and logs have it."""

    def is_signed(self, url: str, fields: Mapping[str, str], given: str) -> bool:
        """Tell whether a callback comes from the provider."""

    def reply(self, text: str) -> tuple[str, str]:
        """Return the content type and body with which a callback sends a text back to who wrote to us."""

    def read_receipt(self, message_id: str, fields: Mapping[str, str]) -> Receipt | None:
        """Return a callback in our words; None for a status that we do not know. Raises: KeyError, for no receipt."""
