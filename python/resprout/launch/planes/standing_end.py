"""What becomes of a replica that stands still: what is written down, and that it ends.

Its own process looks for `stands-still-<rank>` in its run directory, on whatever host it is, and
ends; its plane, or its siblings where they stand in for it, then go on as after any loss. One that
has not called MPI_Init does not look; its plane is ended.
"""

import json
import time
from pathlib import Path

from resprout.launch.command import Plan
from resprout.launch.planes import words
from resprout.launch.planes.standing import StandsStill


def end_it(found: StandsStill, plan: Plan, folder: Path) -> bool:
    """`folder`: the run directory of its plane. Where nothing is verified it is as one that has
    died; else it differs, and two others out-vote it. True: nobody can tell which is right, and the
    job is to be ended."""
    words.tell_of_standing(found, plan.planes)
    then = _then(found, plan)
    notes = [{"stood_still": {"seconds": found.at.still_seconds, "where": found.at.where}}]
    if plan.verify != "none":
        notes.append({"corrupted": _corruption(found, then)})
    with (folder / f"notes-{found.rank}").open("ab") as file:
        file.write(b"".join(json.dumps(note).encode() + b"\n" for note in notes))
    (folder / f"stands-still-{found.rank}").touch()
    return then == "abort"


def _then(found: StandsStill, plan: Plan) -> str:
    if found.is_outvoted:
        return "stand_in" if plan.stands_in else "exclude"
    is_reported = plan.variables.get("RESPROUT_ON_CORRUPTION") == "report"
    return "go_on" if is_reported or plan.verify == "none" else "abort"


def _corruption(found: StandsStill, then: str) -> dict[str, object]:
    """As Findings of the ranks writes it (src/mpi/policies/replicas/findings.hpp)."""
    return {
        "of": "progress", "call": found.at.where, "sender": found.rank, "receiver": found.rank,
        "tag": 0, "communicator": "world", "number": found.at.place[2], "bytes": 0,
        "wrong_replicas": [found.replica] if found.is_outvoted else [], "tainted": False,
        "replaced": False, "end": "outvoted" if found.is_outvoted else "undecided", "then": then,
        "rank": found.rank, "replica": found.replica, "found_ns": time.time_ns(),
    }  # fmt: skip
