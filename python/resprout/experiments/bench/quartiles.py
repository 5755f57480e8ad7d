"""What is said of a sample of times: median and quartiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Figure:
    """Of one time, in microseconds."""

    lower: float
    median: float
    upper: float

    def as_dict(self, name: str) -> dict[str, float]:
        """The columns of a time that is called so."""
        return {
            f"{name}_lower_us": self.lower,
            f"{name}_us": self.median,
            f"{name}_upper_us": self.upper,
        }


def figure_of(values: Sequence[float]) -> Figure:
    """REQUIRES: there are values."""
    if len(values) == 1:
        return Figure(values[0], values[0], values[0])
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return Figure(lower, median(values), upper)
