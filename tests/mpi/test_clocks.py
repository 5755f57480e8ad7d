"""The system's clocks, as programs read them whose replicas are compared or stand in."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "clocks"
METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]
RANKS = 3


def run(*options: str, mode: tuple[str, ...] = (), replicas: int = 2) -> jobs.Ended:
    return jobs.resprout_run(RANKS, [PROGRAM, *mode], ["--replicas", str(replicas), *options])


def check(ended: jobs.Ended) -> None:
    assert (ended.status, ended.out) == (0, "done\n"), str(ended)
    assert ended.report["corruptions"] == [], str(ended)


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_replicas_read_the_same_times(method: str, replicas: int) -> None:
    ended = run("--verify", method, replicas=replicas)
    check(ended)
    assert ended.report["verification"]["unverified"] == 0, str(ended)


def test_with_clocks_of_their_own_they_do_not() -> None:
    ended = run("--verify", "msg-plus-hash", "--clocks", "own")
    assert ended.status == 4 and ended.report["corruptions"], str(ended)


@pytest.mark.parametrize("fault", ["allreduce#3", "sendrecv#2"])
@pytest.mark.parametrize("loss", ["end-plane", "stand-in"])
def test_another_one_reads_them_when_a_replica_is_lost(loss: str, fault: str) -> None:
    faults = ["--inject", f"kill:rank=0,replica=0,at={fault}"]
    check(run("--verify", "async-hash", "--on-replica-loss", loss, *faults))


def test_siblings_that_stand_in_read_them_too() -> None:
    faults = [f"--inject=kill:rank={rank},replica={rank & 1},at=sendrecv#3" for rank in range(2)]
    check(run("--on-replica-loss", "stand-in", *faults))


@pytest.mark.parametrize("mode", ["forked", "threads"])
def test_children_and_programs_with_threads_read_their_own(mode: str) -> None:
    check(run("--verify", "msg-plus-hash", mode=(mode,)))


def test_without_replicas_clocks_are_the_system_s() -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM])
    assert (ended.status, ended.out) == (0, "done\n"), str(ended)
