"""Forgetting one person: found in every spelling and every version, killed anywhere it goes on, busy it waits."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from paceline import keys
from paceline.audit import Signature
from paceline.batches import read_leads
from paceline.errors import RequestInvalid
from paceline.forgetting import Busy, Forgotten, forget, person_of, search
from paceline.forgetting.objects import mentions, without
from paceline.late import write_late
from paceline.leads.lines import lead_to_line
from paceline.models import Batch, Lead, Route
from paceline.moments import iso
from paceline.opt_outs import TableOptOuts, opt_out
from paceline.receipts import store_callback
from paceline.recount import recount
from paceline.reporting import build_and_store, publish_outcome
from paceline.settlement import is_charged
from paceline.status import CampaignStatus, MessageStatus
from paceline.table import Put, Table, Update
from tests.builders.core import NOON, World, a_campaign, a_lead, a_world, an_account, phone_number
from tests.builders.recounts import ends, has_planned, sends
from tests.fakes.tables import WRITES, Killed, WatchedTable
from tests.fakes.versions import VersionedMemory

PERSON = person_of(phone_number(2))
BY = Signature("console", NOON + timedelta(days=1), "forget-1", "An operator")
UPLOAD, LEADS = "uploads/acme/renewals/leads.csv", "campaigns/renewals/leads/00001.jsonl"


@pytest.fixture
def world(empty_world: World) -> World:
    return empty_world


@pytest.fixture
def store() -> VersionedMemory:
    return VersionedMemory()


class Quiet:
    """Events that nobody listens to."""

    def publish(self, detail_type: str, detail: dict[str, object]) -> None:
        """Publish nothing."""


def has_ended(world: World, store: VersionedMemory) -> Batch:
    """A campaign of three leads whose report is published; its lead file was written over; a receipt in the inbox."""
    world.store = store
    world.has(an_account(), Route(name="shared"), a_campaign())
    [batch] = has_planned(world, 3)
    for number in (2, 3):
        store.put(UPLOAD, f"phone\n{phone_number(number)}\n".encode())
    sends(world, batch)
    receipt = keys.message_id("renewals", "00001", 2)
    store_callback(world.table, "twilio", receipt, {"MessageStatus": "sent", "MessageSid": "SM0002"}, NOON)
    ends(world, batch)
    lists = "campaigns/renewals/report/v001/differences.csv"
    store.put(lists, b"lead_no,provider_message_id\r\n2,SM0002\r\n3,SM0003\r\n")
    built = build_and_store(world.table, store, "renewals", world.clock.now())
    publish_outcome(world.table, store, Quiet(), built)
    return batch


def forgets(world: World, store: VersionedMemory, table: Table | None = None, **how: bool) -> Forgotten:
    return forget(table or world.table, store, PERSON, None, BY, **how)


def places(world: World, store: VersionedMemory) -> set[str]:
    """Return where the person or the id of their message is: keys of rows, and of objects in any version."""
    [batch_rows, inbox] = (
        list(world.table.query(partition))
        for partition in (keys.batch_partition("renewals", "00001"), keys.inbox("renewals.00001.2", "")[0])
    )
    own = [world.table.get(keys.recipient("acme", PERSON.phone_number))]
    rows = [row for row in (*batch_rows, *inbox, *own) if row and ("SM0002" in str(row) or PERSON.is_in(str(row)))]
    objects = {
        key
        for key, bodies in store.bodies.items()
        if any(PERSON.is_in(body.decode()) or b"SM0002" in body for body in bodies)
    }
    return {row["sk"] for row in rows} | objects


def counts(world: World, store: VersionedMemory) -> list[str]:
    """Return what differs in the account by an audit."""
    found = recount(world.table, store, None, world.clock.now())
    return [str(one) for account in found.accounts for one in account.differences]


# -- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "+12025550102",
        "12025550102",
        "2025550102",
        "(202) 555-0102",
        "202.555.0102",
        "+1 202 555 0102",
        "1-202-555-0102",
        "call \u202a+1 (202) 555\u20110102\u202c now",
        "\uff12\uff10\uff12\uff15\uff15\uff15\uff10\uff11\uff10\uff12",
        "202/555 0102",
    ],
)
def test_a_number_is_found_in_every_spelling_and_taken_out(text: str) -> None:
    assert PERSON.is_in(text)
    assert not PERSON.is_in(PERSON.without(text))


@pytest.mark.parametrize("text", ["2025550103", "120255501022", "92025550102", "202,555,0102", "20255,50102", ""])
def test_another_number_is_not_the_persons(text: str) -> None:
    assert not PERSON.is_in(text)
    assert PERSON.without(text) == text


def workbook(text: str) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst><si><t>{text}</t></si></sst>")
    return body.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"phone\n(202) 555-0102\n", id="plain"),
        pytest.param(gzip.compress(b"phone\n202-555-0102\n"), id="gzip"),
        pytest.param("phone\n2025550102\n".encode("utf-16"), id="UTF-16"),
        pytest.param(b'{"phone": "2025550102"}\n', id="JSON lines"),
        pytest.param(workbook("202 555 0102"), id="a workbook, in any sheet"),
        pytest.param(gzip.compress(workbook("2025550102")), id="a packed workbook"),
        pytest.param(b"", id="nothing, but its name has it"),
    ],
)
def test_a_lead_file_is_searched_whatever_it_is(body: bytes) -> None:
    name = "2025550102.csv" if not body else "leads.csv"

    assert mentions(f"uploads/acme/renewals/{name}", body, PERSON)
    assert not mentions("uploads/acme/renewals/leads.csv", body, person_of(phone_number(3)))


def test_a_lead_keeps_its_place_and_its_size_among_the_others() -> None:
    """Batches know their leads by the bytes; a text of letters that take more room when spelled out fits too."""
    leads = [a_lead(1), a_lead(2), Lead(3, phone_number(3), "\u00bd" * 40 + " \uff12\uff10\uff12 555 0102", 1, 4)]
    body = b"".join(map(lead_to_line, leads))

    new = without(LEADS, body, PERSON, {2})

    lines, was = new.splitlines(keepends=True), body.splitlines(keepends=True)
    assert list(map(len, lines)) == list(map(len, was))
    assert lines[0] == was[0]
    assert not PERSON.is_in(new.decode())
    assert b'"phone_number":"","text":""' in lines[1]
    assert phone_number(3).encode() in lines[2]


# -- what is erased, and what stays -----------------------------------------------------------------------------------


def test_a_person_is_erased_from_every_row_and_version(world: World, store: VersionedMemory) -> None:
    batch = has_ended(world, store)
    assert len(places(world, store)) == 7

    done = forgets(world, store)

    assert [(one.campaign_id, set(one.leads)) for one in done.found[0].campaigns] == [("renewals", {2})]
    assert places(world, store) == set()
    assert store.bodies.keys() >= {LEADS, "campaigns/renewals/report/v001/outcomes.csv"}
    assert UPLOAD not in store.bodies
    assert [lead.phone_number for lead in read_leads(store, batch)] == [phone_number(1), "", phone_number(3)]
    assert counts(world, store) == []


def test_again_it_finds_nothing_and_writes_nothing(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    forgets(world, store)

    assert forgets(world, not_written(store), WatchedTable(world.table, before=never_writes)).found == []


def never_writes(method: str, _: object) -> None:
    assert method not in WRITES


def not_written(store: VersionedMemory) -> VersionedMemory:
    def never() -> None:
        raise AssertionError("a write")

    store.before = never
    return store


def test_killed_at_any_write_it_goes_on_when_it_is_run_again() -> None:
    """At each write of a row and of an object in turn: what is left is found by the same number."""
    for number in count(1):
        with a_world() as world:
            store = VersionedMemory()
            has_ended(world, store)
            steps = count(1)

            def dies(method: str = "put", _: object = None, steps: Iterator[int] = steps, number: int = number) -> None:
                if method in WRITES and next(steps) == number:
                    raise Killed

            store.before = dies
            try:
                forgets(world, store, WatchedTable(world.table, before=dies))
                break
            except Killed:
                forgets(world, store)
                assert places(world, store) == set(), number
                assert counts(world, store) == [], number
    assert number > 10


def test_what_a_provider_took_is_charged_though_its_id_is_gone(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    key = keys.message("renewals", "00001", 2)
    world.table.update(Update(key, "SET #status = :s, #rank = :r", {"s": "unconfirmed", "r": "31x#SM0002"}))

    forgets(world, store)

    message = world.message(2)
    assert message is not None
    assert (message.provider_message_id, is_charged(message, a_campaign().charging)) == ("forgotten", True)
    assert (world.table.get(key) or {})["rank"] == "31x#forgotten"


def test_what_the_providers_book_had_is_listed_without_the_message(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    lists = "campaigns/renewals/report/v001/differences.csv"
    both = [{"lead_no": 2, "provider_message_id": "SM0002"}, {"lead_no": 3, "provider_message_id": "SM0003"}]
    world.table.update(Update(keys.batch("renewals", "00001"), "SET #differences = :both", {"both": both}))

    forgets(world, store)

    assert store.get(lists) == b"lead_no,provider_message_id\r\n2,forgotten\r\n3,SM0003\r\n"
    row = world.table.get(keys.batch("renewals", "00001")) or {}
    assert [one["provider_message_id"] for one in row["differences"]] == ["forgotten", "SM0003"]


def test_an_opt_out_stays_and_nothing_else_of_its_person(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    opt_out(world.table, "acme", PERSON.phone_number, iso(NOON))

    forgets(world, store)

    key = keys.recipient("acme", PERSON.phone_number)
    assert world.table.get(key) == {"pk": key[0], "sk": key[1], "opted_out_at": iso(NOON)}
    assert TableOptOuts(world.table).opted_out("acme", [PERSON.phone_number]) == {PERSON.phone_number}


def test_other_accounts_keep_the_person_where_one_is_asked_for(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    world.has(an_account(account_id="other"))
    world.table.put(Put({"pk": f"CARRIER#other#{PERSON.phone_number}", "sk": "CARRIER", "carrier": "x"}))

    forget(world.table, store, PERSON, "acme", BY)

    assert [one.account_id for one in search(world.table, store, PERSON, None)] == ["other"]


def test_a_file_that_cannot_be_searched_is_named(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    torn = f"{UPLOAD}.gz"
    store.put(torn, gzip.compress(b"phone\n2025550102\n")[:20])

    assert [one.unreadable for one in search(world.table, store, PERSON, None)] == [[torn]]


# -- when it waits ----------------------------------------------------------------------------------------------------


def is_busy(world: World, store: VersionedMemory, later: timedelta = timedelta(days=1)) -> list[Busy]:
    before = places(world, store)
    by = replace(BY, at=world.clock.now() + later, request_id=f"later-{later}")
    done = forget(world.table, store, PERSON, None, by)
    assert not done.busy or places(world, store) == before, "nothing is erased"
    return done.busy


@pytest.mark.parametrize("status", [CampaignStatus.RUNNING, CampaignStatus.PAUSED])
def test_a_campaign_that_runs_keeps_the_person_and_says_until_when(
    world: World, store: VersionedMemory, status: CampaignStatus
) -> None:
    has_ended(world, store)
    world.becomes(status)

    [busy] = is_busy(world, store)

    assert str(busy).startswith("Campaign renewals has the person and still runs, until 2026-10-")


def test_a_cancelled_campaign_is_busy_until_its_report(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    world.becomes(CampaignStatus.CANCELLED)
    assert is_busy(world, store) == []
    world.table.update(Update(keys.campaign("renewals"), "SET #report_version = :none", {"none": 0}))
    store.put(UPLOAD, b"phone\n2025550102\n")

    assert "waits for its report" in str(*is_busy(world, store))
    assert is_busy(world, store, timedelta(days=60)) == [], "none will come any more"


def test_a_late_word_that_waits_for_its_report_is_waited_for_an_hour(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    values = {"status": MessageStatus.DELIVERED.value, "rank": "9"}
    update = Update(keys.message("renewals", "00001", 3), "SET #status = :status, #rank = :rank", values)
    assert write_late(world.table, update, keys.message_id("renewals", "00001", 3), world.clock.now())

    assert len(is_busy(world, store, timedelta(minutes=59))) == 1
    assert is_busy(world, store, timedelta(minutes=61)) == []


def test_an_opt_out_that_is_asked_for_is_noted_before_it_is_refused(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)
    world.becomes(CampaignStatus.RUNNING)

    assert forgets(world, store, opts_out=True).busy

    assert TableOptOuts(world.table).opted_out("acme", [PERSON.phone_number]) == {PERSON.phone_number}


def test_a_lead_that_was_forgotten_is_never_sent(world: World, store: VersionedMemory) -> None:
    world.store = store
    world.has(an_account(), Route(name="shared"), a_campaign())
    [batch] = has_planned(world, 1)
    store.put(LEADS, without(LEADS, store.get(LEADS), person_of(phone_number(1)), {1}))
    world.admit_in_time(batch)

    assert world.send(batch).status is MessageStatus.SKIPPED

    assert not world.provider.accepted


def test_what_is_no_number_says_how_to_write_it() -> None:
    with pytest.raises(RequestInvalid, match=r"Write it as \+12025550101"):
        person_of("twelve")
    assert person_of("+441632960123").phone_number == "+441632960123"


def test_a_trail_without_its_end_says_that_somebody_was_killed(world: World, store: VersionedMemory) -> None:
    has_ended(world, store)

    def dies(method: str, action: object) -> None:
        if method == "delete":
            raise Killed

    with pytest.raises(Killed):
        forgets(world, store, WatchedTable(world.table, before=dies))
    [row] = world.table.query(keys.audit_partition("FORGETTING"))

    assert "is_done" not in row
    assert row["changes"]["account acme, campaign renewals"]["before"]["leads"] == [2]
    assert not PERSON.is_in(str(row))
