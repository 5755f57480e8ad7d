"""The native half: the list of protocols, and simulations of them on a LogP machine.

It speaks the C interface of src/bindings/resprout_sim.h; the structures here are those there. All
wrong arguments raise ValueError with one line that says what was given and what is valid.
"""

import ctypes
import functools
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, TypedDict

from resprout.errors import UserError

LIBRARY = "libresprout_sim.so"
# Stands in columns for what does not apply or never happened.
NONE = -1
# Of initiators: the root alone revokes, at 0.
ROOT = "root"


class Option(TypedDict):
    name: str
    values: str  # words with | between them, or LOWEST..HIGHEST
    default: str
    help: str


class Protocol(TypedDict):
    name: str
    operation: str  # broadcast, allreduce, reduce, view, revocation
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


class TracedDeath(TypedDict):
    at: int
    rank: int


class Trace(TypedDict):
    messages: list[TracedMessage]
    events: list[TracedEvent]
    deaths: list[TracedDeath]  # as asked for, drawn ones included


class _Run(TypedDict):
    protocol: str
    procs: int
    latency: int  # L
    overhead: int  # o
    seed: int
    faults: str
    coloring_latency: int | None  # broadcasts, revocations
    quiescence_latency: int
    correction_start: int | None  # None: there was no correction
    messages: int
    messages_per_process: float
    g_max: int | None  # broadcasts
    uncolored: int  # live ones without the broadcast, that did not return, or have not heard
    trace_digest: str


class Run(_Run, total=False):
    contributors: int | None  # reductions; None: no live process has a result
    completion_latency: int  # reductions: the last live process returns; revoke's plans
    output_spread: int | None  # in-band detection, here and below, and revoke's plans
    longest_queue: int
    keepalives: int
    false_suspicions: int
    trace: Trace  # if it was asked for


class _COption(Structure):
    _fields_ = [(name, c_char_p) for name in ("name", "values", "fallback", "help")]


class _CProtocol(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("operation", c_char_p),
        ("summary", c_char_p),
        ("options", POINTER(_COption)),
        ("option_count", c_size_t),
    ]


class _CMachine(Structure):
    _fields_ = [
        *(
            (name, c_int64)
            for name in (
                *("procs", "latency", "overhead", "gap", "root"),
                *("wants_trace", "wants_digest"),
            )
        ),
        ("late", c_char_p),
        ("initiators", c_char_p),
        ("noise", c_char_p),
    ]


class _CRun(Structure):
    _fields_ = [
        ("coloring_latency", c_int64),
        ("quiescence_latency", c_int64),
        ("correction_start", c_int64),
        ("messages", c_int64),
        ("g_max", c_int64),
        ("uncolored", c_int64),
        ("contributors", c_int64),
        ("completion_latency", c_int64),
        ("output_spread", c_int64),
        ("longest_queue", c_int64),
        ("keepalives", c_int64),
        ("false_suspicions", c_int64),
        ("trace_digest", c_uint64),
    ]


MEASURED = tuple(name for name, *_ in _CRun._fields_)
"""The columns of Simulation.run_many()."""


class _CTracedMessage(Structure):
    _fields_ = [
        ("from", c_int64),
        ("to", c_int64),
        ("kind", c_char_p),
        ("sent", c_int64),
        ("arrived", c_int64),
        ("received", c_int64),
    ]


class _CTracedEvent(Structure):
    _fields_ = [("at", c_int64), ("rank", c_int64), ("kind", c_char_p)]


class _CTracedDeath(Structure):
    _fields_ = [("at", c_int64), ("rank", c_int64)]


class _CScene(Structure):
    _fields_ = [
        (name, c_int64)
        for name in (
            *("procs", "radix", "victim", "network"),
            *("latency", "processing", "service", "talkers", "overhead"),
        )
    ]


class _CStabilized(Structure):
    _fields_ = [(name, c_int64) for name in ("stabilized", "installed", "messages")]


NETWORKS = ("uniform", "torus", "ethernet")


