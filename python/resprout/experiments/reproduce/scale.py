"""How much is simulated."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """How many runs. Tests take a share, users the stated number or the paper's own."""

    is_full: bool = False
    divisor: int = 1

    def runs(self, stated: int, full: int) -> int:
        return full if self.is_full else max(2, stated // self.divisor)
