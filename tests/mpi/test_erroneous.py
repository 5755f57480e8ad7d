"""Programs that are wrong: counts, types, operators, roots or calls of ranks do not fit together.

Nobody writes beyond a buffer or ends by a defect of ours, and who notices is told.
"""

from dataclasses import replace

import covering
import erroneous
import jobs
import pytest
from erroneous import Call, step

RANKS = 4
# Counts of one rank and of all others, on the ways that differ by size: slots, one message to each,
# the root's memory in slices, or read at once.
COUNTS = [(4, 2), (2, 9), (1000, 500), (70_000, 69_999), (400_000, 300_001)]
OWN = ("--collectives", "resprout")
OPTIONS = [(), OWN, (*OWN, "--transport", "tcp")]
# These end within seconds under the library, too; what hangs there takes as long as is waited.
SEEDS = range(1, 31) if covering.is_every_case_wanted() else (1, 4, 15)
COUNTS_OF_LOST = jobs.PROGRAMS / "counts_of_lost"


def run(steps: list[str], handler: str = "return", options: tuple[str, ...] = ()) -> jobs.Ended:
    ended = jobs.resprout_run(RANKS, [erroneous.PROGRAM, handler, *steps], options)
    erroneous.check(ended)
    assert not ended.lost, ended
    return ended


def told(ended: jobs.Ended) -> list[str]:
    """What the ranks say of errors; all of them have to come to the end."""
    assert ended.status == 0 and ended.out.count("is through") == RANKS, ended
    return sorted(line for line in ended.out.splitlines() if " gives " in line)


def of_all(name: str) -> list[str]:
    return [f"rank {rank}: {name} gives TRUNCATE" for rank in range(RANKS)]


@pytest.mark.parametrize(
    ("options", "is_nonblocking"), covering.with_every_value(OPTIONS, [False, True])
)
def test_who_takes_less_than_a_root_broadcasts_is_told(
    options: tuple[str, ...], is_nonblocking: bool
) -> None:
    steps, expected = [], []
    # What the MPI library carries of itself is its own (docs/reference/open-mpi.md).
    for sent, taken in COUNTS if options else COUNTS[:3]:
        right = Call("Bcast", sent, sent, root=2, is_nonblocking=is_nonblocking)
        steps += [step(right, replace(right, takes=min(sent, taken)), right), step(right)]
        expected += ["rank 1: Bcast gives TRUNCATE"] if taken < sent else []
    assert told(run(steps, options=options)) == expected


@pytest.mark.parametrize("counts", [(90_000, 60_000), (60_000, 90_000), (500, 2)])
def test_who_takes_much_more_or_less_than_is_broadcast_ends_the_job(
    counts: tuple[int, int],
) -> None:
    """The root's messages go another way than those that one rank waits for."""
    sent, taken = counts
    right = Call("Bcast", sent, sent, root=2)
    ended = run([step(right, replace(right, takes=taken), right)], "fatal", OPTIONS[1])
    assert ended.status != 0 and "MPI_ERR_TRUNCATE" in ended.err, ended


@pytest.mark.parametrize("is_nonblocking", [False, True])
def test_all_are_told_that_one_gives_another_count_to_a_reduction(is_nonblocking: bool) -> None:
    steps, expected = [], []
    for name in ("Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block"):
        for count in (3, 5000, 70_000) if name == "Allreduce" else (3, 100):
            right = Call(name, count, is_nonblocking=is_nonblocking)
            steps += [step(right, right, replace(right, gives=count - 1), right), step(right)]
            # Of slots that are read on demand who is wrong is told, and who reads its slot.
            is_on_demand = count == 3 and "can" in name
            expected += of_all(name)[2:] if is_on_demand else of_all(name)
    assert told(run(steps, options=OPTIONS[1])) == sorted(expected)


def test_who_gives_itself_less_than_it_takes_is_told() -> None:
    names, steps = ("Alltoall", "Alltoallv", "Alltoallw"), []
    for name in names:
        right = Call(name, 50, 50)
        steps += [step(right, replace(right, takes=51), right), step(right)]
    assert told(run(steps)) == [f"rank 1: {name} gives TRUNCATE" for name in names]


