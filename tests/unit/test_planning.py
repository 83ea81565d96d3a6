"""Planning: every row in exactly one place, batches that can be addressed, the same bytes every time, warnings."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import LeadFileInvalid, ObjectNotFound, RouteNotFound
from paceline.leads.numbers import numbered_leads
from paceline.leads.sizes import concurrency_of, leads_of_a_batch
from paceline.models import Lead, Route, SendingWindow, Stream
from paceline.planning import plan_campaign
from tests.builders.planning import (
    KEY,
    ROUTES,
    SHARED,
    a_campaign,
    a_file,
    batches_of,
    leads_of,
    planned,
    rejects_of,
)
from tests.fakes.stores import MemoryOptOuts, MemoryStore


def test_every_row_is_in_exactly_one_place_with_its_reason() -> None:
    content = (
        "phone,first_name\n"
        "(202) 555-0107,Ana\n"
        "1.20256E+10,Ben\n"
        "+1 202.555.0107,Ana M\n"
        "1-202-555-0107,A\n"
        "202-555-0134,Cid\n"
        "202-555-0108,Dee,Smith\n"
    )

    plan, store = planned(content, opt_outs=MemoryOptOuts(("acme", "+12025550134"), ("other", "+12025550107")))

    assert plan.leads.model_dump() == {"total": 6, "rejected": 2, "duplicates": 2, "opted_out": 1, "accepted": 1}
    assert plan.leads.are_closed
    assert plan.rejected_reasons == {"scientific_notation": 1, "too_many_cells": 1}
    rows = [(row["row_number"], row["kind"], row["reason"], row["phone_number"]) for row in rejects_of(store, plan)]
    assert rows == [
        ("3", "rejected", "scientific_notation", ""),
        ("4", "duplicates", "duplicate", "'+12025550107"),
        ("5", "duplicates", "duplicate", "'+12025550107"),
        ("6", "opted_out", "opted_out", "'+12025550134"),
        ("7", "rejected", "too_many_cells", ""),
    ]
    assert rejects_of(store, plan)[1]["explanation"] == "The same number as in row 2."
    (batch,) = batches_of(store, plan.batches_manifest_key)
    text = "Hi Ana, your policy quote is ready. Reply YES for a call, STOP to opt out."
    assert leads_of(store, batch) == [Lead(1, "+12025550107", text, 1, 2)]


def test_a_rejected_row_does_not_take_its_number_from_a_good_one() -> None:
    plan, _ = planned("phone,first_name\n2025550109,\n2025550109,Ana\n", message="Hi {{first_name}}")

    assert plan.rejected_reasons == {"blank_field": 1}
    assert (plan.leads.accepted, plan.leads.duplicates) == (1, 0)


def test_a_field_that_the_file_lacks_refuses_the_file_before_anything_is_written() -> None:
    store = MemoryStore({KEY: b"phone,code\n+12025550108,1111\n"})

    with pytest.raises(LeadFileInvalid, match="'first_name'"):
        plan_campaign(a_campaign(message="Hi {{first_name}}"), ROUTES, store, MemoryOptOuts())

    assert store.puts == []


@pytest.mark.parametrize(
    ("content", "opt_outs"),
    [
        pytest.param("phone\n1\n2\n3\n", MemoryOptOuts(), id="all rejected"),
        pytest.param("phone\n2025550101\n", MemoryOptOuts(("acme", "+12025550101")), id="all opted out"),
    ],
)
def test_nobody_left_gives_a_plan_without_streams(content: str, opt_outs: MemoryOptOuts) -> None:
    plan, store = planned(content, opt_outs=opt_outs)

    assert (plan.streams, plan.batches, plan.parts, plan.leads.accepted) == ((), 0, 0, 0)
    assert plan.leads.are_closed
    assert plan.warnings == ("No lead is left to send to: every row was excluded.",)
    assert json.loads(store.get(plan.streams_manifest_key)) == json.loads(store.get(plan.batches_manifest_key)) == []


def test_leads_are_grouped_by_route_and_zones_into_numbered_batches() -> None:
    content = "phone,carrier\n" + "".join(
        f"{area}555{line:04},{carrier}\n"
        for line in range(5)
        for area, carrier in (("202", ""), ("312", "VERIZON"), ("212", "verizon"))
    )

    plan, store = planned(content, batch_size=2)

    assert [(s.stream, s.route, s.zones, s.batches, s.leads) for s in plan.streams] == [
        ("shared-01", "shared", ("America/New_York",), 3, 5),
        ("verizon-01", "verizon", ("America/Chicago",), 3, 5),
        ("verizon-02", "verizon", ("America/New_York",), 3, 5),
    ]
    assert [Stream.model_validate(item) for item in json.loads(store.get(plan.streams_manifest_key))] == [*plan.streams]
    batches = batches_of(store, plan.batches_manifest_key)
    assert [batch.batch_id for batch in batches] == [f"{number:05}" for number in range(1, 10)]
    firsts = [leads_of(store, batch)[0].lead_no for batch in batches]
    assert firsts == sorted(firsts)
    per_stream = [batches_of(store, stream.manifest_key) for stream in plan.streams]
    assert sorted((b for stream in per_stream for b in stream), key=lambda b: b.batch_id) == batches


@pytest.mark.parametrize(
    ("per_minute", "lengths", "unused"),
    [
        pytest.param(240, [1] * 500, 0, id="single parts fill every minute"),
        pytest.param(20, [3] * 13, 4, id="six of three parts, and two empty; twice, and a last one"),
        pytest.param(10, [1, 2, 3, 1, 2, 3, 1, 2], 1, id="nine, and then three do not fit"),
        pytest.param(2, [3, 3, 1], 1, id="texts longer than a minute: 2, 1 and 1 empty, 2, 1 and 1"),
    ],
)
def test_a_stream_knows_what_of_its_routes_minutes_stays_empty(
    per_minute: int, lengths: list[int], unused: int
) -> None:
    rows = "".join(f"+1202555{n:04},{'x' * (153 * parts - 10)}\n" for n, parts in enumerate(lengths))
    route = Route(name="shared", parts_per_minute=per_minute)

    plan, _ = planned(f"phone,text\n{rows}", routes=(route,), message="{{text}}")

    [stream] = plan.streams
    assert (stream.parts, stream.unused_parts) == (sum(lengths), unused)


def test_a_chunk_holds_a_hundred_batches_end_to_end() -> None:
    plan, store = planned(a_file(250), batch_size=2)

    batches = batches_of(store, plan.streams[0].manifest_key)

    chunks = [key for key in store.puts if key.endswith(".jsonl")]
    assert chunks == [f"campaigns/spring-quotes/leads/shared-01-000{n}.jsonl" for n in (1, 2)]
    for one, after in pairwise(batches):
        assert after.first_byte == (one.last_byte + 1 if one.leads_key == after.leads_key else 0)
    leads = [lead for batch in batches for lead in leads_of(store, batch)]
    assert [lead.lead_no for lead in leads] == list(range(1, 251))


def test_beside_each_chunk_are_the_numbers_of_its_leads() -> None:
    plan, store = planned(a_file(250), batch_size=2)

    for batch in batches_of(store, plan.streams[0].manifest_key):
        written = [replace(lead, phone_number="", text="") for lead in leads_of(store, batch)]
        assert numbered_leads(store, batch.leads_key, batch.batch_id) == written


def test_planning_twice_writes_the_same_bytes() -> None:
    opt_outs = MemoryOptOuts(("acme", "+12025550003"))
    content = a_file(150) + a_file(90, "312").partition("\n")[2] + a_file(20).partition("\n")[2]

    once, again = planned(content, opt_outs=opt_outs), planned(content, opt_outs=opt_outs)

    assert once[0] == again[0]
    assert once[1].objects == again[1].objects
    assert once[1].puts == again[1].puts


def test_opt_outs_are_asked_for_a_hundred_at_a_time_and_once_each() -> None:
    opt_outs = MemoryOptOuts()

    planned(a_file(250) + a_file(250).partition("\n")[2], opt_outs=opt_outs)

    assert opt_outs.asked == [100, 100, 50]


def test_parts_are_counted_on_the_personalised_text() -> None:
    message = "Hi {{first_name}}! " + 140 * "x" + " end"
    names = ["Ana", "Maximiliano", "Maximilianoo", "D’Arcy", "Max [Power]", "Zoë", "José"]
    content = "phone,first_name\n" + "".join(f"202555010{n},{name}\n" for n, name in enumerate(names))

    plan, store = planned(content, message=message)

    (batch,) = batches_of(store, plan.batches_manifest_key)
    assert [lead.parts for lead in leads_of(store, batch)] == [1, 1, 2, 3, 2, 3, 1]
    assert plan.parts == batch.parts == plan.streams[0].parts == 13
    assert any("2 of 7 messages must be sent as UCS-2" in w and "'’' (U+2019)" in w for w in plan.warnings)


def test_values_with_odd_line_ends_stay_one_line_of_the_object() -> None:
    plan, store = planned('phone,first_name\n2025550101,"A\u2028n\u0085\na"\n2025550102,Ben\n')

    (batch,) = batches_of(store, plan.batches_manifest_key)

    assert [lead.text[3:9] for lead in leads_of(store, batch)] == ["A\u2028n\u0085\na", "Ben, y"]


@pytest.mark.parametrize(
    ("content", "routes", "changes", "warning"),
    [
        pytest.param(
            a_file(480),
            ROUTES,
            {},
            "The file has no carrier column, so all 480 leads go by one route:"
            " on 'shared', at its 240 parts a minute, that takes 2 min.",
            id="no carrier column",
        ),
        pytest.param(
            "phone,carrier\n2025550101,\n2025550102,Verizon\n",
            ROUTES,
            {},
            "No carrier is given for 1 of 2 leads: on 'shared', at its 240 parts a minute, that takes 1 min.",
            id="a blank carrier",
        ),
        pytest.param(
            "phone,carrier\n2025550101,Sprint\n2025550102,Verizon\n",
            ROUTES,
            {},
            "No route is for the carrier of 1 of 2 leads ('Sprint'):"
            " on 'shared', at its 240 parts a minute, that takes 1 min.",
            id="an unknown carrier",
        ),
        pytest.param(
            a_file(25),
            (Route(name="old", parts_per_day=10),),
            {"route": "old"},
            "The route 'old' may send 10 parts a day, and 25 parts are planned on it: it needs 3 days."
            " Raise its cap or choose another route.",
            id="a forgotten day cap",
        ),
        pytest.param(
            a_file(3),
            (Route(name="own", is_enabled=False),),
            {"route": "own"},
            "The route 'own' is disabled: its leads (3) wait until it is enabled.",
            id="a disabled route",
        ),
        pytest.param(
            a_file(2, area="208"),  # Idaho: Pacific or Mountain
            (SHARED,),
            {"route": "shared", "sending_window": SendingWindow(opens=time(9), closes=time(10))},
            "The sending window is never open in all of America/Los_Angeles, America/Denver at once:"
            " nothing can be sent to 2 of 2 leads. Widen the window.",
            id="a window that is never open",
        ),
    ],
)
def test_the_plan_warns_before_the_start(
    content: str, routes: tuple[Route, ...], changes: dict[str, object], warning: str
) -> None:
    plan, _ = planned(content, routes=routes, **changes)

    assert plan.warnings == (warning,)


def test_a_forced_route_gives_no_warning_about_carriers() -> None:
    plan, _ = planned(a_file(3), route="verizon")

    assert plan.warnings == ()
    assert plan.streams[0].route == "verizon"


@pytest.mark.parametrize(
    ("changes", "error"), [({"route": "nowhere"}, RouteNotFound), ({"leads_key": "missing.csv"}, ObjectNotFound)]
)
def test_what_a_campaign_points_to_must_exist(changes: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        planned(a_file(3), **changes)


@pytest.mark.parametrize(
    ("share", "parts_of_a_batch", "parts_per_minute", "expected"),
    [
        pytest.param(1.0, 40, 240, 4, id="four on a route: a cap that is raised finds batches to fill it"),
        pytest.param(0.75, 40, 240, 3, id="the larger of two streams has more"),
        pytest.param(0.01, 40, 240, 2, id="never less than two: the last open stream has the route to itself"),
        pytest.param(1.0, 400, 60_000, 16, id="a fast route: each batch lasts 0.4 s and is away for 6 s more"),
        pytest.param(0.5, 400, 60_000, 8, id="half of a fast route"),
        pytest.param(0.01, 400, 6_000, 3, id="the smallest stream can keep its route busy alone"),
        pytest.param(0.01, 400, 60_000, 6, id="but not on the fastest: so many batches would ask at once"),
        pytest.param(1.0, 1, 60_000, 1000, id="never more than a thousand"),
    ],
)
def test_concurrency_keeps_a_routes_pace_busy(
    share: float, parts_of_a_batch: float, parts_per_minute: int, expected: int
) -> None:
    assert concurrency_of(share, parts_of_a_batch, parts_per_minute) == expected


@pytest.mark.parametrize(
    ("parts_per_minute", "leads"),
    [
        pytest.param(1, 10, id="at least ten, in as many rounds as it takes"),
        pytest.param(60, 30, id="a slow route: what one round sends"),
        pytest.param(120, 40, id="at least what one Map sends at once"),
        pytest.param(240, 40, id="ten seconds of the pace"),
        pytest.param(600, 100, id="a faster route"),
        pytest.param(60_000, 400, id="at most what a history holds with ease"),
    ],
)
def test_a_batch_is_ten_seconds_of_its_routes_pace(parts_per_minute: int, leads: int) -> None:
    assert leads_of_a_batch(parts_per_minute) == leads


phones = st.sampled_from(["2025550101", "(202) 555-0101", "3125550102", "+12125550103", "8005550104", "", "x"])
rows = st.lists(st.tuples(phones, st.sampled_from(["", "Verizon", "Sprint"])), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 5), st.randoms(use_true_random=False))
def test_sums_close_whatever_the_file_holds(
    rows: list[tuple[str, str]], batch_size: int, chance: random.Random
) -> None:
    content = "phone,carrier,note\n" + "".join(f'"{phone}",{carrier},x\n' for phone, carrier in rows)
    opt_outs = MemoryOptOuts(*(("acme", n) for n in ("+12025550101", "+13125550102") if chance.random() < 0.5))

    plan, store = planned(content, opt_outs=opt_outs, batch_size=batch_size)

    batches = batches_of(store, plan.batches_manifest_key)
    leads = [lead for batch in batches for lead in leads_of(store, batch)]
    assert plan.leads.total == len(rows)
    assert plan.leads.are_closed
    assert len(leads) == len({lead.phone_number for lead in leads}) == plan.leads.accepted
    assert len(rejects_of(store, plan)) == plan.leads.total - plan.leads.accepted
    assert sum(lead.parts for lead in leads) == plan.parts == sum(batch.parts for batch in batches)
    assert all(len(leads_of(store, batch)) == batch.leads <= batch_size for batch in batches)
    numbers = {lead.lead_no for lead in leads} | {int(row["lead_no"]) for row in rejects_of(store, plan)}
    assert numbers == set(range(1, len(rows) + 1))
