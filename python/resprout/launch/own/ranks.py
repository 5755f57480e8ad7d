"""A launcher of its own process: starts the ranks, and serves PMI-1 to them.

    ranks.py [--alone] [--tagged] [--hosts FILE PRTERUN] PART [: PART]...

    PART: -n RANKS PROGRAM [ARG]...

With --hosts they run on those that the file names (hosts.py), else on this one. With --tagged, on
this host, each line that they say has the rank in front (output.py).

It is to `resprout run` what mpirun is: signals are passed on, its end is the job's, its status that
of the first rank that has ended with another one than 0. A rank that dies is none of its business,
but for `--alone`: ranks that run without libresprout.so cannot go on then, and the job ends; unless
it is started again (RESPROUT_ON_LOSS=restart), where `resprout run` sees the loss and ends it; on
several hosts it cannot see all ranks, and the launcher ends them.

1. Each end is a line of the file `ended` (report/ends.py).
2. With `--alone` it leaves what else a rank would (early_end.py, report/ranks.py), before that.
3. No segment of shared memory is left behind that a rank was seen to have.
"""

import contextlib
import json
import os
import selectors
import signal
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resprout import log
from resprout.launch.own.hosts import Agents
from resprout.launch.own.output import Stream
from resprout.launch.own.pmi import Reply, Server
from resprout.launch.own.processes import NearRank, Place, Rank, Segments

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PASSED_ON = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2)
# So long may a rank go on that was asked to end.
_LEAVE_SECONDS = 5.0
_SCHEMA = 1


