"""A thousand receipts in one second for one customer: each writes its own rows, so none meets another."""

from __future__ import annotations

from urllib.parse import urlencode

from paceline.adapters.twilio import signature
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from tests.builders.campaigns import an_office, is_balanced

LEADS, RECEIPTS = 190, ("sent", "delivered", "sent", "undelivered", "delivered", "failed")
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0, intermediate=False)


def test_a_thousand_receipts_in_a_second_cause_no_conflict() -> None:
    with an_office(profile=SILENT, route={"parts_per_minute": 60_000}) as office:
        office.start(LEADS)
        office.wait_until(lambda: office.sent == LEADS)
        office.passes(minutes=10)
        carrier, scheduler = office.sandbox.carrier, office.sandbox.scheduler
        before = office.sandbox.counters.conflicts
        answered: list[int] = []

        def receive(after: float, url: str, fields: dict[str, str]) -> None:
            scheduler.sleep(after)
            headers = {
                "content-type": "application/x-www-form-urlencoded",
                "x-twilio-signature": signature(carrier.auth_token, url, fields),
            }
            answered.append(carrier.post("POST", url, headers, urlencode(fields).encode()).status)

        for number, entry in enumerate(carrier.book):
            for place, status in enumerate(RECEIPTS):
                fields = {"MessageSid": entry.sid, "MessageStatus": status, "To": entry.to, "From": entry.sender}
                fields |= {"ErrorCode": "30003"} if status == "undelivered" else {}
                after = (place + number / LEADS) / len(RECEIPTS)
                scheduler.spawn(receive, after, entry.callback, fields)
        office.passes(seconds=5)

        assert len(answered) == LEADS * len(RECEIPTS) >= 1000
        assert set(answered) == {204}  # taken at the first try
        assert office.sandbox.counters.conflicts == before
        report = office.report()
        assert report["outcomes"]["delivered"] == LEADS
        assert is_balanced(office, report)