@functools.cache
def _library() -> Any:
    """The library beside this file, with the types of its functions. Calls release the GIL."""
    path = Path(__file__).resolve().parent / LIBRARY
    if not path.exists():
        raise UserError(f"{path} is missing; `make build` or `pip install` puts it there")
    library = ctypes.CDLL(str(path))
    count = POINTER(c_size_t)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "refusal": (c_char_p, []),
        "protocols": (POINTER(_CProtocol), [count]),
        "check_spec": (c_int, [c_char_p]),
        "check_simulation": (
            c_int,
            [c_char_p, POINTER(_CMachine), c_char_p, POINTER(c_char_p), c_size_t],
        ),
        "is_computed": (
            c_int,
            [c_char_p, POINTER(_CMachine), POINTER(c_char_p), c_size_t],
        ),
        "simulation_new": (c_void_p, [c_char_p, POINTER(_CMachine)]),
        "simulation_free": (None, [c_void_p]),
        "simulation_run": (
            c_int,
            [c_void_p, c_char_p, POINTER(c_char_p), c_size_t, c_uint64, POINTER(_CRun)],
        ),
        "simulation_run_many": (
            c_int,
            [
                *(c_void_p, c_char_p, POINTER(c_char_p), c_size_t),
                *(c_uint64, c_size_t, POINTER(_CRun)),
            ],
        ),
        "simulation_messages": (POINTER(_CTracedMessage), [c_void_p, count]),
        "simulation_events": (POINTER(_CTracedEvent), [c_void_p, count]),
        "simulation_deaths": (POINTER(_CTracedDeath), [c_void_p, count]),
        "order_of_hosts": (c_char_p, [c_char_p, c_size_t]),
        "stabilize": (c_int, [POINTER(_CScene), POINTER(_CStabilized)]),
        "contention_latency": (c_int64, [c_int64] * 4),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"resprout_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def _refuse() -> ValueError:
    return ValueError(_library().resprout_refusal().decode())


def _array(function: Any, *arguments: Any) -> list[Any]:
    """The structures of a function that gives their number by its last argument."""
    count = c_size_t()
    first = function(*arguments, ctypes.byref(count))
    return first[: count.value] if count.value else []


def protocols() -> list[Protocol]:
    """All protocols with their options."""
    return [
        {
            "name": protocol.name.decode(),
            "operation": protocol.operation.decode(),
            "summary": protocol.summary.decode(),
            "options": [
                {
                    "name": option.name.decode(),
                    "values": option.values.decode(),
                    "default": option.fallback.decode(),
                    "help": option.help.decode(),
                }
                for option in protocol.options[: protocol.option_count]
            ],
        }
        for protocol in _array(_library().resprout_protocols)
    ]


def check_spec(spec: str) -> None:
    """Raises ValueError with one line if the spec is wrong."""
    if _library().resprout_check_spec(spec.encode()) != 0:
        raise _refuse()


def order_of_hosts(text: bytes) -> str:
    """What the ranks are given of a file that orders hosts. Raises ValueError with one line, which
    begins with the number of the line if one is wrong."""
    lines = _library().resprout_order_of_hosts(text, len(text))
    if lines is None:
        raise _refuse()
    return str(lines.decode())


def check_simulation(
    spec: str,
    *,
    procs: int,
    latency: int = 2,
    overhead: int = 1,
    gap: int = 0,
    root: int = 0,
    faults: str = "none",
    fail_at: Sequence[str] = (),
    late: str = "none",
    initiators: str = ROOT,
    noise: str = "none",
) -> None:
    """Raises ValueError with one line if there can be no such run. Takes none of a run's memory."""
    machine = _machine(
        procs, latency, overhead, gap, root, late=late, initiators=initiators, noise=noise
    )
    refused = _library().resprout_check_simulation(
        spec.encode(), ctypes.byref(machine), faults.encode(), _texts(fail_at), len(fail_at)
    )
    if refused:
        raise _refuse()


def is_computed(
    spec: str,
    *,
    procs: int,
    latency: int = 2,
    overhead: int = 1,
    gap: int = 0,
    root: int = 0,
    fail_at: Sequence[str] = (),
    noise: str = "none",
) -> bool:
    """Whether runs without a digest are computed and not simulated: docs/explanation/exact.md."""
    machine = _machine(procs, latency, overhead, gap, root, digest=False, noise=noise)
    answer = _library().resprout_is_computed(
        spec.encode(), ctypes.byref(machine), _texts(fail_at), len(fail_at)
    )
    if answer < 0:
        raise _refuse()
    return bool(answer)


def _machine(
    procs: int,
    latency: int,
    overhead: int,
    gap: int,
    root: int,
    *,
    trace: bool = False,
    digest: bool = True,
    late: str = "none",
    initiators: str = ROOT,
    noise: str = "none",
) -> _CMachine:
    numbers = {"procs": procs, "latency": latency, "overhead": overhead, "gap": gap, "root": root}
    for name, value in numbers.items():
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{name}={value} is out of range")
    wanted = {"wants_trace": int(trace), "wants_digest": int(digest)}
    texts = {
        name: text.encode()
        for name, text in (("late", late), ("initiators", initiators), ("noise", noise))
    }
    return _CMachine(**numbers, **wanted, **texts)


def _texts(texts: Sequence[str]) -> Any:
    return (c_char_p * len(texts))(*(text.encode() for text in texts))


