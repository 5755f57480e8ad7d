"""The command `resprout advise`."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resprout.advise.durations import read_duration, write_duration
from resprout.advise.measure import measure_checkpoint, read_size
from resprout.advise.ways import Job, Way, ways_of
from resprout.errors import UserError

_COLUMNS = ("way", "stopped every", "checkpoint every", "takes", "lost")


@dataclass(frozen=True)
class Asked:
    """Unchecked."""

    nodes: int
    work: str
    node_mean: str
    checkpoint: str | None
    measure: Path | None
    size: str | None
    restart: str
    queue: str | None
    back: str | None
    replica_cost: float


def advise(asked: Asked, as_json: bool) -> int:
    job = _job_of(asked)
    ways = list(ways_of(job))
    if as_json:
        value = {"schema": 1, "job": asdict(job), "ways": [asdict(way) for way in ways]}
        print(json.dumps(_finite(value), indent=2))
    else:
        _show(job, ways)
    return 0


def _job_of(asked: Asked) -> Job:
    if (asked.checkpoint is None) == (asked.measure is None):
        raise UserError("give one of --checkpoint SECONDS, as 60s, and --measure FOLDER")
    if (asked.measure is None) != (asked.size is None):
        raise UserError("--measure and --size go together: what is written where")
    if asked.replica_cost < 1:
        raise UserError(f"--replica-cost: {asked.replica_cost:g} is less than 1")
    if asked.checkpoint is not None:
        cost = read_duration("--checkpoint", asked.checkpoint)
    else:
        assert asked.measure is not None and asked.size is not None
        cost = measure_checkpoint(asked.measure, read_size(asked.size))
    return Job(
        nodes=asked.nodes,
        work=read_duration("--work", asked.work),
        node_mean=read_duration("--mtbf", asked.node_mean),
        checkpoint=cost,
        restart=read_duration("--restart", asked.restart),
        queue=None if asked.queue is None else read_duration("--queue", asked.queue),
        back=math.inf if asked.back is None else read_duration("--back", asked.back),
        replica_cost=asked.replica_cost,
    )


def _show(job: Job, ways: Sequence[Way]) -> None:
    print(
        f"{job.nodes} nodes, {write_duration(job.work)} of work, a loss of a node every "
        f"{write_duration(job.node_mean)}, a checkpoint takes {write_duration(job.checkpoint)}"
    )
    rows = [_COLUMNS, *map(_cells, ways)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        print("  ".join(cells).rstrip())
    best = min(ways, key=lambda way: way.seconds)
    if math.isinf(best.seconds):
        print("resprout: losses come faster than work with each of these ways", file=sys.stderr)


def _cells(way: Way) -> tuple[str, ...]:
    return (
        way.name,
        write_duration(way.mean_seconds),
        write_duration(way.daly_seconds),
        write_duration(way.seconds),
        f"{100 * way.lost_share:.1f} %",
    )


def _finite(value: Any) -> Any:
    """Infinity is no JSON: null."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value
