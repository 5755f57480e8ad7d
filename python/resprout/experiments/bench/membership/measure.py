"""How long a death is in some view: real members over TCP on the loopback, killed by SIGKILL.

Scalable Membership, section 7, on this machine. There the time of stabilization T_s begins when the
root is told and ends when it has all acknowledgments; faults are found by a timeout that is not
part of it. Here a death is found by the connections that it breaks, so all of it is measured: until
the first suspects, from there until the root has decided, and until the last has the view.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from resprout.errors import UserError
from resprout.member.group import Event, Group, Process

MEMBER, ROOT = "member", "root"
VICTIMS = (MEMBER, ROOT)
_UNDISTURBED = 0.02
"""Seconds in which nobody reads what the members say: that would take their cores."""


@dataclass(frozen=True)
class Plan:
    procs: tuple[int, ...]
    radixes: tuple[int, ...]
    groups: int
    """How often a membership of each kind is founded."""
    repetitions: int
    """Deaths of each victim in each of them."""

    @property
    def deaths(self) -> int:
        kinds = len(self.procs) * len(self.radixes) * len(VICTIMS)
        return kinds * self.groups * self.repetitions

    @property
    def work(self) -> int:
        """What `work_of` says of all deaths."""
        return sum(map(work_of, self.procs)) * (self.deaths // len(self.procs))


def work_of(procs: int) -> int:
    """About as many milliseconds as a death and a return among so many take."""
    return 30 + procs


@dataclass(frozen=True)
class Sample:
    """One death. Microseconds."""

    procs: int
    radix: int
    victim: str
    total_us: float
    """From the signal until the last survivor has the view without it."""
    detection_us: float
    """Until the first survivor suspects it."""
    stabilization_us: float
    """From there until the coordinator has all acceptances: the paper's T_s."""
    installation_us: float
    """From there until the last survivor has the view."""


def measure(plan: Plan) -> Iterator[Sample]:
    """Groups of all kinds in turns, so that what disturbs the machine disturbs all of them."""
    chance = random.Random(1)
    for _ in range(plan.groups):
        for procs in plan.procs:
            for radix in plan.radixes:
                group = Group(radix=radix, heartbeat_period_ms=1000)
                try:
                    group.found(procs)
                    for _ in range(plan.repetitions):
                        for victim in VICTIMS:
                            member = 0 if victim == ROOT else chance.randrange(1, procs)
                            yield Sample(procs, radix, victim, *_kill(group, member))
                finally:
                    group.end()


def _kill(group: Group, member: int) -> tuple[float, float, float, float]:
    """Kills it and waits until it is back under its identifier."""
    procs = len(group.processes)
    address = group.of(member).address
    heard = {process.pid: len(process.events) for process in group.processes}
    signaled = time.time()
    group.kill(member)
    time.sleep(_UNDISTURBED)
    group.agree(set(range(procs)) - {member})
    times = _times(group.processes, heard, member, signaled)
    group.start(join=group.processes[0].address, listen=address)
    group.agree(range(procs))
    return times


def _times(
    survivors: Sequence[Process], heard: dict[int, int], member: int, signaled: float
) -> tuple[float, float, float, float]:
    new = {process.pid: process.events[heard[process.pid] :] for process in survivors}
    suspected = [e["time"] for events in new.values() for e in events if e["event"] == "suspected"]
    decided = [
        e["time"]
        for events in new.values()
        for e in events
        if e["event"] == "decided" and member not in e["members"]
    ]
    known, done = min(suspected), min(decided)
    last = max(_first_without(events, member) for events in new.values())
    spans = (last - signaled, known - signaled, done - known, last - done)
    total, detection, stabilization, installation = (1e6 * span for span in spans)
    return total, detection, stabilization, installation


def _first_without(events: Sequence[Event], member: int) -> float:
    return next(
        float(e["time"]) for e in events if e["event"] == "view" and member not in e["members"]
    )


class Apart:
    """`measure` in a process of its own: it forks, which this one, that shows a bar, must not.

    A context: at its end that process and its members are gone.
    """

    def __init__(self, samples: Callable[[], Iterator[Sample]]) -> None:
        reader, writer = os.pipe()
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reader)
            _report(samples, writer)
        os.close(writer)
        self._lines = os.fdopen(reader)

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        self._lines.close()

    def samples(self) -> Iterator[Sample]:
        """UserError: it could not go on."""
        for line in self._lines:
            said = json.loads(line)
            if "error" in said:
                raise UserError(said["error"])
            yield Sample(**said)


def _report(samples: Callable[[], Iterator[Sample]], writer: int) -> None:
    def end(_number: int, _frame: object) -> None:
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        for sample in samples():
            os.write(writer, json.dumps(asdict(sample)).encode() + b"\n")
    except SystemExit:
        pass
    except (OSError, UserError) as error:
        os.write(writer, json.dumps({"error": str(error)}).encode() + b"\n")
    except BaseException:
        traceback.print_exc()
        os.write(writer, b'{"error": "the measurement has failed"}\n')
    finally:
        os._exit(0)
