"""A campaign on two providers: the same handlers, one carrier behind both; and a route that its provider refuses."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest

from sandbox.carrier import DELIVERED, FILTERED, Fate, Profile
from sandbox.end_user_messaging import HOST
from tests.builders.campaigns import KIND, OPERATOR, Office, an_office, is_balanced
from tests.builders.core import phone_number

TWILIOS, AWSS = "+12025550100", "+12025550199"
SECRET = "paceline/providers/twilio"  # noqa: S105 (its name)


def half_on_each(leads: int) -> bytes:
    """A lead file whose every second lead is Verizon's, and so goes by the route of AWS End User Messaging."""
    carriers = ("verizon", "t-mobile")
    rows = "".join(f"{phone_number(number)},Ana,{carriers[number % 2]}\n" for number in range(1, leads + 1))
    return f"phone,first_name,carrier\n{rows}".encode()


@contextmanager
def two_providers(profile: Profile = KIND) -> Iterator[Office]:
    with an_office(profile=profile, route={"sender": TWILIOS}) as office:
        route = {"name": "verizon", "provider": "end_user_messaging", "sender": AWSS, "carriers": ["verizon"]}
        office.post("/v1/admin/routes", route, OPERATOR)
        yield office


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(KIND, id="a kind carrier"),
        pytest.param(Profile(throttled=0.15, retry_after=20), id="that throttles"),
        pytest.param(Profile(silent=0.15), id="that accepts without an answer"),
        pytest.param(Profile(failing=0.15, refused=(("21614", 0.1), ("21610", 0.1)), doubled=0.5), id="that fails"),
    ],
)
def test_a_campaign_on_both_providers_comes_to_its_end_and_its_sums_close(profile: Profile) -> None:
    with two_providers(profile) as office:
        execution = office.start(half_on_each(40))

        report = office.report()

        by_sender = Counter(entry.sender for entry in office.sandbox.carrier.book)
        assert execution.status == "SUCCEEDED"
        assert is_balanced(office, report)
        assert report["leads"]["accepted"] == 40
        assert office.most_texts_to_one_person() == 1
        assert min(by_sender[TWILIOS], by_sender[AWSS]) >= 5  # of 20 each; what is refused or in doubt is in no book


def test_what_became_of_each_message_is_the_same_whichever_provider_had_it() -> None:
    fates = ((DELIVERED, 24), (FILTERED, 8), (Fate("undelivered", "30003"), 8))
    with two_providers(Profile(exact=fates, refused=(), doubled=0.3)) as office:
        office.start(half_on_each(40))

        report = office.report()

        book = office.sandbox.carrier.book
        words = {
            phone[-4:]: (row["outcome"], row["cause"])
            for row in office.rows("outcomes.csv")
            if (phone := row["phone_number"])
        }
        theirs = {
            ("delivered", ""): ("delivered", ""),
            ("undelivered", "30007"): ("undelivered", "carrier_filtered"),
            ("undelivered", "30003"): ("undelivered", "unreachable"),
        }
        assert (report["outcomes"]["delivered"], report["outcomes"]["undelivered"]) == (24, 16)
        assert {e.to[-4:]: theirs[e.status, e.error_code] for e in book} == words
        assert all(entry.sid for entry in book)


def test_where_no_event_comes_a_message_of_end_user_messaging_stays_unconfirmed() -> None:
    """It has no look-up: what Twilio can be asked for, only its events say."""
    with two_providers(Profile(shares=((DELIVERED, 1.0),), refused=(), silent=1.0, intermediate=False)) as office:
        office.sandbox.network.add(HOST, lambda *_: pytest.fail("the test keeps the events"))
        office.sandbox.messaging.publish = lambda *_: True  # type: ignore[method-assign]
        office.sandbox.network.add(HOST, office.sandbox.messaging.handle)
        office.start(half_on_each(20))

        report = office.report()

        assert (report["outcomes"]["delivered"], report["outcomes"]["unconfirmed"]) == (10, 10)
        assert is_balanced(office, report)


# -- a route that its provider refuses ---------------------------------------------------------------------------------


def without_secret(office: Office) -> None:
    boto3.client("secretsmanager").delete_secret(SecretId=SECRET, ForceDeleteWithoutRecovery=True)


def with_a_broken_secret(office: Office) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=SECRET, SecretString="not json")


