"""The benchmarks, very small: what they measure must be there when somebody runs them in earnest."""

from __future__ import annotations

from bench.engine import figures, lines
from bench.intake import bench
from sandbox.testing.campaigns import CampaignSandbox


def test_a_small_run_has_every_figure_beside_motos() -> None:
    found = figures(batches=2, items=3, leads=12, large=0)

    assert set(found["no_op"]) >= {"ours_a_second", "moto_a_second", "ratio"}
    assert found["no_op"]["ratio"] > 1
    assert found["campaign"]["balanced"]
    assert sum(found["campaign"]["outcomes"].values()) == 12
    assert found["campaign"]["memory_mb"] > 0  # a child's peak begins with its parent's, and this parent is large
    assert len(lines(found)) == 3


def test_the_benchmark_of_moto_leaves_nothing_behind_in_this_process() -> None:
    figures(batches=1, items=1, leads=0, large=0)

    with CampaignSandbox() as sandbox:
        sandbox.campaign(leads=1).start().assert_outcomes(delivered=1)


def test_the_intake_bench_plans_each_size_in_a_process_of_its_own() -> None:
    found = bench([200, 400])

    assert [run["leads"] for run in found["runs"]] == [200, 400]
    assert [(run["accepted"], run["rejected"], run["duplicates"]) for run in found["runs"]] == [
        (194, 4, 2),
        (388, 8, 4),
    ]
    assert found["met"]
    assert found["growth"] > 0
