"""Many calls of every kind by clients at once: is each answered, how soon, and what does the server keep of them?"""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

from bench.loads.campaigns import Say
from bench.loads.served import Answered, Client, Served, percentile_ms, served

CLIENTS, IDENTICAL = 16, 50
# One in so many clients opens a connection for each call.
UNKEPT = 4
# KB a call that may stay: a call in fifty creates a campaign, whose rows are some KB.
MOST_KB_A_CALL = 4.0
ROUTES: tuple[tuple[str, str], ...] = (
    ("GET", "/account"),
    ("GET", "/routes"),
    ("GET", "/routes/shared"),
    ("GET", "/campaigns?limit=20"),
    ("GET", "/campaigns/{campaign}"),
    ("GET", "/campaigns/{campaign}/messages"),
    ("GET", "/campaigns/{campaign}/report"),
    ("GET", "/opt-outs"),
    ("GET", "/campaigns/there-is-none"),
    ("GET", "/there-is-nothing"),
    ("POST", "/campaigns/{campaign}/upload"),
    ("POST", "/campaigns/{campaign}/start"),
)


def measure(calls: int, say: Say) -> dict[str, Any]:
    """Make the calls; return figures and faults."""
    with served() as server:
        created = server.customer.post("/campaigns", {"name": "Called", "message": "Hi"})
        campaign = str(created["campaign_id"])
        _make(server, campaign, max(calls // 20, 20), 0)  # loads what a first call loads
        memory = [server.memory_mb()]
        answers = []
        for half in (1, 2):
            answers += _make(server, campaign, calls // 2, half)
            memory.append(server.memory_mb())
            say(f"{len(answers)} calls answered, {memory[-1]:.0f} MB")
        once = _identical(server)
    waits = [one.seconds for one in answers]
    kept = max(memory[2] - memory[1], 0) * 1024 / (calls // 2)
    failing = Counter(one.status for one in answers if one.status >= 500)
    faults = [f"{count} calls were answered {status}" for status, count in failing.items()]
    faults += [f"{kept:.1f} KB of memory stay of each call"] * (kept > MOST_KB_A_CALL)
    faults += [f"{IDENTICAL} identical requests at once made {once} campaigns"] * (once != 1)
    return {
        "calls": len(answers),
        "statuses": dict(sorted(Counter(one.status for one in answers).items())),
        "p50_ms": percentile_ms(waits, 50),
        "p99_ms": percentile_ms(waits, 99),
        "memory_mb": [round(one) for one in memory],
        "kb_a_call": round(kept, 2),
        "identical_requests": IDENTICAL,
        "campaigns_of_identical_requests": once,
        "faults": faults,
    }


def _make(server: Served, campaign: str, calls: int, seed: int) -> list[Answered]:
    clients = [Client(server.address, server.customer.key, number % UNKEPT > 0) for number in range(CLIENTS)]
    shares = [calls // CLIENTS + (number < calls % CLIENTS) for number in range(CLIENTS)]
    seeds = [f"{seed}:{number}" for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        return [one for some in pool.map(_some, clients, shares, seeds, repeat(campaign)) for one in some]


def _some(client: Client, calls: int, seed: str, campaign: str) -> list[Answered]:
    rng = random.Random(seed)
    return [_one(client, rng, campaign) for _ in range(calls)]


def _one(client: Client, rng: random.Random, campaign: str) -> Answered:
    chance = rng.random()
    if chance < 0.02:
        return client.ask("POST", "/campaigns", {"name": "Called", "message": "Hi"})
    if chance < 0.06:  # a key that nobody has, and nobody will have again
        stranger = Client(client.address, f"pk_{rng.getrandbits(64):x}" + "k" * 8000, client.is_kept)
        return stranger.ask("GET", "/account")
    method, path = rng.choice(ROUTES)
    return client.ask(method, path.format(campaign=campaign))


def _identical(server: Served) -> int:
    """Make identical requests with one Idempotency-Key at once; return how many campaigns there are of them."""
    body = {"name": "Once", "message": "Hi"}

    def ask(_: int) -> Answered:
        return server.customer.ask("POST", "/campaigns", body, idempotency_key="once")

    with ThreadPoolExecutor(IDENTICAL) as pool:
        answers = list(pool.map(ask, range(IDENTICAL)))
    told = {one.body["campaign_id"] if one.status < 300 else f"refused with {one.status}" for one in answers}
    there = [one for one in server.customer.pages("/campaigns", "campaigns") if one["name"] == "Once"]
    return max(len(told), len(there))
