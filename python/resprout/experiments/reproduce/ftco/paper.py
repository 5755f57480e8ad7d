"""All that is reproduced of the paper."""

from resprout.experiments.reproduce.ftco.fig6 import FIG6
from resprout.experiments.reproduce.ftco.fig7 import FIG7
from resprout.experiments.reproduce.ftco.fig8 import FIG8
from resprout.experiments.reproduce.ftco.fig9 import FIG9
from resprout.experiments.reproduce.ftco.fig10 import FIG10
from resprout.experiments.reproduce.ftco.table1 import TABLE1
from resprout.experiments.reproduce.ftco.table2 import TABLE2
from resprout.experiments.reproduce.paper import Paper

FTCO = Paper(
    "ftco",
    "Fault-Tolerant Collective Operations, reproduced",
    (FIG7, FIG8, FIG9, FIG10, TABLE2, TABLE1, FIG6),
    ("What is outside is explained in [errata.md](../../reference/errata.md).",),
)
