"""Planning what customers really upload: one person once, texts that are whole, zones and routes that are explained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import LeadFileInvalid, RouteNotFound
from paceline.leads.zones import ALL_US_ZONES
from paceline.models import Plan, Route, RoutingRules
from paceline.planning import plan_campaign
from paceline.segments import measure
from tests.builders.planning import KEY, ROUTES, a_campaign, leads_in, planned, rejects_of
from tests.fakes.stores import MemoryOptOuts, MemoryStore

# -- one person -----------------------------------------------------------------------------------------------------

SPELLINGS = (
    "{0}{1}{2}",
    "({0}) {1}-{2}",
    "{0}-{1}-{2}",
    "{0}.{1}.{2}",
    "{0} {1} {2}",
    "1{0}{1}{2}",
    "1-{0}-{1}-{2}",
    "+1{0}{1}{2}",
    "+1 ({0}) {1}-{2}",
    "+1.{0}.{1}.{2}",
    "011 1 {0} {1} {2}",
    " {0}-{1}-{2}\u00a0",
    "{0}–{1}–{2}",
    "'+1{0}{1}{2}",
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(SPELLINGS), min_size=2, max_size=8),
    st.sampled_from([("202", "555", "0107"), ("312", "555", "0150"), ("808", "555", "0199")]),
)
def test_one_person_in_any_spellings_is_one_lead_and_the_first_row_wins(
    spellings: list[str], number: tuple[str, str, str]
) -> None:
    content = "phone,first_name\n" + "".join(
        f"{spelling.format(*number)},Name{row}\n" for row, spelling in enumerate(spellings)
    )

    plan, store = planned(content, message="Hi {{first_name}}")

    [lead] = leads_in(store, plan)
    assert (lead.phone_number, lead.text) == ("+1" + "".join(number), "Hi Name0")
    assert plan.parts == plan.leads.accepted == 1
    assert plan.leads.duplicates == len(spellings) - 1
    assert [row["explanation"] for row in rejects_of(store, plan)] == ["The same number as in row 2."] * (
        len(spellings) - 1
    )


# -- whole texts ----------------------------------------------------------------------------------------------------

NOTHING = [
    "",
    " ",
    "\x07",
    "\x00",
    "\x1b\x7f",
    "\u115f",
    "\ufe0f",
    "\u00a0",
    "\u200b",
    "\u200b \ufeff",
    "\u2800",
    "\u3164",
    "#N/A",
    "#REF!",
    "#VALUE!",
    "#NAME?",
]


@pytest.mark.parametrize("nothing", NOTHING, ids=ascii)
def test_a_value_that_shows_nothing_refuses_its_lead_and_says_which_field(nothing: str) -> None:
    plan, store = planned(f'phone,First Name\n2025550108,Ana\n2025550109,"{nothing}"\n', message="Hi {{first_name}},")

    assert [lead.text for lead in leads_in(store, plan)] == ["Hi Ana,"]
    [reject] = rejects_of(store, plan)
    assert (reject["row_number"], reject["reason"]) == ("3", "blank_field")
    assert "first_name" in reject["explanation"]


@pytest.mark.parametrize("nothing", NOTHING, ids=ascii)
def test_the_default_stands_in_for_a_value_that_shows_nothing(nothing: str) -> None:
    plan, store = planned(f'phone,first_name\n2025550108,"{nothing}"\n', message="Hi {{first_name|there}},")

    assert [lead.text for lead in leads_in(store, plan)] == ["Hi there,"]


@pytest.mark.parametrize(
    "value", ["Null", "None", "nan", "N/A", "undefined", "0", "False", "-", "{{code}}", "{code|x}"]
)
def test_a_value_that_somebody_typed_goes_out_as_it_is(value: str) -> None:
    plan, store = planned(f"phone,first_name,code\n2025550108,{value},9\n", message="Hi {{first_name}}!")

    assert [lead.text for lead in leads_in(store, plan)] == [f"Hi {value}!"]


def test_a_json_lead_without_the_value_is_refused_and_a_number_is_a_value() -> None:
    leads: list[dict[str, Any]] = [
        {"phone": "+12025550113", "first_name": None, "code": 5},
        {"phone": "+12025550100", "first_name": "Dee", "code": 0},
        {"phone": "+12025550114", "code": 7},
        {"phone": "+12025550115", "first_name": ["Ana"], "code": 8},
    ]

    plan, store = planned("".join(json.dumps(lead) + "\n" for lead in leads), message="Hi {{first_name}}: {{code}}")

    assert [lead.text for lead in leads_in(store, plan)] == ["Hi Dee: 0"]
    assert [row["row_number"] for row in rejects_of(store, plan)] == ["1", "3", "4"]
    assert plan.rejected_reasons == {"blank_field": 3}


def test_a_line_that_is_no_object_is_refused_as_such_and_not_for_what_it_lacks() -> None:
    content = '{"phone": "2025550108", "first_name": "Ana"}\n{"phone": "2025550109", "first_name"\n{}\n'

    plan, _ = planned(content, message="Hi {{first_name}}!")

    assert plan.rejected_reasons == {"broken_json": 1, "no_values": 1}


@pytest.mark.parametrize("content", ["phone,code\n2025550108,1\n", '{"phone": "2025550108", "code": 1}\n'])
def test_a_field_that_no_lead_can_fill_refuses_the_file_and_writes_nothing(content: str) -> None:
    store = MemoryStore({KEY: content.encode()})

    with pytest.raises(LeadFileInvalid, match="'first_name'"):
        plan_campaign(a_campaign(message="Hi {{first_name}}"), ROUTES, store, MemoryOptOuts())

    assert store.puts == []


values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='\x00\r\n"'), max_size=10)


@settings(max_examples=100, deadline=None)
@given(st.lists(values, min_size=1, max_size=5))
def test_no_text_is_half_filled_and_every_part_is_counted_on_the_text_that_goes_out(names: list[str]) -> None:
    content = "phone,first_name\n" + "".join(f'20255501{row:02},"{name}"\n' for row, name in enumerate(names))

    plan, store = planned(content, message="Hi {{first_name}}, your quote is ready.")

    leads = leads_in(store, plan)
    assert plan.leads.are_closed
    assert plan.leads.total == len(names)
    assert all(lead.parts == measure(lead.text).parts for lead in leads)
    # What a name begins with is the customer's (",Ana"); that there is one is ours.
    assert "Hi , your quote is ready." not in [lead.text for lead in leads]


# -- punctuation ----------------------------------------------------------------------------------------------------

LONG = "Hi {{first_name}}, it’s time to renew your policy – your new quote is ready. Call us now or reply STOP"


def test_the_plan_says_what_plain_punctuation_would_save_and_sends_what_was_typed() -> None:
    plan, store = planned("phone,first_name\n2025550101,Ana\n2025550102,Zoë\n", message=LONG)

    assert (plan.parts, plan.punctuation_messages, plan.punctuation_parts) == (4, 1, 1)  # Zoë's stays UCS-2
    assert "it’s time" in leads_in(store, plan)[0].text
    assert any("cost 1 of 4 parts, in 1 messages" in warning and "to_gsm7" in warning for warning in plan.warnings)


def test_plain_punctuation_is_sent_and_counted_on_request() -> None:
    content = "phone,first_name\n2025550101,Ana\n2025550102,Zoë\n"

    plan, store = planned(content, message=LONG, smart_punctuation="to_gsm7")

    assert (plan.parts, plan.punctuation_messages, plan.punctuation_parts) == (3, 1, 1)
    texts = [lead.text for lead in leads_in(store, plan)]
    assert texts[0].startswith("Hi Ana, it's time to renew your policy - your")
    assert texts[1].startswith("Hi Zoë, it’s time to renew your policy – your")
    assert any("saves 1 of 4 parts" in warning for warning in plan.warnings)


# -- zones ----------------------------------------------------------------------------------------------------------


def streams_of(plan: Plan) -> dict[tuple[str, ...], int]:
    return {stream.zones: stream.leads for stream in plan.streams}


def test_a_column_of_places_decides_the_hours_and_the_number_only_where_it_is_blank() -> None:
    content = (
        "phone,timezone,zip,state\n"
        "2025550101,America/Los_Angeles,,\n"
        "2025550102,,60601,\n"
        "2025550103,,,Texas\n"
        "2025550104,,,\n"
    )

    plan, _ = planned(content)

    assert streams_of(plan) == {
        ("America/Los_Angeles",): 1,
        ("America/Chicago",): 1,
        ("America/Denver", "America/Chicago"): 1,
        ("America/New_York",): 1,  # Washington's number
    }


@pytest.mark.parametrize(
    "row", ["2025550101,Mars/Phobos", "2025550101,UTC-5", "2025550101,?"], ids=["no zone", "an offset", "a mark"]
)
def test_an_unknown_zone_gets_the_strictest_hours_and_a_warning(row: str) -> None:
    plan, _ = planned(f"phone,timezone\n{row}\n2025550102,Eastern\n")

    assert streams_of(plan) == {ALL_US_ZONES: 1, ("America/New_York",): 1}
    assert any("time zone of 1 of 2 leads is not known" in warning for warning in plan.warnings)


# -- routes ---------------------------------------------------------------------------------------------------------

OWN = Route(name="acme-own", parts_per_minute=1200)


class Book:
    """A carrier look-up in memory. asked: the numbers of each question."""

    def __init__(self, **carriers: str) -> None:
        self.carriers = {f"+1{number[1:]}": carrier for number, carrier in carriers.items()}
        self.asked: list[list[str]] = []

    def carriers_of(self, account_id: str, phone_numbers: Iterable[str]) -> Mapping[str, str]:
        self.asked.append([*phone_numbers])
        return {number: self.carriers[number] for number in self.asked[-1] if number in self.carriers}


def test_a_carrier_is_looked_up_only_where_the_file_says_none() -> None:
    book = Book(n2025550101="Verizon", n2025550102="Verizon")

    plan, _ = planned("phone,carrier\n2025550101,\n2025550102,Sprint\n2025550103,\n", carriers=book)

    assert book.asked == [["+12025550101", "+12025550103"]]
    assert {stream.route: stream.leads for stream in plan.streams} == {"verizon": 1, "shared": 2}
    assert any("No carrier is given for 1 of 3 leads" in warning for warning in plan.warnings)


def test_a_file_without_carriers_is_warned_about_only_for_what_the_look_up_does_not_know() -> None:
    plan, _ = planned("phone\n2025550101\n2025550102\n", carriers=Book(n2025550101="verizon"))

    assert plan.warnings == (
        "No carrier is given for 1 of 2 leads: on 'shared', at its 240 parts a minute, that takes 1 min.",
    )


def test_nobody_is_asked_where_the_campaign_names_its_route_or_the_person_opted_out() -> None:
    forced, stopped = Book(), Book()

    planned("phone\n2025550101\n", carriers=forced, route="verizon")
    planned("phone\n2025550101\n", carriers=stopped, opt_outs=MemoryOptOuts(("acme", "+12025550101")))

    assert forced.asked == stopped.asked == []


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param({}, {"verizon": 1, "shared": 2}, id="none: the common routes"),
        pytest.param(
            {"carriers": {"VERIZON wireless": "acme-own"}}, {"verizon": 1, "shared": 2}, id="for another carrier"
        ),
        pytest.param({"carriers": {"verizon": "acme-own"}}, {"acme-own": 1, "shared": 2}, id="for the carrier"),
        pytest.param({"otherwise": "acme-own"}, {"verizon": 1, "acme-own": 2}, id="instead of shared"),
    ],
)
def test_an_accounts_rules_come_before_the_common_routes(rules: dict[str, Any], expected: dict[str, int]) -> None:
    content = "phone,carrier\n2025550101,Verizon\n2025550102,\n2025550103,Sprint\n"

    plan, _ = planned(content, routes=(*ROUTES, OWN), rules=RoutingRules.model_validate(rules))

    assert {stream.route: stream.leads for stream in plan.streams} == expected


def test_a_rule_that_names_no_route_is_an_error_that_names_those_that_exist() -> None:
    with pytest.raises(RouteNotFound, match="shared, verizon"):
        planned("phone,carrier\n2025550101,Verizon\n", rules=RoutingRules(carriers={"Verizon": "gone"}))


def test_what_an_unknown_carrier_costs_is_said_in_time_on_the_route_that_it_goes_by() -> None:
    content = "phone\n" + "".join(f"202555{line:04}\n" for line in range(2_000))

    plan, _ = planned(content, routes=(*ROUTES, OWN), rules=RoutingRules(otherwise="acme-own"))
    shared, _ = planned(content)

    assert "on 'acme-own', at its 1,200 parts a minute, that takes 2 min" in plan.warnings[0]
    assert "on 'shared', at its 240 parts a minute, that takes 9 min" in shared.warnings[0]