def shown(office: Office) -> dict[str, Any]:
    [route] = [one for one in office.call("GET", "/v1/routes")["routes"] if one["name"] == "shared"]
    return route


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        pytest.param(without_secret, "secret_missing", id="no secret"),
        pytest.param(with_a_broken_secret, "secret_unusable", id="a secret that is none"),
    ],
)
def test_a_route_without_its_secret_holds_and_says_why_until_an_operator_has_mended_it(spoil: Any, cause: str) -> None:
    with an_office() as office:
        spoil(office)
        office.start(20)
        office.passes(minutes=2)

        binding = office.shown()["binding"]
        trouble = shown(office)["binding"]
        before = office.sent, Counter(office.shown()["messages"])
        secret = boto3.client("secretsmanager")
        value = f'{{"account_sid": "AC{"0" * 32}", "auth_token": "sandbox-1"}}'
        if cause == "secret_missing":
            secret.create_secret(Name=SECRET, SecretString=value)
        else:
            secret.put_secret_value(SecretId=SECRET, SecretString=value)
        office.set_route(sender="+12025550101")  # any change of the route says that it may be tried again
        began = office.now
        report = office.report()

        assert (binding["cause"], trouble["cause"], trouble["detail"]) == (
            "provider_misconfigured",
            "provider_misconfigured",
            cause,
        )
        assert before == (0, Counter())
        assert report["outcomes"]["delivered"] == 20
        assert is_balanced(office, report)
        assert (min(office.sent_times()) - began).total_seconds() < 60


def test_a_route_whose_provider_knows_the_account_no_more_holds_and_goes_on_by_itself_later() -> None:
    with an_office() as office:
        token, office.sandbox.carrier.account_sid = office.sandbox.carrier.account_sid, "AC1"
        office.start(20)
        office.passes(minutes=20)
        assert office.sent == 0

        office.sandbox.carrier.account_sid = token
        report = office.report()

        assert report["outcomes"]["delivered"] == 20
        assert report["lost_to"]["provider_misconfigured"] >= 15
        assert is_balanced(office, report)


def test_a_function_that_may_not_send_holds_the_route_and_fails_no_lead() -> None:
    with two_providers() as office:
        iam = boto3.client("iam")
        [role] = [one["RoleName"] for one in iam.list_roles()["Roles"] if "SendFunctionRole" in one["RoleName"]]
        [policy] = iam.list_role_policies(RoleName=role)["PolicyNames"]
        text = str(iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"])
        statements = ast.literal_eval(text.replace("sms-voice:SendTextMessage", "sms-voice:DescribePools"))["Statement"]
        document = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_role_policy(RoleName=role, PolicyName=policy, PolicyDocument=document)
        office.sandbox.permissions.read_again()
        office.start(half_on_each(20))
        office.passes(minutes=5)

        assert {entry.sender for entry in office.sandbox.carrier.book} == {TWILIOS}
        assert "provider_misconfigured" in {hold["cause"] for hold in office.shown()["held_by"]}
        assert "failed" not in office.shown()["messages"]


# -- what is written down ----------------------------------------------------------------------------------------------


def test_the_logs_of_a_run_hold_no_secret_no_number_and_no_text() -> None:
    profile = Profile(throttled=0.1, failing=0.1, silent=0.1, refused=(("21614", 0.1),))
    with two_providers(profile) as office:
        office.start(half_on_each(40))
        office.report()

        logged = "\n".join(office.sandbox.logs.lines)
        numbers = {entry.to.removeprefix("+1") for entry in office.sandbox.carrier.book}
        assert logged.count("\n") > 5
        assert "sandbox-1" not in logged
        assert "renewal is due" not in logged
        assert not [number for number in numbers if number in logged]


# -- what comes back through the topic ---------------------------------------------------------------------------------


def published(office: Office, event: dict[str, Any]) -> bool:
    """Let AWS publish an event to the topic; return whether the function took it."""
    sandbox = office.sandbox
    return sandbox.do(sandbox.messaging.publish, sandbox.names["ProviderEvents"], event)


def test_somebody_who_answers_stop_to_a_number_of_aws_is_sent_nothing_more() -> None:
    with two_providers() as office:
        office.call("PATCH", "/v1/admin/routes/verizon", {"inbound_accounts": ["acme"]}, OPERATOR)
        words = {
            "originationNumber": phone_number(2),
            "destinationNumber": AWSS,
            "messageBody": "Stop",
            "inboundMessageId": "i",
        }

        taken = published(office, words | {"inboundMessageId": "i-1"})
        office.start(half_on_each(4))
        report = office.report()

        assert taken
        assert report["leads"]["opted_out"] == 1
        assert phone_number(2) not in {entry.to for entry in office.sandbox.carrier.book}


def test_what_is_no_event_fails_in_the_function_so_that_lambda_keeps_it() -> None:
    with two_providers() as office:
        assert not published(office, {"hello": "there"})
        assert office.sandbox.functions.usage[office.sandbox.names["ProviderEventsFunction"]].errors == {
            "RequestMalformed": 1
        }


def test_an_event_that_the_function_failed_to_take_comes_again_and_is_applied() -> None:
    with two_providers() as office:
        failures = iter([True, True])
        publish = office.sandbox.messaging.publish
        office.sandbox.messaging.publish = lambda *event: not next(failures, False) and publish(*event)  # type: ignore[method-assign]
        office.start(half_on_each(6))

        report = office.report()

        assert report["outcomes"]["delivered"] == 6
        assert office.sandbox.carrier.callbacks_failed == 0
