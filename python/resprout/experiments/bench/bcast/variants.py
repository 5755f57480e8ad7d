"""The broadcasts that are compared: the prototype's of Corrected Trees, and what Resprout does."""

import math
from dataclasses import dataclass

from resprout.errors import UserError
from resprout.launch.run import check_spec

NATIVE = "native"
DEFAULT = "default"
BASELINE = "binomial"


@dataclass(frozen=True)
class Variant:
    """One way to broadcast. `spec` is `native`, `default`, or a protocol's spec with {rounds}."""

    name: str
    spec: str
    what: str

    def spec_for(self, ranks: int) -> str:
        """Gossip gets a round more than it takes if nobody is hit twice."""
        return self.spec.replace("{rounds}", str(math.ceil(math.log2(ranks)) + 1))


def _binomial(messages: int) -> Variant:
    # As the prototype of the paper does it (section 4.4): in one direction.
    spec = f"corrected-tree:correction=opportunistic,sides=right,d={messages}"
    plural = "message" if messages == 1 else "messages"
    what = f"binomial tree, {messages} correction {plural}"
    return Variant(f"binomial+{messages}", spec, what)


def _lame(order: int) -> Variant:
    spec = f"corrected-tree:tree=lame,k={order},correction=opportunistic,sides=right,d=2"
    return Variant(f"lame{order}+2", spec, f"Lamé tree of order {order}, 2 correction messages")


VARIANTS = (
    Variant(NATIVE, NATIVE, "the MPI library's own"),
    Variant(DEFAULT, DEFAULT, "Resprout's, if no protocol is named"),
    Variant(BASELINE, "corrected-tree:correction=none", "binomial tree, not corrected"),
    *(_binomial(messages) for messages in (1, 2, 4)),
    *(_lame(order) for order in (2, 3, 4)),
    Variant("checked", "corrected-tree:correction=checked", "binomial tree, checked correction"),
    Variant(
        "gossip",
        "corrected-gossip:rounds={rounds},correction=checked",
        "gossip, checked correction",
    ),
)
_BY_NAME = {variant.name: variant for variant in VARIANTS}


def choose(names: str | None, specs: list[str]) -> list[Variant]:
    """Those that are named, in the order of the list; then the user's own. With the baseline."""
    given = [*_BY_NAME] if names is None else [name.strip() for name in names.split(",")]
    for name in given:
        if name not in _BY_NAME:
            raise UserError(
                f"--variants: {name!r} is not known; there are {', '.join(_BY_NAME)}; "
                "give others as --bcast SPEC"
            )
    wanted = {*given, BASELINE}
    chosen = [variant for variant in VARIANTS if variant.name in wanted]
    own = [Variant(spec, check_spec("--bcast", spec), "your own") for spec in dict.fromkeys(specs)]
    return chosen + own
