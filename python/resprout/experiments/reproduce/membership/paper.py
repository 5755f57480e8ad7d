"""All that is reproduced of the paper."""

from resprout.experiments.reproduce.membership.fig4 import FIG4
from resprout.experiments.reproduce.membership.fig5 import FIG5
from resprout.experiments.reproduce.membership.fig6 import FIG6
from resprout.experiments.reproduce.membership.fig7 import FIG7
from resprout.experiments.reproduce.membership.fig8 import FIG8
from resprout.experiments.reproduce.paper import Paper

_NO_DATA = "explains the protocol and has no data: see docs/explanation/protocols/membership.md"

MEMBERSHIP = Paper(
    "membership",
    "Scalable, Fault-Tolerant Membership, reproduced",
    (FIG4, FIG5, FIG6, FIG7, FIG8),
    (
        "The paper prints its curves but no numbers, so its models are compared with the protocol "
        "as it is simulated here. What is outside is explained in "
        "[errata.md](../../reference/errata.md).",
    ),
    dict.fromkeys(("fig1", "fig2", "fig3"), _NO_DATA),
)
