"""`resprout advise`: its formulas against simulated jobs, and what it says."""

import json
import math
import random
from pathlib import Path
from statistics import fmean, stdev

import pytest
from resprout.advise.durations import read_duration, write_duration
from resprout.advise.model import Losses, Planes, daly, time_with_checkpoints, young
from resprout.cli import main
from resprout.errors import UserError

JOBS = 10_000


def simulate(segments: int, interval: float, cost: float, losses: Losses, seed: int) -> float:
    """The time of one job whose losses come at random, also while it recovers."""
    draw = random.Random(seed).expovariate
    now, done, needs = 0.0, 0, 0.0
    while done < segments:
        step = needs + interval + cost if needs == 0 else needs
        until_loss = draw(1 / losses.mean)
        if until_loss < step:
            now += until_loss
            needs = losses.recovery
        elif needs > 0:
            now += needs
            needs = 0.0
        else:
            now += step
            done += 1
    return now


def spread_of_mean(times: list[float]) -> float:
    return stdev(times) / math.sqrt(len(times))


@pytest.mark.parametrize(
    ("cost", "mean", "recovery"), [(60.0, 7200.0, 30.0), (30.0, 600.0, 100.0), (5.0, 86400.0, 3.0)]
)
def test_the_time_of_a_job_is_the_mean_of_simulated_ones(
    cost: float, mean: float, recovery: float
) -> None:
    interval, segments, losses = daly(cost, mean), 6, Losses(mean, recovery)
    times = [simulate(segments, interval, cost, losses, seed) for seed in range(JOBS)]
    expected = time_with_checkpoints(segments * interval, interval, cost, losses)
    assert abs(fmean(times) - expected) < 5 * spread_of_mean(times)


@pytest.mark.parametrize(("cost", "mean"), [(60.0, 7200.0), (300.0, 3600.0), (1.0, 1e6)])
def test_no_other_interval_is_much_better_than_that_of_daly(cost: float, mean: float) -> None:
    def time(interval: float) -> float:
        return time_with_checkpoints(1e6, interval, cost, Losses(mean, 60.0))

    best = min(time(daly(cost, mean) * 1.02**i) for i in range(-60, 61))
    assert time(daly(cost, mean)) <= 1.001 * best
    assert daly(cost, mean) == pytest.approx(young(cost, mean) - cost, rel=0.2)


def test_where_checkpoints_take_longer_than_losses_allow_the_interval_is_their_mean() -> None:
    assert daly(100.0, 40.0) == 40.0


@pytest.mark.parametrize("back", [100.0, 2000.0, math.inf])
def test_the_loss_of_both_planes_is_as_rare_as_in_simulated_jobs(back: float) -> None:
    mean = 1000.0

    def until_both_are_lost(seed: int) -> float:
        draw = random.Random(seed).expovariate
        now = 0.0
        while True:
            now += draw(2 / mean)
            other = draw(1 / mean)
            if other < back:
                return now + other
            now += back

    times = [until_both_are_lost(seed) for seed in range(JOBS)]
    expected = Planes(mean, back).mean_to_loss_of_both
    assert abs(fmean(times) - expected) < 5 * spread_of_mean(times)


def test_times_are_read_and_written_as_people_do() -> None:
    assert read_duration("--work", "1.5h") == 5400
    assert [write_duration(s) for s in (90, 600, 10800, 864000, math.inf)] == [
        "90 s", "10 min", "3 h", "10 d", "never",
    ]  # fmt: skip
    for text in ("", "0s", "5", "5m", "-1h"):
        with pytest.raises(UserError, match="--work"):
            read_duration("--work", text)


def test_the_answer_is_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "--nodes", "1000", "--work", "7d", "--mtbf", "5y", "--checkpoint", "2min"]
    assert main([*words, "--queue", "4h", "--back", "30min"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in table[2:]] == [
        "the batch system starts it again", "--on-loss restart", "--replicas 2",
    ]  # fmt: skip
    assert main([*words, "--json"]) == 0
    ways = json.loads(capsys.readouterr().out)["ways"]
    assert [way["name"] for way in ways] == ["--on-loss restart", "--replicas 2"]
    restart, replicas = ways
    assert restart["mean_seconds"] == pytest.approx(5 * 365.25 * 86400 / 1000)
    assert 0 < restart["lost_share"] < 0.5 < replicas["lost_share"]


def test_the_cost_of_a_checkpoint_can_be_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["advise", "--nodes", "2", "--work", "1d", "--mtbf", "1y"]
    assert main([*words, "--measure", str(tmp_path), "--size", "1MiB", "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["job"]["checkpoint"] < 60
    assert list(tmp_path.iterdir()) == []
    assert main(words) == 2
    assert "--checkpoint" in capsys.readouterr().err
    assert main([*words, "--measure", str(tmp_path / "no"), "--size", "1KiB"]) == 2
