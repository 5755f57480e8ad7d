"""Section 5.1: an allreduce of real processes into which some die, and ULFM's way on the same MPI.

The paper has 64 to 512 processes of a cluster, and a timeout of 2 s; here they share the cores of
this machine, and a death is known as soon as the lifeline or the kernel says so.
"""

from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.measured import bench_rows

RANKS = (8, 16)
FAULTS = ("none", "one", "two parallel", "two serial", "three mixed")
OURS, ULFM = "resprout, binomial", "ulfm"
"""A tree on both sides, in which faults can be parallel or serial."""


def recovery_rows(study: Study) -> list[Row]:
    """A row for each number of ranks, kind of faults and way, by `resprout bench recovery`."""
    is_sample = study.scale.divisor > 1
    ranks = RANKS[:1] if is_sample else RANKS
    repetitions = 1 if is_sample else study.scale.runs(5, 20)
    words = ["--ranks", ",".join(map(str, ranks)), "--repetitions", str(repetitions)]
    name = f"recovery-{len(ranks)}-{repetitions}"
    return study.store.keep(name, lambda: bench_rows("recovery", words))


def totals(rows: list[Row], way: str) -> dict[tuple[int, str], float]:
    """Milliseconds from the last death to the last result, by number of ranks and faults."""
    mine = [row for row in rows if row["way"] == way]
    return {(row["procs"], row["faults"]): row["total_us"] / 1e3 for row in mine}
