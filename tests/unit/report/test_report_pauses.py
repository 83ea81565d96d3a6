"""What a pause stopped: the report counts what still went after it was accepted."""

from __future__ import annotations

from datetime import timedelta

from report_builders import NOON, a_campaign, a_message, a_report, a_skipped_message

from paceline.models import Message, Pause
from paceline.report import render_page
from paceline.status import MessageStatus

PAUSE = Pause(paused_at=NOON, paused_by="c3a71b42", resumed_at=NOON + timedelta(minutes=5), resumed_by="c3a71b42")


def sent_at(seconds: float, lead_no: int = 1, **changes: object) -> Message:
    return a_message(lead_no, **{"sent_at": NOON + timedelta(seconds=seconds), **changes})


def test_messages_after_a_pause_are_counted_until_its_resume() -> None:
    messages = [sent_at(s, no) for no, s in enumerate((-10, 0, 0.5, 2.25, 300, 301), start=1)]

    [pause] = a_report(messages, campaign=a_campaign(pauses=(PAUSE,))).pauses

    assert (pause.sent_after, pause.last_sent_after_seconds) == (2, 2.25)
    assert (pause.paused_at, pause.paused_by, pause.resumed_at) == (NOON, "c3a71b42", PAUSE.resumed_at)


def test_a_pause_that_stopped_everything_says_so() -> None:
    [pause] = a_report([sent_at(-1)], campaign=a_campaign(pauses=(PAUSE,))).pauses

    assert (pause.sent_after, pause.last_sent_after_seconds) == (0, None)


def test_a_pause_without_a_resume_lasts_to_the_end() -> None:
    [pause] = a_report([sent_at(86_400)], campaign=a_campaign(pauses=(Pause(paused_at=NOON),))).pauses

    assert pause.sent_after == 1


def test_a_message_whose_answer_was_not_seen_counts_from_its_claim_and_a_skipped_one_never() -> None:
    unseen = sent_at(0, 1, sent_at=None, claimed_at=NOON + timedelta(seconds=1), status=MessageStatus.UNCONFIRMED)
    skipped = a_skipped_message(2, cause="cancelled", claimed_at=NOON + timedelta(seconds=2))

    [pause] = a_report([unseen, skipped], campaign=a_campaign(pauses=(PAUSE,))).pauses

    assert (pause.sent_after, pause.last_sent_after_seconds) == (1, 1.0)


def test_the_page_shows_pauses_only_where_there_were_any() -> None:
    messages = [sent_at(1.5)]

    with_pause = render_page(a_report(messages, campaign=a_campaign(pauses=(PAUSE,))))

    assert 'id="pauses"' in with_pause
    assert "by key c3a71b42" in with_pause
    assert "1.5 s" in with_pause
    assert 'id="pauses"' not in render_page(a_report(messages))
