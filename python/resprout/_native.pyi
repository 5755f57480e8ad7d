"""The native half: the list of protocols, and simulations of them on a LogP machine.

All wrong arguments raise ValueError with one line that says what was given and what is valid.
"""

from collections.abc import Sequence
from typing import TypedDict

class Option(TypedDict):
    name: str
    values: str  # words with | between them, or LOWEST..HIGHEST
    default: str
    help: str

class Protocol(TypedDict):
    name: str
    operation: str  # broadcast, allreduce, reduce
    summary: str
    options: list[Option]

# "from" is a word of the language, hence the functional form.
TracedMessage = TypedDict(
    "TracedMessage",
    {
        "from": int,
        "to": int,
        "kind": str,
        "sent": int,  # start of the send
        "arrived": int,  # at the receiver's port
        "received": int | None,  # end of the receive; None: the receiver was dead by then
    },
)

class TracedEvent(TypedDict):
    at: int
    rank: int
    kind: str

class Trace(TypedDict):
    messages: list[TracedMessage]
    events: list[TracedEvent]

class _Run(TypedDict):
    protocol: str
    procs: int
    latency: int  # L
    overhead: int  # o
    seed: int
    faults: str
    coloring_latency: int | None  # broadcasts
    quiescence_latency: int
    correction_start: int | None  # None: there was no correction
    messages: int
    messages_per_process: float
    g_max: int | None  # broadcasts
    uncolored: int  # live processes without the broadcast, or that did not return
    trace_digest: str

class Run(_Run, total=False):
    contributors: int | None  # reductions; None: no live process has a result
    completion_latency: int  # reductions: the last live process returns
    trace: Trace  # if it was asked for

class Simulation:
    def __init__(
        self,
        spec: str,
        *,
        procs: int,
        latency: int = 2,
        overhead: int = 1,
        gap: int = 0,
        root: int = 0,
        trace: bool = False,
    ) -> None: ...
    def run(self, *, faults: str = "none", fail_at: Sequence[str] = [], seed: int = 0) -> Run: ...

def simulate(
    spec: str,
    *,
    procs: int,
    latency: int = 2,
    overhead: int = 1,
    gap: int = 0,
    faults: str = "none",
    fail_at: Sequence[str] = [],
    seed: int = 0,
    root: int = 0,
    trace: bool = False,
) -> Run: ...
def protocols() -> list[Protocol]: ...
def check_spec(spec: str) -> None: ...
