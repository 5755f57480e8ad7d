"""Jobs over several hosts whose ranks are killed at any moment, with every carrier of collectives.

Each job is a random mix of collectives, a number of hosts and of ranks on each, and who is killed
when, all drawn from its seed: ranks of any host, or all ranks of one. The survivors go on, and
their logs hold. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import jobs
import kills
import namespaces
import pytest
import soak_cases
import soak_kinds
import whole_hosts

HOSTS = 4


def a_case(collectives: str, seed: int) -> tuple[kills.Case, int]:
    """The job of this seed, and how many ranks are on each host."""
    dice = random.Random(f"hosts {seed}")
    per_host = dice.choice([1, 2, 2, 3])
    ranks = per_host * dice.randint(2, HOSTS)
    program = dice.choice(["mixed", "blocks"])
    if dice.random() < 0.25:
        host = dice.randrange(ranks // per_host)
        victims = list(range(host * per_host, (host + 1) * per_host))
    else:
        victims = dice.sample(range(ranks), min(dice.choice([1, 1, 1, 2, 2, 3]), ranks - 1))
    clock = dice.choice(["at", "at", "after"])
    faults = tuple(
        f"kill:rank={rank},{soak_cases.moment(dice, program, clock)}" for rank in victims
    )
    repeat = f"tests/mpi/soak_hosts.py --kind {collectives} --runs 1 --first {seed}"
    case = kills.Case(seed, program, ranks, "auto", faults, dice.choice((2, 2, 30)), collectives,
                      f"PYTHONPATH=tests .venv/bin/python {repeat}")  # fmt: skip
    return case, per_host


def run_case(case: kills.Case, per_host: int, only: str = "all") -> jobs.Ended:
    """Exactly its victims are lost. `only`: of blocks.c. REQUIRES: HOSTS hosts are up."""
    folder = Path(tempfile.mkdtemp(prefix="hosts-"))
    with whole_hosts.shared(folder):
        hostfile = folder / "hosts"
        letters = "ABCDEFGH"[: case.ranks // per_host]
        hostfile.write_text("".join(f"node{host} slots={per_host}\n" for host in letters))
        ended = kills.run(
            case,
            soak_cases.program_of(case, folder, only),
            folder,
            ["--hostfile", str(hostfile), "--run-dir", str(folder)],
            # Nor does anybody sleep to close a network that is not there.
            variables={**whole_hosts.variables(folder), "OMPI_MCA_btl": "^ofi,usnic"},
            within=[namespaces.TOOL, "in", "A"],
        )
    shutil.rmtree(folder)
    return ended


def kind(collectives: str) -> Callable[[int], int]:
    return lambda seed: len(run_case(*a_case(collectives, seed)).lost)


KINDS: dict[str, Callable[[int], int]] = {
    collectives: kind(collectives) for collectives in ("auto", "native", "resprout")
}


def main(words: list[str]) -> int:
    try:
        with namespaces.up(HOSTS):
            return soak_kinds.main(words, __doc__, KINDS, 100, "ranks lost")
    except pytest.skip.Exception as reason:
        print(f"skipped: {reason}")
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
