"""What a run leaves that is paid for by the month: rows until they expire, objects until the bucket ends them."""

from __future__ import annotations

from dataclasses import dataclass

import boto3
from moto.dynamodb.models import dynamodb_backends
from samtranslator.yaml_helper import yaml_parse

from sandbox.deployment import ACCOUNT, REGION
from sandbox.dynamodb.storage import every_item
from sandbox.world import Sandbox

DAYS_A_MONTH = 365 / 12
# DynamoDB's own, of each item that is stored.
INDEX_BYTES = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """GB-months, from now until each row and each object ends."""

    table: float
    bucket: float

    def __sub__(self, other: Kept) -> Kept:
        return Kept(self.table - other.table, self.bucket - other.bucket)


def kept_by(sandbox: Sandbox) -> Kept:
    """Return what is stored now, for as long as it will be. What has no end counts for the template's RetentionDays."""
    template = yaml_parse(sandbox.template.read_text())
    days = int(template["Parameters"]["RetentionDays"]["Default"])
    rules = template["Resources"]["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    ends = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    ends = {prefix: end if isinstance(end, int) else days for prefix, end in ends.items()}  # else: a Ref to it
    return Kept(_table(sandbox, days), _bucket(sandbox, ends, days))


def _table(sandbox: Sandbox, endless_days: int) -> float:
    now = sandbox.scheduler.now().timestamp()
    table = dynamodb_backends[ACCOUNT][REGION].tables[sandbox.outputs["TableName"]]
    byte_days = 0.0
    for item in every_item(table):
        expires = item.content.get("expires_at")
        days = (float(str(expires[1])) - now) / 86_400 if expires else endless_days
        byte_days += (item.bytes + INDEX_BYTES) * days
    return byte_days / 1e9 / DAYS_A_MONTH


def _bucket(sandbox: Sandbox, ends: dict[str, int], endless_days: int) -> float:
    pages = boto3.client("s3").get_paginator("list_objects_v2").paginate(Bucket=sandbox.outputs["BucketName"])
    byte_days = 0.0
    for found in pages.search("Contents[]"):
        if found is not None:
            days = next((days for prefix, days in ends.items() if found["Key"].startswith(prefix)), endless_days)
            byte_days += found["Size"] * days
    return byte_days / 1e9 / DAYS_A_MONTH
