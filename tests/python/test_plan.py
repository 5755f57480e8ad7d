"""`resprout plan`: its formula against simulated broadcasts, and its command."""

import itertools
import json
import random
from pathlib import Path

import pytest
from resprout.cli import main
from resprout.plan.command import TREES, Simulator, parents_of
from resprout.plan.hosts import ORDERS, Host
from resprout.plan.missed import Chances, System, Window, expected, sample

HOSTS = [Host(f"n{number}", 3, f"rack{number // 2}") for number in range(6)]
PROCS = 18


def system_of(tree: str, order: str, chances: Chances, hosts: list[Host] = HOSTS) -> System:
    placed = ORDERS[order](hosts)
    return System(placed, parents_of(tree, len(placed), 2, 1), chances)


def exhaustive(system: System, simulator: Simulator) -> tuple[float, float]:
    """The mean of missed ranks and the probability that one is: all failures, each simulated."""
    able = [one for one, chance in enumerate(system.chances) if chance > 0]
    mean = somebody = 0.0
    for failed in itertools.product((False, True), repeat=len(able)):
        chance = 1.0
        for one, has_failed in zip(able, failed, strict=True):
            chance *= system.chances[one] if has_failed else 1 - system.chances[one]
        dead = system.dead([one for one, has in zip(able, failed, strict=True) if has])
        missed = simulator.missed(dead)
        mean += chance * missed
        somebody += chance * (missed > 0)
    return mean, somebody


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_formula_is_what_all_failures_of_a_small_system_come_to(tree: str, order: str) -> None:
    hosts = [Host("a", 3, "r"), Host("b", 2, "r"), Host("c", 3, "s")]
    system = system_of(tree, order, Chances(0.05, 0.1, 0.02), hosts)
    simulator = Simulator(tree, 8, 1, 2, 1)
    mean, somebody = exhaustive(system, simulator)
    assert mean > 0
    assert expected(system, 1) == pytest.approx(mean, rel=1e-9)
    estimate = sample(system, 1, simulator.missed, 300, 1)
    assert estimate.contradictions == 0
    assert abs(estimate.chance - somebody) <= 4 * estimate.error + 1e-9 * somebody


def test_formula_sampling_and_plain_simulation_agree_where_failures_are_frequent() -> None:
    system = system_of("tree=kary,k=4", "slot", Chances(0.1, 0.15, 0.1))
    simulator = Simulator("tree=kary,k=4", PROCS, 1, 2, 1)
    estimate = sample(system, 1, simulator.missed, 300, 3)
    generator = random.Random(7)
    runs = 1000
    counts = [
        simulator.missed(
            system.dead([u for u, c in enumerate(system.chances) if generator.random() < c])
        )
        for _ in range(runs)
    ]
    plain = sum(count > 0 for count in counts) / runs
    error = (plain * (1 - plain) / runs) ** 0.5
    assert error < plain / 5
    assert abs(plain - estimate.chance) <= 4 * (error + estimate.error)
    mean = sum(counts) / runs
    spread = (sum((count - mean) ** 2 for count in counts) / runs / runs) ** 0.5
    assert abs(mean - expected(system, 1)) <= 4 * spread


def test_tiny_probabilities_keep_their_digits_and_what_is_given_up_counts_as_missed() -> None:
    """Two failures at least miss somebody here, so twice the chances miss four times as often."""
    half, whole = (
        expected(system_of("tree=binomial", "host", Chances(p, p, 0.0)), 1) for p in (5e-9, 1e-8)
    )
    assert whole < 1e-12
    assert whole / half == pytest.approx(4, rel=1e-6)
    system = system_of("tree=binomial", "host", Chances(1e-6, 1e-6, 1e-6))
    for rank in range(1, PROCS):
        exact = Window(system, rank, 1).chance
        assert exact <= Window(system, rank, 1, 1e-15).chance <= exact + 1e-12


def test_a_planted_fault_of_the_formula_is_seen() -> None:
    """With a tree that is not the simulated one draws contradict, or the mean is off."""
    placed = ORDERS["slot"](HOSTS)
    wrong = System(placed, parents_of("tree=kary,k=4", PROCS, 2, 1), Chances(0.03, 0.05, 0.03))
    estimate = sample(wrong, 2, Simulator("tree=binomial", PROCS, 2, 2, 1).missed, 200, 1)
    assert estimate.contradictions > 0


def test_ranks_in_turns_over_racks_need_less_correction_than_full_hosts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts, racks = tmp_path / "hosts", tmp_path / "racks"
    hosts.write_text("".join(f"n{n} slots=4  # of eight\n" for n in range(8)))
    racks.write_text("".join(f"n{n} rack{n // 2}\n" for n in range(8)))
    words = ["plan", str(hosts), "--order", str(racks), "--samples", "50"]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["procs"] == 32
    distances = {(c["tree"], c["order"]): c["distance"] or 99 for c in said["choices"]}
    assert len(distances) == len(TREES) * len(ORDERS)
    for tree in TREES:
        assert distances[tree, "rack"] <= distances[tree, "slot"]
    assert distances["tree=binomial", "rack"] < distances["tree=binomial", "slot"]
    assert all(c["expected"] <= 1e-12 for c in said["choices"] if c["distance"])
    assert said["sampled"]["chance"] <= said["choices"][0]["expected"] * (1 + 1e-9)
    assert said["sampled"]["contradictions"] == 0
    assert main(words) == 0
    assert "choose corrected-tree:tree=" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("", [], "names no host"),
        ("n1 slots=0\n", [], "slots=0"),
        ("n1 slots=2\n", [], "2 slots are not from 3"),
        ("n1 slots=4\n", ["--target", "0"], "--target"),
        ("n1 slots=4\n", ["--host-mtbf", "long"], "--host-mtbf"),
        ("n1 slots=4\n", ["--order", "/nowhere"], "--order"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path,
    text: str,
    options: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(text)
    assert main(["plan", str(hosts), *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert problem in said.err
