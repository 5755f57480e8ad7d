"""All that is reproduced of the paper."""

from resprout.reproduce.command import Paper
from resprout.reproduce.ftco.fig7 import FIG7
from resprout.reproduce.ftco.fig8 import FIG8
from resprout.reproduce.ftco.fig9 import FIG9
from resprout.reproduce.ftco.fig10 import FIG10
from resprout.reproduce.ftco.table2 import TABLE2

_RECOVERY = (
    "is measured with processes that are killed, not simulated: `resprout bench recovery` does it"
)

FTCO = Paper(
    "ftco",
    "Fault-Tolerant Collective Operations, reproduced",
    (FIG7, FIG8, FIG9, FIG10, TABLE2),
    ("What is outside is explained in [errata.md](../errata.md).",),
    {"table1": _RECOVERY, "fig6": _RECOVERY},
)
