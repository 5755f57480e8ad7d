"""All that is reproduced of the paper."""

from resprout.experiments.reproduce.corrected_trees.fig1b import FIG1B
from resprout.experiments.reproduce.corrected_trees.fig6 import FIG6
from resprout.experiments.reproduce.corrected_trees.fig7 import FIG7
from resprout.experiments.reproduce.corrected_trees.fig8 import FIG8
from resprout.experiments.reproduce.corrected_trees.fig9 import FIG9
from resprout.experiments.reproduce.corrected_trees.fig10 import FIG10
from resprout.experiments.reproduce.corrected_trees.fig14 import FIG14
from resprout.experiments.reproduce.corrected_trees.lemmas import LEMMAS
from resprout.experiments.reproduce.corrected_trees.opportunistic import OPPORTUNISTIC
from resprout.experiments.reproduce.corrected_trees.overlapped import OVERLAPPED
from resprout.experiments.reproduce.corrected_trees.table1 import TABLE1
from resprout.experiments.reproduce.paper import Paper

CORRECTED_TREES = Paper(
    "corrected-trees",
    "Corrected Trees for Reliable Group Communication, reproduced",
    (FIG1B, FIG6, FIG7, FIG8, FIG9, FIG10, TABLE1, OPPORTUNISTIC, OVERLAPPED, FIG14, LEMMAS),
    ("What is outside is explained in [errata.md](../../reference/errata.md).",),
)
