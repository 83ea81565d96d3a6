"""How large a batch is, and how many run at once: few writes of shared rows, and a route that is never idle."""

from __future__ import annotations

import math

from paceline.pacing import MINUTE_US, ROUND_US

# A batch costs its shared rows the same few writes whatever its size, so it is as large as some seconds of its route's
# pace; but not smaller than 40, which one Map state sends at once, and not larger than what a history and an answer
# hold with ease (25,000 events; 256 KiB). On a slow route it ends with what one round sends, which is what a campaign
# that comes later may have to wait for.
BATCH_SECONDS = 10
SMALLEST, LARGEST = 40, 400
FEWEST_LEADS = 10

# From the moment at which a batch asks for admission to that at which its place is free again, beyond the time of its
# slots: two functions, the latest start and the latest send.
OVERHEAD_SECONDS = 6

# So that a cap that is raised finds batches to fill it with.
FEWEST_ON_A_ROUTE = 4

# The last stream whose window is open has the route to itself, and must keep it busy alone; on the fastest routes it
# may not, for that many streams would have too many batches ask at once.
MOST_FOR_ONE_ALONE = 6

# A Map Run may have 10,000 children at once, but every one of these is a Lambda call; 1,000 is an account's default.
MOST_AT_ONCE = 1000


def leads_of_a_batch(parts_per_minute: int) -> int:
    """Return how many leads a batch on a route of this pace has."""
    seconds_worth = max(parts_per_minute * BATCH_SECONDS // 60, min(SMALLEST, parts_of_a_round(parts_per_minute)))
    return min(LARGEST, max(FEWEST_LEADS, seconds_worth))


def parts_of_a_round(parts_per_minute: int) -> int:
    """Return how many parts a batch has at most, its last lead's apart: what the route sends in one round."""
    return max(1, parts_per_minute * ROUND_US // MINUTE_US)


def concurrency_of(share_of_route: float, parts_of_a_batch: float, parts_per_minute: int) -> int:
    """Return how many batches a stream runs at once, so that its route's pace is busy and few wait for a turn.

    share_of_route: the stream's part of the campaign's leads on the route, 0 to 1; so streams end together, and the
    largest does not go on alone with the few batches of an equal share.
    """
    batch_seconds = parts_of_a_batch * 60 / parts_per_minute
    busy = math.ceil((batch_seconds + OVERHEAD_SECONDS) / batch_seconds)
    share = math.ceil(max(FEWEST_ON_A_ROUTE, busy) * share_of_route)
    return min(MOST_AT_ONCE, max(min(busy, MOST_FOR_ONE_ALONE), share))
