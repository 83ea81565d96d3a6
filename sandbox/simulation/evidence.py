"""What a campaign left behind: its rows, its files, its report."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import boto3

from paceline.adapters.s3 import S3Store
from paceline.batches import Ledger, batch_summaries, read_leads, read_ledger
from paceline.campaigns import get_plan
from paceline.models import Batch, Message
from paceline.table import Row, Table


class Left:
    """What one campaign left in the table and in the bucket; each part is read when it is asked for."""

    def __init__(self, table: Table, bucket: str, campaign_id: str) -> None:
        self.table, self.campaign_id = table, campaign_id
        self.store = S3Store(boto3.client("s3"), bucket)

    @cached_property
    def batches(self) -> list[Batch]:
        plan = get_plan(self.table, self.campaign_id)
        if plan is None:
            return []
        return [Batch.model_validate(batch) for batch in json.loads(self.store.get(plan.batches_manifest_key))]

    @cached_property
    def ledgers(self) -> dict[str, Ledger]:
        return {batch.batch_id: read_ledger(self.table, self.campaign_id, batch.batch_id) for batch in self.batches}

    @cached_property
    def messages(self) -> list[Message]:
        return [message for ledger in self.ledgers.values() for message in ledger.messages.values()]

    @cached_property
    def phone_numbers(self) -> dict[int, str]:
        return {lead.lead_no: lead.phone_number for batch in self.batches for lead in read_leads(self.store, batch)}

    @cached_property
    def summaries(self) -> list[Row]:
        return batch_summaries(self.table, self.campaign_id)

    @cached_property
    def report(self) -> dict[str, Any] | None:
        """The latest version of the report."""
        prefix = f"campaigns/{self.campaign_id}/report/"
        listed = boto3.client("s3").list_objects_v2(Bucket=self.store.bucket, Prefix=prefix).get("Contents", [])
        found = sorted(item["Key"] for item in listed if item["Key"].endswith("/report.json"))
        return json.loads(self.store.get(found[-1])) if found else None
