"""All that is reproduced of the paper."""

from resprout.reproduce.command import Paper
from resprout.reproduce.ftco.fig6 import FIG6
from resprout.reproduce.ftco.fig7 import FIG7
from resprout.reproduce.ftco.fig8 import FIG8
from resprout.reproduce.ftco.fig9 import FIG9
from resprout.reproduce.ftco.fig10 import FIG10
from resprout.reproduce.ftco.table1 import TABLE1
from resprout.reproduce.ftco.table2 import TABLE2

FTCO = Paper(
    "ftco",
    "Fault-Tolerant Collective Operations, reproduced",
    (FIG7, FIG8, FIG9, FIG10, TABLE2, TABLE1, FIG6),
    ("What is outside is explained in [errata.md](../errata.md).",),
)
