"""Jobs over several hosts, which are network namespaces of this one (tests/namespaces.py).

Ranks are placed two a host, in order: 0 and 1 on the first.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import jobs
import logs
from namespaces import TOOL

NETWORK = "10.77.0.0/24"


def address_of(rank: int) -> str:
    """On the network that carries our connections."""
    return f"10.77.0.{rank // 2 + 1}"


def mpirun(program: Sequence[str | Path], folder: Path, variables: dict[str, str]) -> list:
    """The command of a job with two ranks on each host; `variables` reach the ranks."""
    ours = jobs.by_hand() | variables
    ours |= {"LD_PRELOAD": str(jobs.SHIM), "RESPROUT_NETWORK": NETWORK}
    ours |= {"RESPROUT_RUN_DIR": str(folder)}
    words: list[str | Path] = [TOOL, "mpirun", jobs.BIN.parent, "--with-ft", "ulfm"]
    for name, value in ours.items():
        words += ["-x", f"{name}={value}"]
    return ["env", *(f"{k}={v}" for k, v in jobs.by_hand().items()), *words, *program]


def part_of(folder: Path, rank: int) -> dict:
    """What a rank reports of itself."""
    return json.loads((folder / f"rank-{rank}.json").read_text())


def check(folder: Path, ranks: int, victims: set[int], ended: jobs.Ended) -> None:
    """The survivors' logs hold, and each of them reports exactly the victims."""
    survivors = set(range(ranks)) - victims
    wrong = list(logs.problems(logs.read_logs(folder, ranks), survivors))
    assert not wrong, "\n".join([*wrong[:10], str(ended)])
    for rank in survivors:
        part = part_of(folder, rank)
        assert {loss["rank"] for loss in part["losses"]} == victims, f"rank {rank}: {part}\n{ended}"
