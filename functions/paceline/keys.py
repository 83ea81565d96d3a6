"""The rows of the one table: their keys, who writes each and how often.

| row | written by | per 1,000 sends at 40 a batch | shared with |
|---|---|---|---|
| account, route day, account day | admission, close, settling | 25-75 | every batch of the account / route |
| route pace | admission, a provider's 429 | 25-75 | every batch of the route |
| plan | planning, once | 0 | nobody |
| dry run | the API, its function | 0 | nobody |
| campaign | the API, start and end of a campaign | 0 | every batch of the campaign |
| batch | admission, close, reconciliation, settling | 100-150 | nobody |
| lease | admission, close | 100-130 | nobody |
| message | its send, its receipts | 2-5 a message | nobody |
| recipient | its send, a STOP | 1 a message | sends to the same person |
| opt-out | a STOP, a START, an import | 0 | nobody |
| carrier | an import | 0 | nobody |
| word | a STOP or a START, so that the same one does nothing twice | 0 | nobody |
| inbox | one receipt | 1 a receipt | nobody |
| late | a receipt that changes a final message, with it | 0 | nobody |
| hold | a batch that waits, its release | 0 | nobody |
| audit | an operator's change | 0 | nobody |
| API key | an operator, its revocation | 0 | nobody |
| idempotency | a customer's request with a key | 0 | the same request again |
| notification | notifying the customer, 1-2 a try | 0 | nobody |

`paceline run` counts the real writes; the table above is held to it by tests/workflows.
"""

from __future__ import annotations

import re
from datetime import date
from zlib import crc32

Key = tuple[str, str]

# What makes a key of it may hold no "#".
_MESSAGE_ID = re.compile(r"([a-z0-9-]{1,71})\.([A-Za-z0-9-]{1,40})\.([0-9]{1,9})", re.ASCII)


def account(account_id: str) -> Key:
    return f"ACCOUNT#{account_id}", "ACCOUNT"


def account_names() -> str:
    """The partition that lists every account: one row an account."""
    return "ACCOUNTS"


def account_day(account_id: str, day: date) -> Key:
    return f"ACCOUNT#{account_id}", f"DAY#{day.isoformat()}"


def route(name: str) -> Key:
    return f"ROUTE#{name}", "ROUTE"


def route_day(name: str, day: date) -> Key:
    return f"ROUTE#{name}", f"DAY#{day.isoformat()}"


def route_pace(name: str) -> Key:
    return f"ROUTE#{name}", "PACE"


def route_names() -> str:
    """The partition that lists every route: one row a route."""
    return "ROUTES"


def campaign(campaign_id: str) -> Key:
    return f"CAMPAIGN#{campaign_id}", "CAMPAIGN"


def plan(campaign_id: str) -> Key:
    """Beside the campaign's row, not in it: every send reads that one, and none needs the plan."""
    return f"CAMPAIGN#{campaign_id}", "PLAN"


def notification(campaign_id: str, version: int) -> Key:
    """What became of telling the customer of a report's version."""
    return f"CAMPAIGN#{campaign_id}", f"NOTIFICATION#{version:03d}"


def dry_run(campaign_id: str) -> Key:
    return f"CAMPAIGN#{campaign_id}", "DRYRUN"


def batch(campaign_id: str, batch_id: str) -> Key:
    return f"CAMPAIGN#{campaign_id}", f"BATCH#{batch_id}"


def batch_partition(campaign_id: str, batch_id: str) -> str:
    """The partition of a batch's leases and messages."""
    return f"BATCH#{campaign_id}#{batch_id}"


def lease(campaign_id: str, batch_id: str, round_no: int) -> Key:
    return batch_partition(campaign_id, batch_id), f"{LEASES}{round_no:03d}"


# How the sort keys of a batch's messages and of its leases begin.
MESSAGES, LEASES = "MESSAGE#", "LEASE#"


def message(campaign_id: str, batch_id: str, lead_no: int) -> Key:
    return batch_partition(campaign_id, batch_id), f"{MESSAGES}{lead_no:07d}"


def recipient(account_id: str, phone_number: str) -> Key:
    return f"RECIPIENT#{account_id}#{phone_number}", "RECIPIENT"


