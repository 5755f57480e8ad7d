"""Collectives between hosts, which are left to the MPI library until a loss."""

import os
from collections.abc import Iterator

import covering
import kills
import namespaces
import pytest
import soak_cases
import soak_hosts

EACH_HAS = 2
RANKS = 4
RUN_AHEAD = ["gather", "gatherv", "scan", "exscan", "scatterv"]


@pytest.fixture(scope="module", autouse=True)
def hosts() -> Iterator[None]:
    with namespaces.up(soak_hosts.HOSTS):
        yield


@pytest.mark.parametrize("program", ["mixed", "blocks"])
def test_the_library_carries_them(program: str) -> None:
    case = kills.Case(3, program, RANKS, "auto", (), 30, "native")
    operations = soak_hosts.run_case(case, EACH_HAS).report["operations"]
    names = soak_cases.MIXED if program == "mixed" else soak_cases.BLOCKS
    assert {name for name in names if operations[name]["native"]} == set(names), operations


def test_where_hosts_share_cores_the_library_carries_no_barrier() -> None:
    """All hosts here are of one machine, whose cores they share."""
    case = kills.Case(3, "mixed", RANKS, "auto", (), 30)
    operations = soak_hosts.run_case(case, EACH_HAS).report["operations"]
    assert operations["reduce"]["native"], operations
    has_a_core_each = (os.cpu_count() or 1) >= RANKS
    assert bool(operations["barrier"]["native"]) == has_a_core_each, operations


def small_cases() -> list[int]:
    """The seeds of jobs with few ranks."""
    return [seed for seed in range(60) if soak_hosts.a_case("auto", seed)[0].ranks <= RANKS]


@pytest.mark.parametrize("seed", covering.a_share(small_cases(), 12))
def test_survivors_go_on_when_ranks_die_in_what_the_library_carries(seed: int) -> None:
    soak_hosts.run_case(*soak_hosts.a_case("auto", seed))


@pytest.mark.parametrize("function", RUN_AHEAD)
@pytest.mark.parametrize("victim", [0, 1])
def test_survivors_agree_though_some_are_many_calls_ahead(function: str, victim: int) -> None:
    kill = f"kill:rank={victim},at={function}#{30 + victim}"
    case = kills.Case(victim, "blocks", RANKS, "auto", (kill,), 2)
    ended = soak_hosts.run_case(case, EACH_HAS, function)
    assert ended.report["operations"][function]["touched"], ended.report
