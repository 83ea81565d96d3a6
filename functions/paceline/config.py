"""What the template tells the functions, read once at a cold start: a missing value fails there, not later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from paceline.models import Model


class Settings(Model):
    """One field per environment variable of the template (upper case there)."""

    table_name: str
    bucket_name: str
    bus_name: str
    provider_secret_name: str
    callback_url: str = ""
    configuration_set: str = ""
    message_type: Literal["PROMOTIONAL", "TRANSACTIONAL"] = "PROMOTIONAL"
    state_machine_arn: str = ""
    key_secret_name: str = ""
    webhook_secret_name: str = ""
    dry_run_function_name: str = ""
    retention_days: int = 400

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings. Raises: pydantic.ValidationError, which names what is missing."""
        values = {name: environment[name.upper()] for name in cls.model_fields if name.upper() in environment}
        return cls.model_validate(values)
