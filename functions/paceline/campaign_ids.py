"""A campaign's id: its customer's own choice, made no other account's by an ending that stands for the account.

Ids name rows, objects and executions, so they are of one namespace. Were a choice kept as it is, whoever tried a taken
one would learn that some other customer has it.
"""

from __future__ import annotations

import hashlib

_ENDING = 10  # hex digits: of 10,000 accounts two share an ending once in 20,000 times, and then a choice may be taken


def own_id(account_id: str, chosen: str) -> str:
    """Return the id of the account's campaign of that chosen id: the same for the same, another for every account."""
    return f"{chosen}-{hashlib.sha256(account_id.encode()).hexdigest()[:_ENDING]}"


def generated_id(*request: str | None) -> str:
    """Return an id for a campaign whose customer chose none. request: what tells it from every other."""
    return "c-" + hashlib.sha256("#".join(map(str, request)).encode()).hexdigest()[:20]
