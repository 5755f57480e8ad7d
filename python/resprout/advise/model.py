"""The time that a job takes, with checkpoints and losses: expected values, in seconds.

Losses come independently of each other, with a mean time between them (exponential). A checkpoint
takes `cost`; after a loss `recovery` passes until the job computes again, from its last checkpoint.

- Young, "A first order approximation to the optimum checkpoint interval", 1974: sqrt(2 cost mean).
- Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006: the
  interval of its section 4, and the time of its equation 20, of which that is nearly the minimum.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Losses:
    """Of a whole job."""

    mean: float
    """Between two of them."""
    recovery: float


def young(cost: float, mean: float) -> float:
    """How long to compute between two checkpoints."""
    return math.sqrt(2 * cost * mean)


def daly(cost: float, mean: float) -> float:
    """The same for checkpoints that are not cheap against the mean time between losses."""
    if cost >= 2 * mean:
        return mean
    share = cost / (2 * mean)
    return young(cost, mean) * (1 + math.sqrt(share) / 3 + share / 9) - cost


def time_with_checkpoints(work: float, interval: float, cost: float, losses: Losses) -> float:
    """Of a job that would take `work` without checkpoints and losses; infinity if it never ends."""
    try:
        each = math.exp(losses.recovery / losses.mean) * math.expm1((interval + cost) / losses.mean)
    except OverflowError:
        return math.inf
    return losses.mean * each * work / interval


@dataclass(frozen=True)
class Planes:
    """Two replicas of each rank, in two planes with a half of the nodes each."""

    mean: float
    """Between two losses in one of them."""
    back: float
    """From the loss of a plane until it has come back; infinity: it does not."""

    @property
    def mean_to_loss_of_both(self) -> float:
        """One is lost after half of `mean`; the other one within `back` of that, or it begins
        anew."""
        both = -math.expm1(-self.back / self.mean)
        return self.mean / 2 / both + self.mean
