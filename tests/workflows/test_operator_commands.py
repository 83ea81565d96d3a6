"""What operators do by command, against the API in the sandbox: shown, changed, refused, and the exit status."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from click.testing import CliRunner, Result

from console.cli import main
from paceline.errors import ServiceFault
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, an_office, id_of
from tests.builders.core import phone_number

NAME = id_of("renewals")


class Desk:
    """Runs commands inside the sandbox, as if over the network."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.env = {"PACELINE_URL": office.sandbox.outputs["ApiUrl"], "PACELINE_KEY": OPERATOR, "COLUMNS": "240"}

    def run(self, *words: str, key: str = OPERATOR, answer: str | None = None) -> Result:
        env = self.env | {"PACELINE_KEY": key}
        return self.office.sandbox.do(lambda: CliRunner().invoke(main, words, env=env, input=answer))

    def told(self, *words: str) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """A campaign of 12 leads that five credits hold, with its day cap far away."""
    with an_office(credits=5, route={"parts_per_minute": 240, "parts_per_day": 500}) as office:
        office.start(12, name="Spring [bold]")
        office.wait_until(lambda: any(hold["cause"] == "credits" for hold in office.shown()["held_by"]))
        yield Desk(office)


def test_campaigns_are_listed_with_progress_hold_and_end(desk: Desk) -> None:
    done = desk.run("campaigns", "--zone", "America/New_York")

    assert done.exit_code == 0, done.output
    [line] = [line for line in done.output.splitlines() if line.startswith(NAME)]
    assert "running" in line
    assert " 5 sent, 0 final, of 12 " in line
    assert "Not enough credits (7 needed, 0 available) on shared since 2026-09-02 12:00:" in line
    assert "EDT (16:00:" in line
    assert "7 credits are missing" in line


def test_a_campaigns_name_is_whole_in_a_narrow_terminal_for_people_copy_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(desk.env, "COLUMNS", "80")

    done = desk.run("campaigns")

    assert [line for line in done.output.splitlines() if line.startswith(f"{NAME} ")], done.output
    assert "7 credits" in done.output


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--search", "SPRING"), 1),
        (("--search", "autumn"), 0),
        (("--status", "running"), 1),
        (("--status", "finished"), 0),
        (("--account", "acme"), 1),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_campaigns_are_chosen(desk: Desk, words: tuple[str, ...], count: int) -> None:
    assert len(desk.told("campaigns", *words)["campaigns"]) == count


def test_a_campaign_shows_its_hold_its_time_lost_and_its_name_as_it_is(desk: Desk) -> None:
    done = desk.run("campaign", NAME, "--zone", "UTC")

    assert done.exit_code == 0, done.output
    assert "Spring [bold]" in done.output
    assert "Not enough credits (7 needed, 0 available) since 2026-09-02 16:00:" in done.output
    assert "lost to not enough credits" in done.output
    assert "not yet" in done.output
    assert desk.told("campaign", NAME)["held_by"][0]["cause"] == "credits"


def test_a_campaign_shows_how_far_it_is_on_each_route(desk: Desk) -> None:
    lines = [" ".join(line.split()) for line in desk.run("campaign", NAME).output.splitlines()]

    heading = lines.index("route leads parts sent of parts a minute batches held sent")
    assert lines[heading + 1] == "shared 12 5 12 240 1 5"  # five credits are used up


def test_a_look_at_a_leads_number_is_in_its_accounts_trail(desk: Desk) -> None:
    desk.office.post(f"/v1/admin/campaigns/{NAME}/leads/3/reveal", {"reason": "Ana complained"}, OPERATOR)

    done = desk.run("account", "acme", "--changes")

    [line] = [line for line in done.output.splitlines() if "lead revealed" in line]
    assert "lead no 3" in line
    assert "reason Ana complained" in line
    assert phone_number(3)[-7:] not in done.output


def test_a_pause_is_asked_for_and_made_once_wanted(desk: Desk) -> None:
    unasked = desk.run("campaign", NAME, "pause")
    refused = desk.run("campaign", NAME, "pause", answer="n\n")
    before = desk.office.shown()["status"]
    paused = desk.run("campaign", NAME, "pause", "--yes")
    during = desk.office.shown()["status"]
    resumed = desk.run("campaign", NAME, "resume", answer="y\n")

    assert [one.exit_code for one in (unasked, refused, paused, resumed)] == [1, 1, 0, 0]
    assert "With --yes it is done without the question" in unasked.output
    assert (before, during, desk.office.shown()["status"]) == ("running", "paused", "running")
    assert "is paused." in paused.output


def test_routes_show_caps_use_and_the_campaigns_on_them(desk: Desk) -> None:
    [line] = [line for line in desk.run("routes").output.splitlines() if line.startswith("shared")]

    assert line.split()[1:5] == ["240", "5", "500", "none"]


