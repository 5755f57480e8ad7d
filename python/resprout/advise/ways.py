"""The ways of a job to bear losses, each with its best interval and the time that it takes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from resprout.advise.model import Losses, Planes, daly, time_with_checkpoints, young


@dataclass(frozen=True)
class Job:
    """Times in seconds."""

    nodes: int
    work: float
    """It takes so long on all nodes without checkpoints and losses."""
    node_mean: float
    """Between two losses of one node."""
    checkpoint: float
    restart: float
    """From a loss until the job computes again."""
    queue: float | None = None
    """That it waits besides, if the batch system starts it again."""
    back: float = math.inf
    """From the loss of a plane of replicas until it is back."""
    replica_cost: float = 1.03
    """By so much two replicas are slower than one of them alone."""


@dataclass(frozen=True)
class Way:
    """One of them."""

    name: str
    mean_seconds: float
    """Between two losses that stop it."""
    young_seconds: float
    daly_seconds: float
    seconds: float
    """That the job takes, with checkpoints every `daly_seconds`; infinity: it does not end."""
    lost_share: float
    """Of its time on all nodes."""


def ways_of(job: Job) -> Iterator[Way]:
    """In the order of what they ask for."""
    mean = job.node_mean / job.nodes
    if job.queue is not None:
        yield _way("the batch system starts it again", job, mean, job.queue + job.restart)
    yield _way("--on-loss restart", job, mean, job.restart)
    if job.nodes > 1:
        planes = Planes(job.node_mean / (job.nodes / 2), job.back)
        slower = 2 * job.replica_cost
        yield _way("--replicas 2", job, planes.mean_to_loss_of_both, job.restart, slower)


def _way(name: str, job: Job, mean: float, recovery: float, slower: float = 1.0) -> Way:
    interval = daly(job.checkpoint, mean)
    work = job.work * slower
    seconds = time_with_checkpoints(work, interval, job.checkpoint, Losses(mean, recovery))
    return Way(
        name=name,
        mean_seconds=mean,
        young_seconds=young(job.checkpoint, mean),
        daly_seconds=interval,
        seconds=seconds,
        lost_share=1 - job.work / seconds,
    )