# An account's opt-outs are listed in so many partitions: one takes 1,000 writes a second, and an import is fast.
OPT_OUT_SHARDS = 16


def opt_out(account_id: str, phone_number: str) -> Key:
    """The opt-out in its account's list, beside the recipient's row and written with it: for the export."""
    return f"OPTOUTS#{account_id}#{crc32(phone_number.encode()) % OPT_OUT_SHARDS:02}", phone_number


def opt_out_partitions(account_id: str) -> list[str]:
    return [f"OPTOUTS#{account_id}#{shard:02}" for shard in range(OPT_OUT_SHARDS)]


def word(account_id: str, said: str) -> Key:
    """There once a STOP or START was taken. said: a digest of it and the provider's id of it."""
    return f"WORD#{account_id}#{said}", "WORD"


def carrier(account_id: str, phone_number: str) -> Key:
    return f"CARRIER#{account_id}#{phone_number}", "CARRIER"


def has_carriers(account_id: str) -> Key:
    """There once the account imported carriers: so an account without any is not asked about number by number."""
    return f"CARRIERS#{account_id}", "CARRIERS"


def inbox(message_id: str, digest: str) -> Key:
    """Beside the inbox rows of the same batch, so that one query finds what a replay of the batch needs."""
    batch_of, _, lead_no = message_id.rpartition(".")
    return f"INBOX#{batch_of}", f"RECEIPT#{lead_no}#{digest}"


def inbox_of_batch(campaign_id: str, batch_id: str) -> Key:
    """The partition and the prefix of what the inbox has for a batch."""
    return f"INBOX#{campaign_id}.{batch_id}", "RECEIPT#"


def late(campaign_id: str, batch_id: str, lead_no: int) -> Key:
    """What a message's outcome was before a late receipt changed it."""
    return f"CAMPAIGN#{campaign_id}", f"LATE#{batch_id}#{lead_no:07d}"


def late_notes(campaign_id: str) -> Key:
    """The partition and the prefix of a campaign's late changes."""
    return f"CAMPAIGN#{campaign_id}", "LATE#"


def hold(scope: str, campaign_id: str, batch_id: str, token: str) -> Key:
    """A row for each try of a hold: one whose caller let it go must not write over the try that waits."""
    return f"HOLD#{scope}", f"{campaign_id}#{batch_id}#{crc32(token.encode()):08x}"


def audit_partition(subject: str) -> str:
    """The partition of every change of a route or an account. subject: ROUTE#<name> or ACCOUNT#<id>."""
    return f"AUDIT#{subject}"


def audit(subject: str, at: str, request_id: str) -> Key:
    return audit_partition(subject), f"{at}#{request_id}"


def api_key(key_id: str) -> Key:
    return f"KEY#{key_id}", "KEY"


def account_keys(account_id: str) -> str:
    """The partition that lists an account's API keys: one row a key, its id the sort key."""
    return f"KEYS#{account_id}"


def account_campaigns(account_id: str) -> str:
    """The partition that lists an account's campaigns: one row a campaign, in the order of their creation."""
    return f"CAMPAIGNS#{account_id}"


def idempotency(account_id: str, key_digest: str) -> Key:
    return f"IDEMPOTENCY#{account_id}#{key_digest}", "IDEMPOTENCY"


SHARED_ROW_KINDS = {"ACCOUNT", "DAY", "ROUTE", "PACE", "CAMPAIGN"}


def is_shared_row(key: Key) -> bool:
    """Tell whether sends of other batches or campaigns also write this row (account, day, pace, campaign)."""
    return key[1].split("#")[0] in SHARED_ROW_KINDS


def message_id(campaign_id: str, batch_id: str, lead_no: int) -> str:
    """Our id of a message: it travels with the send and comes back in the receipt."""
    return f"{campaign_id}.{batch_id}.{lead_no}"


def parse_message_id(text: str) -> tuple[str, str, int]:
    """Return (campaign_id, batch_id, lead_no). Raises: ValueError, for what `message_id` never made."""
    found = _MESSAGE_ID.fullmatch(text)
    if found is None:
        raise ValueError("no id of a message of ours")
    return found[1], found[2], int(found[3])
