"""Random worlds: a sample of them holds, they are what they say, and whatever breaks one is found and told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from console.cli import main
from sandbox.deployment import ROOT
from sandbox.simulation.mutants import all_mutants, hunt
from sandbox.simulation.worlds import shrinking
from sandbox.simulation.worlds.acting import ACTS
from sandbox.simulation.worlds.drawing import draw_world
from sandbox.simulation.worlds.ends import is_private
from sandbox.simulation.worlds.judging import INVARIANTS, Broken
from sandbox.simulation.worlds.oddities import ODDITIES
from sandbox.simulation.worlds.profiles import PROFILES
from sandbox.simulation.worlds.stories import command_of, story_of
from sandbox.simulation.worlds.told import CapHistory
from sandbox.simulation.worlds.trying import Trial, Verdict, attempt

SAMPLE = "1..6"


def simulate(*arguments: str) -> Any:
    """Run the command; return its exit status and what it printed as JSON."""
    result = CliRunner().invoke(main, ["simulate", *arguments, "--json"])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


# -- the worlds ----------------------------------------------------------------------------------------------------


def test_a_sample_of_worlds_breaks_no_invariant() -> None:
    status, shown = simulate("--seeds", SAMPLE, "--workers", "1")

    assert (status, shown["violations"]) == (0, [])
    assert shown["worlds"] == 6
    assert shown["messages"] > 0
    assert shown["worlds_per_minute"] > 0


def test_the_same_seed_is_the_same_world_and_the_same_storm() -> None:
    stormy = Trial(4, "storm")

    first, again = attempt(stormy), attempt(stormy)

    assert first == again
    assert first.met


def test_what_is_left_out_of_a_world_moves_no_fault_that_stays() -> None:
    whole = attempt(Trial(1, "killed"))
    fault = whole.met[0].rpartition(" ")[0]

    alone = attempt(Trial(1, "killed", frozenset({*whole.tags, fault})))

    assert len(whole.met) > 1
    assert alone.met == whole.met[:1]


def test_the_worlds_have_everything_in_them() -> None:
    worlds = [draw_world(seed) for seed in range(1, 401)]

    assert {world.profile for world in worlds} == set(PROFILES)
    assert {act.word for world in worlds for act in world.acts} == set(ACTS)
    assert {one.oddity for world in worlds for one in world.people} == {"", *ODDITIES}
    assert {len(world.campaigns) for world in worlds} == {1, 2, 3}
    assert {route.provider for world in worlds for route in world.routes} == {"twilio", "end_user_messaging"}
    assert {kind for world in worlds for kind in world.storm.kinds} == {
        kind.value for trouble in PROFILES.values() for kind in trouble.kinds
    }
    assert {world.start.date().isoformat() for world in worlds} >= {"2026-11-01", "2027-03-14"}
    assert any(world.storm.focus for world in worlds)
    assert any(world.storm.burst_service for world in worlds)
    assert any(campaign.max_messages_per_recipient_24h for world in worlds for campaign in world.campaigns)


def test_a_world_without_some_of_its_pieces_has_all_others() -> None:
    world = next(one for one in map(draw_world, range(1, 99)) if len(one.campaigns) == 2 and one.acts)
    odd = next((f"p{n}" for n, person in enumerate(world.people) if person.oddity), "")

    less = world.keeping(lambda tag: tag not in ("c0", world.acts[0].tag, "l1.0", odd))

    assert less.campaigns == (replace(world.campaigns[1], leads=world.campaigns[1].leads[1:]),)
    assert less.acts == world.acts[1:]
    assert (less.accounts, less.routes, less.start) == (world.accounts, world.routes, world.start)
    assert odd not in less.tags()


# -- what is judged ------------------------------------------------------------------------------------------------


def test_a_cap_may_be_used_from_the_question_on_and_binds_from_the_answer_on() -> None:
    history = CapHistory([60])
    history.answer(history.change(10, asked=100), answered=150)

    assert history.most(90, 95) == 60
    assert history.most(120, 130) == 60  # asked, not answered
    assert history.most(151, 200) == 10
    history.change(None, asked=300)  # no answer came: it may hold, or not
    assert history.most(200, 250) == 10
    assert history.most(301, 400) is None


def test_the_document_tells_of_every_invariant_and_every_mutant() -> None:
    document = (ROOT / "docs" / "reliability.md").read_text()

    names = [*INVARIANTS, *(mutant.name for mutant in all_mutants()), *PROFILES]

    assert [name for name in names if f"`{name}`" not in document] == []


# -- mutants -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mutant", all_mutants(), ids=lambda mutant: mutant.name)
def test_a_mutant_changes_what_the_product_is(mutant: Any, tmp_path: Path) -> None:
    for edit in mutant.edits:
        (tmp_path / edit.file).parent.mkdir(parents=True, exist_ok=True)
        if not (tmp_path / edit.file).exists():
            (tmp_path / edit.file).write_text((ROOT / edit.file).read_text())
        edit.apply(tmp_path)

    for edit in mutant.edits:
        changed = (tmp_path / edit.file).read_text()
        assert changed != (ROOT / edit.file).read_text()
        compile(changed, edit.file, "exec")


def test_a_mutant_is_killed_by_the_first_world_that_notices() -> None:
    [mutant] = [one for one in all_mutants() if one.name == "lease_without_credits"]

    fate = hunt(mutant, seeds=2)

    assert (fate.error, fate.seed) == ("", 1)
    assert "credits" in fate.invariants


def test_a_mutant_that_nobody_has_is_told_with_those_there_are() -> None:
    result = CliRunner().invoke(main, ["simulate", "--mutant", "no_such_rule"])

    assert result.exit_code == 2
    assert "claim_without_condition" in result.output


# -- stories -------------------------------------------------------------------------------------------------------


def test_a_failing_world_is_made_as_small_as_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it fails for one lead, one act and one fault together."""
    cause = {"c0", "l0.1", "a2", "send/dynamodb:GetItem/3"}

    def tried(deployment: object, trials: Iterable[Trial], workers: int = 1) -> Iterator[Verdict]:
        for trial in trials:
            broken = (Broken("sent_twice", "twice"),) if cause <= (trial.kept or frozenset()) else ()
            yield Verdict(trial, broken)

    monkeypatch.setattr(shrinking, "attempts", tried)
    tags = ("c0", "c1", *(f"a{n}" for n in range(5)), *(f"l0.{n}" for n in range(9)))
    met = tuple(f"send/dynamodb:GetItem/{n} failed" for n in range(1, 9))
    found = Verdict(Trial(7), (Broken("sent_twice", "twice"),), met, tags)

    smallest = shrinking.shrink(None, found)  # type: ignore[arg-type]

    assert smallest.trial.kept == cause