@pytest.mark.parametrize("is_nonblocking", [False, True])
def test_who_gets_blocks_that_are_too_long_is_told(is_nonblocking: bool) -> None:
    steps, expected = [], []
    for name, who in {
        "Gather": {2}, "Gatherv": {2}, "Allgather": set(range(RANKS)), "Scatter": {1},
        "Allgatherv": set(range(RANKS)), "Scatterv": {1}, "Alltoallv": set(range(RANKS)),
        "Reduce": {2},
    }.items():  # fmt: skip
        right = Call(name, 50, 50, root=2, is_nonblocking=is_nonblocking)
        wrong = replace(right, takes=49) if "Scatter" in name else replace(right, gives=51)
        steps += [step(right, wrong, right), step(right)]
        expected += [f"rank {rank}: {name} gives TRUNCATE" for rank in who]
    assert told(run(steps, options=OPTIONS[1])) == sorted(expected)


def test_a_mistake_ends_the_job_where_errors_are_fatal() -> None:
    right = Call("Allreduce", 5)
    ended = run([step(replace(right, gives=6), right)], "fatal")
    assert ended.status != 0 and "is through" not in ended.out, ended


@pytest.mark.parametrize("places", ["fixed", "summed"])
def test_what_the_lost_have_not_given_takes_nobody_else_along(places: str) -> None:
    """Programs get the counts of all, and give them to the next call, also those of the lost."""
    ended = jobs.resprout_run(RANKS, [COUNTS_OF_LOST, places], ["--on-unanswered", "ignore"])
    assert (ended.status, ended.lost) == (0, {2}), ended
    assert "WRONG" not in ended.out and "defect of Resprout" not in ended.err, ended
    calls = ["allgatherv", "iallgatherv", "alltoallv", "alltoallw", "gatherv", "scatterv"]
    ends = {call: sorted(ends_of(ended, call)) for call in calls}
    right, fails = ["is right"] * 3, ["fails"] * 3
    if places == "fixed":
        assert ends == dict.fromkeys(calls, right), ended
    else:  # two of them have places before their memory: all hear of it, or who asks for data
        assert ends == dict.fromkeys(calls, fails) | {
            "alltoallw": right, "gatherv": ["fails", "is right", "is right"],
        }, ended  # fmt: skip


def test_counts_that_only_the_lost_could_have_given_are_data_that_nobody_else_has() -> None:
    ended = jobs.resprout_run(RANKS, [COUNTS_OF_LOST, "summed"])
    assert (ended.status, ended.lost) == (75, {2}), ended
    assert "MPI_Allgatherv on MPI_COMM_WORLD needs data of rank 2" in ended.err, ended


def ends_of(ended: jobs.Ended, call: str) -> list[str]:
    return [line.removeprefix(f"{call} ") for line in ended.out.splitlines()
            if line.startswith(f"{call} ")]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_mistake_ends_as_under_the_library_or_better(seed: int) -> None:
    erroneous.compare(seed)


# Counts of all ranks but one, and of that one: at one of them the MPI library carries the call, or
# shared slots do.
APART = [
    (Call("Bcast", 70_000, 70_000, root=2), 4), (Call("Bcast", 4, 4, root=2), 70_000),
    (Call("Allgatherv", 4, 4), 20_000), (Call("Alltoall", 4, 4), 20_000),
    (Call("Alltoall", 20_000, 20_000), 4), (Call("Scan", 3), 20_000), (Call("Scan", 20_000), 3),
    (Call("Allreduce", 70_000), 3), (Call("Reduce_scatter_block", 5000), 2),
]  # fmt: skip


@pytest.mark.parametrize(("right", "other"), covering.a_share(APART, 3), ids=str)
def test_nobody_waits_for_ever_where_one_rank_goes_another_way(right: Call, other: int) -> None:
    wrong = replace(right, gives=other, takes=other)
    ended = run([step(right), step(right, wrong, right)], "fatal")
    assert ended.status != 0, ended


@pytest.mark.parametrize(("right", "other"), covering.a_share(APART, 3), ids=str)
def test_who_goes_on_after_such_a_mistake_waits_for_nobody(right: Call, other: int) -> None:
    wrong = replace(right, gives=other, takes=other)
    steps = [step(right), step(right, wrong, right), step(Call("Allreduce", 1))]
    ended = run(steps, "return")
    assert ended.out.count("is through") == RANKS, ended
    assert " gives " in ended.out, ended
