"""What follows when a rank has one replica left, so that nothing it says is compared any more.

It is said on stderr, whatever --on-unverified says: `go-on`, the job does; `wait`, the plane that
is left waits at its next checkpoint until another one is back (the note `wait-for-return` in the
job's run directory, src/mpi/policies/checkpoints/returns.cpp), and the job ends if none will be;
`abort`, it ends.
"""

from collections.abc import Callable
from pathlib import Path

from resprout import log
from resprout.launch.command import Plan
from resprout.report.merge import STATUS_UNVERIFIED

_THEN = {
    "go-on": "the job goes on unverified",
    "wait": "it waits at its next checkpoint for a plane that comes back",
    "abort": f"the job ends with status {STATUS_UNVERIFIED}",
}


class Unverified:
    """Of one job. `directory`: its run directory."""

    def __init__(self, plan: Plan, directory: Path) -> None:
        self.must_end = False
        """The user wants no job that is not verified."""
        self._note = directory / "wait-for-return"
        self._policy = plan.variables.get("RESPROUT_ON_UNVERIFIED", "go-on")
        self._is_verified = plan.verify != "none"
        self._is_so = False
        self._has_said = False

    def begin(self, who: str) -> None:
        """Nothing that they say is compared any more."""
        if not self._is_verified or self._is_so:
            return
        self._is_so = True
        self._has_said = True
        self._say(f"nothing that {who} says is compared any more: {_THEN[self._policy]}")
        self.must_end = self._policy == "abort"
        if self._policy == "wait":
            self._note.touch()

    def look(self, is_hopeless: Callable[[], bool]) -> None:
        """`is_hopeless`: no plane will come back."""
        if self._policy == "wait" and self._is_so and not self.must_end and is_hopeless():
            self.must_end = True
            self._say(f"no plane comes back: the job ends with status {STATUS_UNVERIFIED}")

    def settle(self, unverified: int) -> None:
        """The job is over, and of so much nobody was left to compare it with. It may have ended
        before its launcher knew that."""
        if self._is_verified and unverified and not self._has_said:
            self.must_end = self._policy != "go-on"
            status = f": status {STATUS_UNVERIFIED}" if self.must_end else ""
            self._say(f"{unverified} messages and collectives were not compared{status}")

    def end(self) -> None:
        """A plane is back."""
        self._is_so = False
        self._note.unlink(missing_ok=True)

    def _say(self, words: str) -> None:
        log.warn(f"{words} (--on-unverified {self._policy})")
