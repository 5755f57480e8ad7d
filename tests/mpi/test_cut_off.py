"""Processes that are cut off live on, and finish by their choice (handles/errors/cut_off.hpp)."""

from collections.abc import Iterator
from pathlib import Path

import covering
import hosts
import jobs
import namespaces
import pytest
import silence

RANKS = 6


@pytest.fixture(scope="module", autouse=True)
def three_hosts() -> Iterator[None]:
    with namespaces.up(3):
        yield


def program(folder: Path, *waits: str) -> list[str | Path]:
    return ["-n", str(RANKS), jobs.PROGRAMS / "cut_off", str(folder), *waits]


def wait_for(job: jobs.Job, folder: Path, word: str, ranks: set[int]) -> None:
    """Until all of them have said it."""
    paths = [folder / f"{word}-{rank}" for rank in ranks]
    ended = jobs.becomes_true(
        lambda: all(path.exists() for path in paths) or "WRONG" in job.said().err,
        jobs.WATCHDOG_SECONDS,
    )
    said = ended and all(path.exists() for path in paths)
    assert said, f"not all have {word}: {sorted(p.name for p in folder.iterdir())}\n{job.said()}"


def go_on_without(job: jobs.Job, folder: Path, victims: set[int]) -> None:
    """The others come to the end of their work, and the victims to theirs, while all live."""
    wait_for(job, folder, "saved", victims)
    (folder / "enough").touch()
    wait_for(job, folder, "saved", set(range(RANKS)) - victims)
    assert victims <= set(job.processes_by_rank()), f"a victim is gone: {job.said()}"
    (folder / "release").touch()


def check(folder: Path, victims: set[int], sentence: str, ended: jobs.Ended) -> None:
    assert "WRONG" not in ended.err, str(ended)
    for rank in range(RANKS):
        part = hosts.part_of(folder, rank)
        assert part["finalized"], f"{part}\n{ended}"
        if rank in victims:
            assert part["exit_status"] == 70 and sentence in part["cut_off"], f"{part}\n{ended}"
            assert ended.err.count(f"resprout: rank {rank} {sentence}") == 1, str(ended)
            # Of a loss that leaves no quorum it is not told.
            left = set(range(RANKS)) - {loss["rank"] for loss in part["losses"]}
            assert 2 * len(left) > RANKS or (2 * len(left) == RANKS and 0 in left), (
                f"{part}\n{ended}"
            )
        else:
            assert part["exit_status"] == 0 and part["cut_off"] is None, f"{part}\n{ended}"
            assert {loss["rank"] for loss in part["losses"]} == victims, f"{part}\n{ended}"


WAITS = ["allreduce-recv", "anybody-host", "ssend-probe", "waitall-ibarrier", "agree-agree",
         "shrink-shrink"]  # fmt: skip


@pytest.mark.parametrize(("waits", "then"), covering.with_every_value(WAITS, ["cut", "healed"]))
def test_who_is_cut_off_gets_an_error_and_lives(waits: str, then: str, tmp_path: Path) -> None:
    """Its host's two ranks, whatever they wait in; also if the network comes back meanwhile."""
    victims = {4, 5}

    def cut(job: jobs.Job) -> None:
        wait_for(job, tmp_path, "works", set(range(RANKS)))
        namespaces.cut("C")
        wait_for(job, tmp_path, "saved", victims)
        if then == "healed":
            namespaces.heal("C")
        go_on_without(job, tmp_path, victims)

    try:
        ended = jobs.run(
            hosts.mpirun(program(tmp_path, *waits.split("-")), tmp_path, {}), meanwhile=cut
        )
    finally:
        namespaces.heal("C")
    check(tmp_path, victims, "hears of too few others", ended)


@pytest.mark.parametrize("wait", ["recv", "allreduce", "ibarrier"])
def test_who_is_told_that_it_is_lost_lives_too_and_others_of_its_host_go_on(
    wait: str, tmp_path: Path
) -> None:
    """Though they wait for it in memory that they share. Connections of Resprout that nobody uses,
    where the MPI library carries collectives, nobody misses."""
    variables = {"RESPROUT_COLLECTIVES": "resprout"}

    def cut(job: jobs.Job) -> None:
        wait_for(job, tmp_path, "works", set(range(RANKS)))
        elsewhere = {hosts.address_of(rank) for rank in (0, 2)}
        assert silence.break_off(job.processes_by_rank(), 4, elsewhere) > 0
        go_on_without(job, tmp_path, {4})

    mpirun = hosts.mpirun(program(tmp_path, wait, "join"), tmp_path, variables)
    ended = jobs.run(mpirun, meanwhile=cut)
    check(tmp_path, {4}, "was declared lost by the others", ended)


def test_under_a_fatal_handler_and_where_nobody_goes_on_all_end(tmp_path: Path) -> None:
    def cut(job: jobs.Job) -> None:
        assert jobs.becomes_true(
            lambda: all((tmp_path / f"rank-{rank}").exists() for rank in range(RANKS)),
            jobs.WATCHDOG_SECONDS,
        )
        namespaces.cut("A", "B", "C")

    mixed = [jobs.PROGRAMS / "mixed", str(tmp_path), "11", "0", "2"]
    try:
        fatal = {"ERRORS_ARE_FATAL": "1"}
        ended = jobs.run(hosts.mpirun(mixed, tmp_path, fatal), meanwhile=cut)
    finally:
        namespaces.heal("A", "B", "C")
    for rank in range(RANKS):
        line = f"rank {rank} was cut off, must not go on and ends here: its error handler is fatal"
        assert ended.err.count(line) == 1, str(ended)
        assert hosts.part_of(tmp_path, rank)["exit_status"] == 70, str(ended)