def test_a_route_is_changed_after_before_and_after_were_shown(desk: Desk) -> None:
    words = ("route", "set", "shared", "--per-day", "none", "--concurrency", "40", "--per-minute", "240")
    unwanted = desk.run(*words, answer="n\n")
    kept = desk.told("routes")["routes"][0]
    done = desk.run(*words, "--yes")

    assert (unwanted.exit_code, kept["parts_per_day"], done.exit_code) == (1, 500, 0)
    assert "parts per day: 500 → none; concurrency: none → 40\n" in done.output
    route = desk.told("routes")["routes"][0]
    assert (route["parts_per_day"], route["concurrency"], route["parts_per_minute"]) == (None, 40, 240)
    changes = desk.run("route", "changes", "shared").output
    assert "500 → none" in changes
    assert "none → none" not in changes
    assert "was so already" in desk.run(*words).output


def test_a_change_that_somebody_made_meanwhile_is_not_written_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def change_first(question: str, yes: bool) -> None:
        call = {"x-api-key": OPERATOR, "content-type": "application/json"}
        url = f"{desk.env['PACELINE_URL']}/v1/admin/routes/shared"
        assert httpx.patch(url, json={"parts_per_minute": 239}, headers=call).status_code == 200

    monkeypatch.setattr("console.operator.routes.ask", change_first)
    done = desk.run("route", "set", "shared", "--per-minute", "60")

    assert done.exit_code == 1
    assert "Look at it again" in done.output
    assert desk.told("routes")["routes"][0]["parts_per_minute"] == 239


def test_credits_are_added_once_for_one_word(desk: Desk) -> None:
    before = desk.told("account", "acme")["bought"]
    unwanted = desk.run("account", "credits", "acme", "2")
    done = [desk.run("account", "credits", "acme", "2", "--once", "order-7", "--yes") for _ in range(2)]
    made = desk.run("account", "credits", "acme", "1", "--yes")

    assert [one.exit_code for one in (unwanted, *done, made)] == [1, 0, 0, 0]
    assert desk.told("account", "acme")["bought"] == before + 3
    assert "--once credits-" in made.output
    assert "bought" in desk.run("account", "--changes", "acme").output


def test_an_account_is_changed_and_shown(desk: Desk) -> None:
    done = desk.run("account", "set", "acme", "--per-day", "900", "--name", "Acme", "--yes")

    assert "parts per day: none → 900" in done.output
    shown = desk.run("account", "acme").output
    assert "acme  Acme" in shown
    assert "900" in shown


def test_opt_outs_are_added_and_masked_until_revealed(desk: Desk, tmp_path: Path) -> None:
    file, copy = tmp_path / "stop.csv", tmp_path / "all.csv"
    file.write_text(f"phone,why\n{phone_number(41)},wrote\n\n12,short\n")

    added = desk.run("opt-outs", "acme", "--add", phone_number(40), "--yes")
    imported = desk.run("opt-outs", "acme", "--import", str(file), "--yes")
    masked = desk.run("opt-outs", "acme").output + json.dumps(desk.told("opt-outs", "acme"))
    exported = desk.run("opt-outs", "acme", "--export", str(copy))

    assert (added.exit_code, imported.exit_code, exported.exit_code) == (0, 1, 0)
    assert "1 added" in imported.output
    assert "line or place 4: " in imported.output
    assert f"…{phone_number(41)[-4:]}" in masked
    assert phone_number(41) not in masked
    assert phone_number(41) in desk.run("opt-outs", "acme", "--reveal").output
    assert copy.read_text().splitlines()[0] == "phone_number,opted_out_at,source"
    assert phone_number(40) in copy.read_text()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert "Name a new file" in desk.run("opt-outs", "acme", "--export", str(copy)).output


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        (("campaign", "c-of-nobody"), 2, "no campaign"),  # 404
        (("account", "nobody"), 2, "no account 'nobody'"),
        (("campaigns", "--account", "nobody"), 1, "no account 'nobody'"),  # 422
        (("route", "set", "shared"), 2, "Say what to change"),
        (("route", "set", "shared", "--per-day", "0"), 2, "a whole number from 1, or none"),
        (("routes", "--url", "http://paceline.example"), 2, "unencrypted"),
        (("routes", "--url", "paceline"), 2, "no address of an API"),
        (("routes", "--url", "https://nothing.example"), 2, "Nothing answers at https://nothing.example"),
        (("routes", "--url", ""), 2, "Which API?"),
        (("routes", "--key", ""), 2, "Which key?"),
        (("routes", "--key", "pk_unknown_key"), 2, "does not take this key"),  # 403 of the gateway
        (("account", "acme", "--key", CUSTOMER), 2, "Your key is a customer's"),  # 403 of ours
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_what_goes_wrong_is_one_sentence_that_says_what_to_do(
    desk: Desk, words: tuple[str, ...], status: int, what: str
) -> None:
    done = desk.run(*words)

    assert done.exit_code == status, done.output
    assert what in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("status", "body", "code", "what"),
    [
        (401, {"message": "Unauthorized"}, 2, "saw no key"),
        (404, {"message": "Not Found"}, 2, "no such address"),
        (409, {"detail": "It was changed."}, 1, "It was changed. Look at it again"),
        (429, {"message": "Too Many Requests"}, 2, "nothing was done"),
        (500, {"message": "Internal Server Error"}, 2, "answered 500"),
        (503, {"detail": "We are busy."}, 2, "We are busy."),
        (503, {"message": "Service Unavailable"}, 2, "may be done or not"),
        (200, None, 2, "not as Paceline's API does"),
    ],
)
def test_each_refusal_of_the_api_is_told_apart(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, status: int, body: object, code: int, what: str
) -> None:
    content = b"<html>" if body is None else json.dumps(body).encode()
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda _, asked: httpx.Response(status, content=content))

    done = desk.run("routes")

    assert (done.exit_code, what in done.output) == (code, True), done.output