def test_a_story_names_what_happens_and_how_to_play_it_again_and_nobodys_number() -> None:
    kept = frozenset(draw_world(3, "storm").tags())
    verdict = Verdict(Trial(3, "storm", kept), (Broken("pause", "c0 was paused"),), ("send/invoke/1 before",))

    story, command = "\n".join(story_of(verdict)), command_of(verdict)

    assert "fault: send/invoke/1 before" in story
    assert "starts c0 for persons" in story
    assert "pause: c0 was paused" in story
    assert not any(person.number[2:] in story for person in draw_world(3, "storm").people)
    assert command.startswith("paceline simulate --seeds 3..3 --profile storm --keep ")


def test_a_violation_is_printed_with_its_story_and_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(INVARIANTS, "pause", lambda facts: iter(["it was not held"]))

    status, shown = simulate("--seeds", "2", "--profile", "calm", "--no-shrink", "--workers", "1")

    assert status == 1
    [violation] = shown["violations"]
    assert (violation["seed"], violation["invariant"]) == (2, "pause")
    assert violation["story"][-1] == "pause: it was not held"


@pytest.mark.parametrize("seeds", ["x", "5..1", "1-5", "-1"])
def test_seeds_that_are_no_range_are_refused_with_how_to_write_them(seeds: str) -> None:
    result = CliRunner().invoke(main, ["simulate", f"--seeds={seeds}"])

    assert result.exit_code == 2
    assert "1..150" in result.output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"to": "+12025550101"}', True),
        ('{"to": "2025550101"}', True),
        ("To=%2B12025550101&Body=x", True),
        ("(202) 555-0101", True),
        ("call 1-202-555-0101 now", True),
        ("RECIPIENT#acme#+12025550101", True),
        ("Hi Zweiback", True),
        ("b963c5395550129725bc", False),  # within the digits of a task token, as seed 4365 had it
        ("12025550101725", False),
        ("2025550201", False),
    ],
)
def test_numbers_and_texts_are_told_from_digits_of_tokens(text: str, expected: bool) -> None:
    assert is_private(text) is expected
