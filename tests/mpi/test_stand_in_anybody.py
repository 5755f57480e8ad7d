"""Siblings stand in for lost ranks in programs that receive from anybody."""

import random
import tempfile
from pathlib import Path

import covering
import jobs
import pytest
from test_stand_in import kill

PROGRAM = jobs.PROGRAMS / "anybody"
STEPS = 24
CALLS = (
    "allreduce",
    "improbe",
    "imrecv",
    "iprobe",
    "irecv",
    "isend",
    "mprobe",
    "mrecv",
    "probe",
    "recv",
    "sendrecv",
    "startall",
    "testsome",
    "wait",
    "waitall",
    "waitany",
)


def run(ranks: int, replicas: int, *options: str, steps: int = STEPS) -> jobs.Ended:
    """Replicas that live have taken the same messages in the same order."""
    with tempfile.TemporaryDirectory(prefix="results-") as folder:
        ended = jobs.resprout_run(
            ranks,
            [PROGRAM, str(steps), folder],
            ["--replicas", str(replicas), "--on-replica-loss", "stand-in", *options],
        )
        assert ended.status == 0, str(ended)
        values: dict[int, set[str]] = {}
        for path in Path(folder).iterdir():
            values.setdefault(int(path.name.split("-")[1]), set()).add(path.read_text())
    assert sorted(values) == list(range(ranks)), str(ended)
    assert all(len(of_rank) == 1 for of_rank in values.values()), f"{values}\n{ended}"
    lines = sorted(ended.out.splitlines())
    assert lines == [f"rank {rank} is done" for rank in range(ranks)], str(ended)
    # Nobody has ended because others could not stand in for what it does.
    assert " ends: " not in ended.err, str(ended)
    return ended


def victims(seed: int, ranks: int, replicas: int, most: int) -> list[str]:
    """So that somebody of every rank lives."""
    chosen = random.Random(seed)
    words = []
    for rank in chosen.sample(range(ranks), chosen.randint(1, ranks)):
        call, number = chosen.choice(CALLS), chosen.randint(1, most)
        words += kill(chosen.randrange(replicas), rank, f"{call}#{number}")
    return words


@pytest.mark.parametrize("replicas", [2, 3])
def test_planes_take_the_same_messages_while_nobody_is_lost(replicas: int) -> None:
    ended = run(3, replicas)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * replicas


def test_who_follows_decides_when_who_has_decided_is_lost() -> None:
    ended = run(3, 2, *kill(0, 0, "irecv#10"), *kill(0, 1, "probe#2"))
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "whole"], str(ended)


def test_in_a_gap_messages_of_the_lost_are_found_too() -> None:
    ended = run(3, 2, *kill(0, 2, "allreduce#1"), *kill(1, 1, "iprobe#1"))
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"], str(ended)


def test_who_matches_a_message_of_the_lost_gets_what_a_sibling_has_said() -> None:
    options = ["--replicas", "2", "--on-replica-loss", "stand-in", *kill(0, 1, "send#3")]
    ended = jobs.resprout_run(3, [jobs.PROGRAMS / "decisions", "2"], options)
    assert ended.status == 0, str(ended)
    assert ended.out == "done\n", str(ended)
    assert " ends: " not in ended.err, str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "whole"], str(ended)


def test_who_looks_behind_a_started_receive_finds_what_that_one_leaves() -> None:
    """Whichever of the two comes when, and whoever looks first."""
    options = ["--replicas", "2", "--on-replica-loss", "stand-in"]
    ended = jobs.resprout_run(3, [jobs.PROGRAMS / "behind", "1000"], options)
    assert ended.status == 0, str(ended)
    assert ended.out == "done\n", str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(6), of_one=4))
def test_whoever_is_lost_replicas_go_on_with_the_same_messages(seed: int) -> None:
    ranks, replicas = 2 + seed % 3, 2 + seed % 2
    run(ranks, replicas, *victims(seed, ranks, replicas, STEPS))
