"""Members as forked processes of this machine, so that a hundred of them are cheap.

For benches and tests. Each child serves one member and writes its events into a pipe. Waits are
bounded, and nothing depends on how long they take. REQUIRES: the process that forks has no threads.
"""

import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from resprout.errors import UserError
from resprout.member import Member

PATIENCE = 120.0
"""Seconds after which a wait gives up; nothing of what is waited for takes nearly as long."""

OF_FOUNDERS = "127.0.0.2:0"
"""Connections begin at 127.0.0.1: nobody takes the port of who died here and is started again."""

Event = dict[str, Any]


class Process:
    """One member and what it has said."""

    def __init__(self, listen: str, join: str | None, options: dict[str, Any]) -> None:
        self.events: list[Event] = []
        self._rest = b""
        self.pipe, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _serve(writer, listen, join, options)
        os.close(writer)

    @property
    def address(self) -> str:
        return str(self.events[0]["address"])

    @property
    def view(self) -> tuple[int, tuple[int, ...]]:
        """Epoch and members of its last view; epoch 0: none. Local views have no list of them."""
        for event in reversed(self.events):
            if event["event"] == "view":
                return event["epoch"], tuple(event.get("members", ()))
        return 0, ()

    @property
    def id(self) -> int:
        return int(next(e for e in reversed(self.events) if e["event"] == "view")["self"])

    def said(self, kind: str) -> list[Event]:
        return [e for e in self.events if e["event"] == kind]

    def read(self) -> None:
        """What it has said by now. Waits for something."""
        data = os.read(self.pipe, 1 << 20)
        if not data:
            raise UserError(f"member {self.pid} has ended by itself")
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.events += [json.loads(line) for line in lines]

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)


def _serve(writer: int, listen: str, join: str | None, options: dict[str, Any]) -> None:
    """The life of a child: it ends by a signal, or when nobody reads its pipe any more."""
    asked: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGUSR1, lambda number, _: asked.append(number))
    try:
        parent = os.getppid()
        member = Member(listen, join, **options)
        while os.getppid() == parent:
            line = member.poll(200)
            lines = [line] if line is not None else []
            lines += [member.statistics() for _ in range(len(asked))]
            asked.clear()
            for text in lines:
                os.write(writer, text.encode() + b"\n")
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


class Group:
    """A membership. Its processes are those that it has started and not killed."""

    def __init__(self, **options: int | str) -> None:
        # Silence is no sign of death on a busy machine; who wants to see hung members says less.
        self.options = {"heartbeat_period_ms": 200, "heartbeat_timeout_ms": 60_000, **options}
        self.processes: list[Process] = []

    def found(self, size: int) -> None:
        """So many members in one view, 0 to size-1."""
        self.start(listen=OF_FOUNDERS)
        self.wait(lambda: bool(self.processes[0].events))
        for _ in range(size - 1):
            self.start(join=self.processes[0].address, listen=OF_FOUNDERS)
        self.agree(range(size))

    def start(self, join: str | None = None, listen: str = "127.0.0.1:0") -> Process:
        self.processes.append(Process(listen, join, self.options))
        return self.processes[-1]

    def of(self, member: int) -> Process:
        return next(p for p in self.processes if p.view[0] and p.id == member)

    def kill(self, *members: int) -> None:
        for process in [self.of(member) for member in members]:
            process.kill()
            self.processes.remove(process)

    def wait(self, is_true: Callable[[], bool]) -> None:
        """Reads what they say until that is so. TimeoutError: it does not come."""
        deadline = time.monotonic() + PATIENCE
        while not is_true():
            poller = select.poll()
            pipes = {process.pipe: process for process in self.processes}
            for pipe in pipes:
                poller.register(pipe, select.POLLIN)
            for pipe, _ in poller.poll(200):
                pipes[pipe].read()
            if time.monotonic() >= deadline:
                raise TimeoutError(f"views: { ({p.view for p in self.processes}) }")

    def wait_for(self, seconds: float) -> None:
        """Reads what they say meanwhile."""
        end = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() >= end)

    def agree(self, members: Iterable[int]) -> int:
        """Waits until all who live are in one view of these members; its epoch."""
        wanted = tuple(sorted(members))
        self.wait(lambda: {p.view[1] for p in self.processes} == {wanted})
        self.wait(lambda: len({p.view for p in self.processes}) == 1)
        return self.processes[0].view[0]

    def settle(self) -> set[int]:
        """Waits until all who live are in one view, and it consists of them; their identifiers."""

        def is_settled() -> bool:
            if not all(p.view[0] for p in self.processes):
                return False
            living = tuple(sorted(p.id for p in self.processes))
            views = {p.view for p in self.processes}
            return len(views) < 2 and all(members == living for _, members in views)

        self.wait(is_settled)
        return {p.id for p in self.processes}

    def statistics(self) -> list[Event]:
        """What each member has cost until now."""
        said = {p.pid: len(p.said("statistics")) for p in self.processes}
        for process in self.processes:
            os.kill(process.pid, signal.SIGUSR1)
        self.wait(lambda: all(len(p.said("statistics")) > said[p.pid] for p in self.processes))
        return [p.said("statistics")[-1] for p in self.processes]

    def statistics_of(self, process: Process) -> Event:
        return self.statistics()[self.processes.index(process)]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
        self.processes.clear()
