"""How often a job is started again, and when that would go on for ever."""

from collections.abc import Sequence

MAX_RESTARTS = 10
SHORT_LIFE_SECONDS = 20.0
# So many short lives in a row end the job.
SHORT_LIVES = 3


class Patience:
    """Of one job."""

    def __init__(
        self, restarts: int = MAX_RESTARTS, short_life_seconds: float = SHORT_LIFE_SECONDS
    ) -> None:
        """`short_life_seconds`: a life that was lost sooner has got nowhere, unless it came to a
        checkpoint of ours. No file of a program says to us that it is one, so the time has to."""
        self.restarts = restarts
        self._short = short_life_seconds

    def why_over(self, lives_seconds: Sequence[float]) -> str | None:
        """Why there is no further life, if so. `lives_seconds`: how long each one lasted, all of
        which ended with a loss; infinitely long, if it is known to have got somewhere."""
        if len(lives_seconds) > self.restarts:
            count = "once" if self.restarts == 1 else f"{self.restarts} times"
            return (
                f"it was started again {count}, and --max-restarts allows no more"
                if self.restarts
                else "--max-restarts 0 allows no start again"
            )
        last = lives_seconds[-SHORT_LIVES:]
        if len(last) == SHORT_LIVES and all(seconds < self._short for seconds in last):
            return (
                f"{SHORT_LIVES} lives in a row ended within {self._short:g} s of their starts "
                "(--short-life)"
            )
        return None
