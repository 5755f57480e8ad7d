"""What the ranks of mixed.c, blocks.c and their twins wrote down, and what must hold of it.

For each operation, over the ranks that came through:
1. All took part in all operations, in the same order, and saw the same outcome and the same result.
2. Every one of them is among the contributors of every reduction, and its block in every exchange.
3. Who never entered an operation is not among its contributors.
4. A broadcast or scatter brings all of them the payload or all of them the error, and no error if
   its root came through.
5. Nobody leaves an allreduce, say, or a barrier before all of them have entered it.
6. The results of a scan contain, of the same ranks everywhere, those up to the receiver's; those of
   an exclusive scan the ones before it.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jobs

REDUCTIONS = {"sum_long", "sum_double", "strung", "in_place", "reduce", "reduce_strung",
              "reduce_scatter", "reduce_scatter_block", "gather", "gatherv", "allgather",
              "allgatherv", "alltoall", "alltoallv", "alltoallw"}  # fmt: skip
TO_ROOT = {"reduce", "reduce_strung", "gather", "gatherv"}
FROM_ROOT = {"bcast", "scatter", "scatterv"}
SCANS = {"scan", "exscan"}


@dataclass(frozen=True)
class Return:
    """A line that says how an operation ended on one rank."""

    left_ns: int
    name: str
    comm: str
    root: int
    code: int
    mask: int
    digest: str


@dataclass
class Log:
    """What one rank wrote."""

    entered: dict[int, int] = field(default_factory=dict)
    """When, by the operation's number."""
    returned: dict[int, Return] = field(default_factory=dict)
    is_done: bool = False


def wait_for_work(folder: Path, ranks: int, job: jobs.Job) -> None:
    """Until every rank has begun its first operation, or the job is over."""
    paths = [folder / f"rank-{rank}" for rank in range(ranks)]

    def all_work() -> bool:
        return all(path.exists() and path.stat().st_size > 0 for path in paths)

    jobs.becomes_true(lambda: all_work() or job.process.poll() is not None, jobs.WATCHDOG_SECONDS)


def wait_for_operations(folder: Path, ranks: int, count: int, job: jobs.Job) -> None:
    """Until every rank has come so far, or the job is over."""

    def all_are_there() -> bool:
        return all(len(log.returned) >= count for log in read_logs(folder, ranks))

    jobs.becomes_true(
        lambda: all_are_there() or job.process.poll() is not None, jobs.WATCHDOG_SECONDS
    )


def say_enough(folder: Path) -> None:
    """Ranks that were started with 0 milliseconds may come to an end."""
    (folder / "enough").touch()


def read_logs(folder: Path, ranks: int) -> list[Log]:
    return [_read(folder / f"rank-{rank}") for rank in range(ranks)]


def _read(path: Path) -> Log:
    log = Log()
    if not path.exists():
        return log
    for line in path.read_text().splitlines():
        kind, *words = line.split()
        if kind == "E":
            log.entered[int(words[0])] = int(words[1])
        elif kind == "R":
            number, left, name, comm, root, code, mask, digest = words
            log.returned[int(number)] = Return(
                int(left), name, comm, int(root), int(code), int(mask), digest
            )
        elif kind == "D":
            log.is_done = True
    return log


def members_of(comm: str, ranks: int) -> list[int]:
    """World ranks, in the order of the communicator's."""
    halves = {"lower": range(ranks // 2 - 1, -1, -1), "upper": range(ranks - 1, ranks // 2 - 1, -1)}
    return list(halves.get(comm, range(ranks)))


def problems(logs: list[Log], survivors: set[int]) -> Iterator[str]:
    """Everything that does not hold, in words."""
    for rank in sorted(survivors):
        if not logs[rank].is_done or set(logs[rank].entered) != set(logs[rank].returned):
            yield f"rank {rank} did not come through"
            return
    numbers = [list(logs[rank].entered) for rank in sorted(survivors)]
    if any(other != numbers[0] for other in numbers):
        yield "the survivors took part in different operations"
        return
    for number in numbers[0]:
        groups: dict[str, list[int]] = defaultdict(list)
        for rank in sorted(survivors):
            groups[logs[rank].returned[number].comm].append(rank)
        for group in groups.values():
            for problem in _problems_of(number, logs, group):
                first = logs[group[0]].returned[number]
                yield f"operation {number}, {first.name} on {first.comm}: {problem}"


def _problems_of(number: int, logs: list[Log], group: list[int]) -> Iterator[str]:
    returned = {rank: logs[rank].returned[number] for rank in group}
    first = returned[group[0]]
    members = members_of(first.comm, len(logs))
    root = members[first.root]
    seen_by = [root] if first.name in TO_ROOT else group
    results = {(r.code, r.mask, r.digest) for rank, r in returned.items() if rank in seen_by}
    if len({(r.name, r.root) for r in returned.values()}) > 1:
        yield "not the same operation everywhere"
    if len(results) > 1 and first.name not in SCANS:
        yield f"different results: {returned}"
    if first.name in FROM_ROOT and first.code != 0 and root in group:
        yield "an error although the root lives"
    if first.name == "bcast" and any(mask not in (0, 1 << root) for _, mask, _ in results):
        yield f"not the root's data: {results}"
    if first.name in SCANS:
        yield from _problems_of_scan(number, logs, group, members)
    if first.name in REDUCTIONS or first.name == "barrier":
        for code, mask, _ in results:
            yield from _problems_of_mask(code, mask, number, logs, group, members)
    # Among two the library's scans let the first rank go.
    if first.name not in TO_ROOT | FROM_ROOT | SCANS:
        last_entry = max(logs[rank].entered[number] for rank in group)
        if any(r.left_ns < last_entry for r in returned.values()):
            yield "somebody left before everybody had entered"


def _problems_of_scan(
    number: int, logs: list[Log], group: list[int], members: list[int]
) -> Iterator[str]:
    returned = {rank: logs[rank].returned[number] for rank in group}
    last = max(group, key=members.index)
    everybody = returned[last].mask | 1 << last
    for rank, one in returned.items():
        before = members[: members.index(rank) + (one.name == "scan")]
        expected = everybody & sum(1 << other for other in before)
        if one.mask != expected:
            yield f"rank {rank} has {one.mask:#x} and not {expected:#x} of {everybody:#x}"
    code = max(one.code for one in returned.values())
    yield from _problems_of_mask(code, everybody, number, logs, group, members)


def _problems_of_mask(
    code: int, mask: int, number: int, logs: list[Log], group: list[int], members: list[int]
) -> Iterator[str]:
    if code != 0:
        yield "a reduction failed"
    # A reduction of no elements has none; any other contains at least whoever checked it.
    for rank in group if mask else []:
        if not mask >> rank & 1:
            yield f"rank {rank} lives and is not contained in {mask:#x}"
    for rank, log in enumerate(logs):
        if mask >> rank & 1 and (rank not in members or number not in log.entered):
            yield f"rank {rank} was dead before, and is contained in {mask:#x}"