class Simulation:
    """A protocol on a LogP machine, to be run often.

    Without `digest` (and `trace`) runs cost less where they can be computed, and their digest is 0.
    """

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
        digest: bool = True,
        late: str = "none",
        initiators: str = ROOT,
        noise: str = "none",
    ) -> None:
        self._spec = spec
        options = {"late": late, "initiators": initiators, "noise": noise}
        self._machine = _machine(
            procs, latency, overhead, gap, root, trace=trace, digest=digest, **options
        )
        self._handle = _library().resprout_simulation_new(
            spec.encode(), ctypes.byref(self._machine)
        )
        if self._handle is None:
            raise _refuse()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            _library().resprout_simulation_free(self._handle)

    def run(self, *, faults: str = "none", fail_at: Sequence[str] = (), seed: int = 0) -> Run:
        return self._as_run(self._run(faults, fail_at, seed, 1)[0], faults, seed)

    def run_many(
        self, *, faults: str = "none", fail_at: Sequence[str] = (), first_seed: int, count: int
    ) -> bytes:
        """Runs with the seeds from `first_seed` on, without an object for each.

        They are rows of integers of 8 bytes, one for each of MEASURED, in the machine's byte order.
        """
        return bytes(self._run(faults, fail_at, first_seed, count))

    def _run(self, faults: str, fail_at: Sequence[str], first_seed: int, count: int) -> Any:
        if not 0 <= first_seed <= 2**64 - max(count, 1):
            raise ValueError(f"seed={first_seed} is not from 0 to 2^64 - 1")
        runs = (_CRun * count)()
        refused = _library().resprout_simulation_run_many(
            self._handle, faults.encode(), _texts(fail_at), len(fail_at), first_seed, count, runs
        )
        if refused:
            raise _refuse()
        return runs

    def _as_run(self, measured: _CRun, faults: str, seed: int) -> Run:
        run: Run = {
            "protocol": self._spec,
            "procs": self._machine.procs,
            "latency": self._machine.latency,
            "overhead": self._machine.overhead,
            "seed": seed,
            "faults": faults,
            "coloring_latency": _number(measured.coloring_latency),
            "quiescence_latency": measured.quiescence_latency,
            "correction_start": _number(measured.correction_start),
            "messages": measured.messages,
            "messages_per_process": measured.messages / self._machine.procs,
            "g_max": _number(measured.g_max),
            "uncolored": measured.uncolored,
            "trace_digest": f"{measured.trace_digest:016x}",
        }
        if measured.completion_latency != NONE:
            run["contributors"] = _number(measured.contributors)
            run["completion_latency"] = measured.completion_latency
        if max(measured.longest_queue, measured.output_spread) != NONE:
            run["output_spread"] = _number(measured.output_spread)
        if measured.longest_queue != NONE:
            run["longest_queue"] = measured.longest_queue
            run["keepalives"] = measured.keepalives
            run["false_suspicions"] = measured.false_suspicions
        if self._machine.wants_trace:
            run["trace"] = self._trace()
        return run

    def _trace(self) -> Trace:
        messages = _array(_library().resprout_simulation_messages, self._handle)
        events = _array(_library().resprout_simulation_events, self._handle)
        deaths = _array(_library().resprout_simulation_deaths, self._handle)
        return {
            "messages": [
                {
                    "from": getattr(message, "from"),
                    "to": message.to,
                    "kind": message.kind.decode(),
                    "sent": message.sent,
                    "arrived": message.arrived,
                    "received": _number(message.received),
                }
                for message in messages
            ],
            "events": [
                {"at": event.at, "rank": event.rank, "kind": event.kind.decode()}
                for event in events
            ],
            "deaths": [{"at": death.at, "rank": death.rank} for death in deaths],
        }


def _number(value: int) -> int | None:
    return None if value == NONE else value


class Stabilized(TypedDict):
    stabilized: int  # nanoseconds, as below: T_s, until the root has all acceptances
    installed: int  # until the last live process has the view
    messages: int


def stabilize(
    *,
    procs: int,
    radix: int,
    victim: int,
    network: str = "uniform",
    latency: int,
    processing: int,
    service: int = 0,
    talkers: int = 0,
    overhead: int = 0,
) -> Stabilized:
    """A membership whose root is told that `victim` is dead; sim/membership/stabilization.hpp."""
    if network not in NETWORKS:
        raise ValueError(f"network={network!r} is none of {', '.join(NETWORKS)}")
    scene = _CScene(
        *(procs, radix, victim, NETWORKS.index(network)),
        *(latency, processing, service, talkers, overhead),
    )
    found = _CStabilized()
    if _library().resprout_stabilize(ctypes.byref(scene), ctypes.byref(found)) != 0:
        raise _refuse()
    return {
        "stabilized": found.stabilized,
        "installed": found.installed,
        "messages": found.messages,
    }


def contention_latency(nodes: int, children: int, *, latency: int, service: int) -> int:
    """Nanoseconds that a message takes when groups of a parent and its children always talk."""
    found = int(_library().resprout_contention_latency(nodes, children, latency, service))
    if found < 0:
        raise _refuse()
    return found
