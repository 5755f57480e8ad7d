"""All that is reproduced of the paper."""

from resprout.experiments.reproduce.lazy_replication.figures import BARS
from resprout.experiments.reproduce.lazy_replication.memory import MEMORY
from resprout.experiments.reproduce.lazy_replication.placement import PLACEMENT
from resprout.experiments.reproduce.lazy_replication.tables import TABLES
from resprout.experiments.reproduce.paper import Paper

LAZY_REPLICATION = Paper(
    "lazy-replication",
    "Lazy Fault Detection for Redundant MPI, reproduced",
    (*TABLES, *BARS, MEMORY, PLACEMENT),
    (
        "The benchmarks' messages are replayed on the paper's two networks, as "
        "[reproduce.md](../../how-to/reproduce.md#what-is-replayed-of-lazy-fault-detection) says. "
        "The column of runs counts messages. What is outside is explained in "
        "[errata.md](../../reference/errata.md).",
    ),
)