class Launcher:
    """Of one job, until its last rank has ended."""

    def __init__(
        self,
        parts: Sequence[tuple[int, Sequence[str]]],
        is_alone: bool,
        is_tagged: bool,
        hosts: tuple[Path, str] | None,
    ) -> None:
        """`hosts`: the file that names them, and prterun; none: all ranks are on this one."""
        size = sum(count for count, _ in parts)
        directory = os.environ.get("RESPROUT_RUN_DIR")
        self._directory = None if directory is None else Path(directory)
        self._is_alone = is_alone
        self._is_tagged = is_tagged
        self._streams: list[Stream] = []
        self._is_started_again = os.environ.get("RESPROUT_ON_LOSS") == "restart"
        job = f"resprout_{uuid.uuid4().hex[:16]}"
        self._status = 0
        self._segments = Segments()
        self._kill_at: float | None = None
        self._selector = selectors.DefaultSelector()
        self._listen_to_signals()
        words = [words for count, words in parts for _ in range(count)]
        self._agents = None if hosts is None else Agents(*hosts, words, job)
        self._server = Server(size, job, self._agents.ranks_by_host if self._agents else ())
        self._ranks: list[Rank] = [*self._agents.ranks] if self._agents else []
        if self._agents is not None:
            for connection, index in self._agents.sockets():
                self._selector.register(connection, selectors.EVENT_READ, index)
        else:
            self._start_here(job, words)
        self._running = dict(enumerate(self._ranks))

    def _start_here(self, job: str, words: Sequence[Sequence[str]]) -> None:
        size = len(words)
        for number, each in enumerate(words):
            streams = [Stream(job, number, to) for to in (1, 2)] if self._is_tagged else []
            into = [stream.writing for stream in streams]
            rank = NearRank(job, Place(number, size, number, size), each, os.environ, into)
            self._ranks.append(rank)
            self._selector.register(rank.connection, selectors.EVENT_READ, rank)
            for stream in streams:
                os.close(stream.writing)
                self._selector.register(stream.reading, selectors.EVENT_READ, stream)
            self._streams += streams

    def run(self) -> int:
        """The job's status."""
        while self._running:
            looks = self._segments.is_looking and self._agents is None
            for key, _ in self._selector.select(Segments.LOOK_SECONDS if looks else 1.0):
                if isinstance(key.data, NearRank):
                    self._read(key.data)
                elif isinstance(key.data, Stream):
                    if not key.data.pass_on():
                        self._selector.unregister(key.fd)
                elif isinstance(key.data, int):
                    self._read_agent(key.data)
                else:
                    self._take_signals()
            if looks:
                self._segments.look([*self._running.values()])
            self._note_ends()
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                self._pass_on(signal.SIGKILL)
        self._segments.remove()
        for stream in self._streams:
            stream.pass_on()
        if self._agents is not None:
            self._agents.end()
        return self._status

    def _listen_to_signals(self) -> None:
        self._signals, writes = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writes, False)
        signal.set_wakeup_fd(writes)
        for what in (*_PASSED_ON, signal.SIGCHLD):
            signal.signal(what, lambda _number, _frame: None)
        self._selector.register(self._signals, selectors.EVENT_READ)

    def _take_signals(self) -> None:
        for number in os.read(self._signals, 64):
            if number in _PASSED_ON:
                self._pass_on(signal.Signals(number))
            if number in _ENDING:
                self._status = self._status or 128 + number
                self._kill_at = self._kill_at or time.monotonic() + _LEAVE_SECONDS

    def _pass_on(self, what: signal.Signals) -> None:
        for rank in self._running.values():
            rank.send(what)

    def _read(self, rank: NearRank) -> None:
        lines = rank.hear()
        if lines is None:
            self._selector.unregister(rank.connection)
            self._say(self._server.handle_gone(rank.number))
            return
        for line in lines:
            self._handle(rank, line)

    def _read_agent(self, index: int) -> None:
        assert self._agents is not None
        for word in self._agents.hear(index):
            self._take_word(word)
        if self._is_started_again and self._kill_at is None:
            for host in self._agents.lost:
                self._leave(f"lost-host-{host}", "")
        open_ones = {number for _, number in self._agents.sockets()}
        for key in [*self._selector.get_map().values()]:
            if isinstance(key.data, int) and key.data not in open_ones:
                self._selector.unregister(key.fileobj)

    def _take_word(self, word: dict[str, Any]) -> None:
        assert self._agents is not None
        rank = self._agents.ranks[word["rank"]]
        if word["what"] == "started":
            rank.pid = word["pid"]
        elif word["what"] == "said":
            self._handle(rank, word["line"])
        else:
            self._say(self._server.handle_gone(rank.number))
            if word["what"] == "ended":
                rank.status = word["status"]

    def _handle(self, rank: Rank, line: str) -> None:
        replies = self._server.handle(rank.number, line)
        if self._is_alone and rank.number in self._server.entered:
            self._leave(f"entered-{rank.number}", "")
            # MPI_Init of MPICH needs no more of us than that all come.
            if len(self._server.entered) == len(self._ranks) and self._directory is not None:
                (self._directory / "starting").unlink(missing_ok=True)
        self._say(replies)
        if self._server.aborted_with is not None and self._kill_at is None:
            self._status = self._server.aborted_with & 0xFF or 1
            if self._is_alone:
                self._leave("abort.json", json.dumps({"status": self._status}))
            self._end_all()

    def _say(self, replies: Sequence[Reply]) -> None:
        for reply in replies:
            self._ranks[reply.rank].tell(reply.line)

    def _end_all(self) -> None:
        self._segments.look([*self._running.values()])
        self._kill_at = 0.0
        self._pass_on(signal.SIGKILL)

    def _note_ends(self) -> None:
        for rank in [*self._running.values()]:
            if (status := rank.status) is None:
                continue
            del self._running[rank.number]
            self._note_end(rank, status)
            if self._status == 0 and self._kill_at is None:
                self._status = status if status >= 0 else 128 - status
            if self._agents is not None and self._is_started_again and status < 0:
                self._end_all()
            if not self._is_alone or self._is_started_again or self._kill_at is not None:
                continue
            if self._has_left_others(rank):
                self._tell_of_loss(rank)
                self._status = self._status or 1
                self._end_all()

    def _note_end(self, rank: Rank, status: int) -> None:
        number, pid = rank.number, rank.pid
        if self._is_alone and status >= 0:
            self._leave(f"exit-{number}", f"{status}\n")
        if self._is_alone and status >= 0 and number in self._server.entered:
            self._leave(f"rank-{number}.json", json.dumps(self._testimony(rank)))
        how = f"exit {status}" if status >= 0 else f"signal {-status}"
        # Of several hosts two processes may have one id.
        line = f"{pid} {how}\n" if self._agents is None else f"rank {number} {how}\n{pid} {how}\n"
        if self._directory is not None:
            with contextlib.suppress(OSError), (self._directory / "ended").open("a") as file:
                file.write(line)

    def _testimony(self, rank: Rank) -> dict[str, object]:
        """What is known of a rank that has ended by itself."""
        return {
            "schema": _SCHEMA,
            "rank": rank.number,
            "pid": rank.pid,
            "host": rank.host,
            "started_ns": rank.started_ns,
            "ended_ns": time.time_ns(),
            "finalized": rank.number in self._server.finalized,
            "exit_status": rank.status,
            "operations": {},
            "losses": [],
            "recoveries": [],
        }

    def _has_left_others(self, rank: Rank) -> bool:
        is_whole = rank.number in self._server.finalized and (rank.status or 0) >= 0
        return rank.number in self._server.entered and not is_whole and bool(self._running)

    def _tell_of_loss(self, rank: Rank) -> None:
        status = rank.status or 0
        how = f"ended with status {status} before MPI_Finalize"
        if status < 0:
            how = f"was killed by {signal.Signals(-status).name}"
        log.error(
            f"rank {rank.number} (pid {rank.pid}) {how}: the job ends with it, "
            "as Resprout has no library in its ranks (`make mpis` builds it); --on-loss restart "
            "starts it again"
        )

    def _leave(self, name: str, text: str) -> None:
        """A file of the run directory, whole from the beginning."""
        if self._directory is None:
            return
        with contextlib.suppress(OSError):
            path = self._directory / f".{name}"
            path.write_text(text)
            path.rename(self._directory / name)


def _parts(words: Sequence[str]) -> list[tuple[int, Sequence[str]]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return [(int(part[1]), part[2:]) for part in parts]


def main() -> int:
    words = sys.argv[1:]
    if is_alone := words[0] == "--alone":
        words = words[1:]
    if is_tagged := words[0] == "--tagged":
        words = words[1:]
    hosts = None
    if words[0] == "--hosts":
        hosts, words = (Path(words[1]), words[2]), words[3:]
    try:
        launcher = Launcher(_parts(words), is_alone, is_tagged, hosts)
    except OSError as error:
        print(f"resprout: {error}", file=sys.stderr)
        return 1
    return launcher.run()


if __name__ == "__main__":
    sys.exit(main())
