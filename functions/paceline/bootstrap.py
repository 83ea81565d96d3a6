"""The one place that wires adapters to the rules. Clients are made when first used: a sender needs no event bus."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from paceline.adapters.dynamodb import DynamoDBTable
from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.adapters.eventbridge import EventBridge
from paceline.adapters.functions import DryRunFunction
from paceline.adapters.s3 import S3Store
from paceline.adapters.stepfunctions import StepFunctions
from paceline.adapters.twilio import Twilio
from paceline.adapters.webhooks import HttpsWebhooks
from paceline.config import Settings
from paceline.errors import ProviderMisconfigured, ProviderThrottled
from paceline.ports import Provider

# Time-outs below the functions' own, so that a slow call ends as an error that says what was slow. The parameters are
# our adapters', whose tests check them: checking them again in every call took a tenth of a sender's processor time.
_CLIENT = Config(
    connect_timeout=2,
    read_timeout=8,
    retries={"mode": "standard", "max_attempts": 4},
    parameter_validation=False,
)

# A second attempt would be a second message: see `paceline.adapters.end_user_messaging`.
_SENDER = _CLIENT.merge(Config(connect_timeout=3, retries={"total_max_attempts": 1}))


class SystemClock:
    """A `paceline.ports.Clock`: the one reader of the time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class Services:
    """A function's adapters, kept for as long as its execution environment lives."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings.from_environment()
        self.clock = SystemClock()

    def _client(self, service: str) -> Any:
        return boto3.client(service, config=_CLIENT)

    @cached_property
    def table(self) -> DynamoDBTable:
        return DynamoDBTable(self._client("dynamodb"), self.settings.table_name)

    @cached_property
    def store(self) -> S3Store:
        return S3Store(self._client("s3"), self.settings.bucket_name)

    @cached_property
    def workflow(self) -> StepFunctions:
        return StepFunctions(self._client("stepfunctions"), self.settings.state_machine_arn)

    @cached_property
    def dry_runner(self) -> DryRunFunction:
        return DryRunFunction(self._client("lambda"), self.settings.dry_run_function_name)

    @cached_property
    def events(self) -> EventBridge:
        return EventBridge(self._client("events"), self.settings.bus_name)

    @cached_property
    def providers(self) -> Mapping[str, Provider]:
        """Every provider by the name that routes have for it; each reads what it needs when its first message goes."""
        return {Twilio.name: self.twilio, EndUserMessaging.name: self.end_user_messaging}

    @cached_property
    def twilio(self) -> Twilio:
        return Twilio(lambda: self._provider_secret(self.settings.provider_secret_name), self.settings.callback_url)

    @cached_property
    def end_user_messaging(self) -> EndUserMessaging:
        def make_client() -> Any:
            return boto3.client("pinpoint-sms-voice-v2", config=_SENDER)

        return EndUserMessaging(make_client, self.settings.configuration_set, self.settings.message_type)

    def _provider_secret(self, name: str) -> str:
        """Raises: ProviderMisconfigured, where there is none to be had; ProviderThrottled, where there is none now."""
        try:
            return self._read_secret(name)
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            if code in ("ResourceNotFoundException", "AccessDeniedException", "DecryptionFailure"):
                cause = "secret_missing" if code == "ResourceNotFoundException" else "secret_not_readable"
                raise ProviderMisconfigured(f"the secret {name!r} cannot be read", cause=cause, code=code) from error
            raise ProviderThrottled(f"the secret {name!r} cannot be read now", retry_after_seconds=5) from error
        except BotoCoreError as error:
            raise ProviderThrottled(f"the secret {name!r} cannot be read now", retry_after_seconds=5) from error

    @cached_property
    def webhooks(self) -> HttpsWebhooks:
        return HttpsWebhooks()

    @cached_property
    def webhook_master(self) -> bytes:
        """What every account's signing secret is derived from."""
        return self._read_secret(self.settings.webhook_secret_name).encode()

    @cached_property
    def key_pepper(self) -> bytes:
        """What the hashes of API keys are keyed with: beside the table, so that a copy of the table tests no guess."""
        return self._read_secret(self.settings.key_secret_name).encode()

    def _read_secret(self, name: str) -> str:
        """Raises: ClientError, BotoCoreError."""
        return str(self._client("secretsmanager").get_secret_value(SecretId=name)["SecretString"])