def test_an_execution_that_failed_before_its_report_is_redriven_to_it(desk: Desk) -> None:
    office, where = desk.office, ("--stack", "paceline")
    running = desk.run("redrive", NAME, *where)
    arn = office.execution().arn
    boto3.client("stepfunctions").stop_execution(executionArn=arn)

    unwanted = desk.run("redrive", NAME, *where)
    done = desk.run("redrive", NAME, *where, "--yes")
    desk.run("account", "credits", "acme", "50", "--yes")
    report = office.report()
    over = desk.run("redrive", NAME, *where)

    assert [one.exit_code for one in (running, unwanted, done, over)] == [1, 1, 0, 1]
    assert "is running" in running.output
    assert "ended as ABORTED" in unwanted.output
    assert "goes on" in done.output
    assert "with report version 1" in over.output
    assert report["outcomes"]["delivered"] == office.sent == 12
    assert office.most_texts_to_one_person() == 1
    shown = desk.run("campaign", NAME).output
    assert "All 12 messages have an outcome" in shown
    assert [line.split()[:3] for line in shown.splitlines() if line.startswith("shared")] == [["shared", "12", "12"]]
    assert "only a campaign that is" in desk.run("campaign", NAME, "pause", "--yes").output
    assert desk.run("redrive", "nothing", *where).exit_code == 2


def test_a_campaign_is_watched_to_its_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def pass_time(seconds: float) -> None:
        looks.append(seconds)
        assert len(looks) < 1000, "it never came to its end"
        desk.office.sandbox.scheduler.sleep(seconds * 10)

    monkeypatch.setattr("console.operator.campaign.time.sleep", pass_time)
    desk.office.start(1, "watched")

    done = desk.run("campaign", id_of("watched"), "--watch")

    assert done.exit_code == 0, done.output
    assert len(looks) > 1
    assert "(finished)" in done.output
    assert desk.run("campaign", id_of("watched"), "--watch", "--json").exit_code == 2


def test_a_report_that_is_no_longer_there_is_said_and_the_rest_is_shown(desk: Desk) -> None:
    bucket = boto3.resource("s3").Bucket(desk.office.sandbox.outputs["BucketName"])
    bucket.objects.filter(Prefix=f"campaigns/{id_of('watched')}/report/").delete()

    done = desk.run("campaign", id_of("watched"))

    assert done.exit_code == 0, done.output
    assert "The report is not shown: " in done.output
    assert "version 1" in done.output


def test_an_execution_whose_report_failed_is_redriven_once_that_is_mended(desk: Desk) -> None:
    def fail(*_: object) -> None:
        raise ServiceFault("no report can be written")

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr("report.app.build_and_store", fail)
        execution = desk.office.start(1, "reportless")
        desk.office.sandbox.run_until(execution.done)
    failed, shown = execution.status, desk.told("campaign", id_of("reportless"))

    done = desk.run("redrive", id_of("reportless"), "--stack", "paceline", "--yes")
    report = desk.office.report("reportless")

    assert (failed, shown["report_version"], done.exit_code) == ("FAILED", 0, 0), done.output
    assert "ended as FAILED by ServiceFault" in done.output
    assert report["outcomes"]["delivered"] == 1


def test_a_campaign_that_was_not_started_has_nothing_to_redrive(desk: Desk) -> None:
    desk.office.post("/v1/campaigns", {"campaign_id": "later", "name": "Later", "message": "Hi"})

    done = desk.run("redrive", id_of("later"), "--stack", "paceline", "--json")

    assert (done.exit_code, json.loads(done.stdout)["redriven"]) == (1, False)
    assert "was not started" in done.stdout
