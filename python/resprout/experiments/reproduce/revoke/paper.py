"""All that is reproduced of the paper."""

from resprout.experiments.reproduce.paper import Paper
from resprout.experiments.reproduce.revoke.fig3 import FIG3
from resprout.experiments.reproduce.revoke.fig4 import FIG4
from resprout.experiments.reproduce.revoke.fig5 import FIG5
from resprout.experiments.reproduce.revoke.overlay import OVERLAY

REVOKE = Paper(
    "revoke",
    "Plan B (Revoke), reproduced",
    (FIG3, FIG4, FIG5, OVERLAY),
    ("What is outside is explained in [errata.md](../../reference/errata.md).",),
)
