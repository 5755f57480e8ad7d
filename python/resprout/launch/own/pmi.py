"""The server's side of PMI-1, by which ranks of MPICH and Intel MPI find each other.

Each line that a rank sends is a command of words NAME=VALUE, and is answered by one such line. A
barrier is for those who live: whoever ends without a word is not waited for any more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# MPICH has buffers for these.
_MAXES = "kvsname_max=256 keylen_max=64 vallen_max=1024"
_SERVICES = {
    "publish_name": "publish_result",
    "unpublish_name": "unpublish_result",
    "lookup_name": "lookup_result",
}


@dataclass(frozen=True)
class Reply:
    """A line for a rank, without its end."""

    rank: int
    line: str


@dataclass
class Server:
    """Of one job. REQUIRES: `job` is a name that no other job of these hosts has; MPICH names its
    shared memory by it."""

    size: int
    job: str
    ranks_by_host: Sequence[int] = ()
    """How many each host has, in the order of ranks. None: all are on one."""
    entered: set[int] = field(default_factory=set)
    """Ranks that have begun MPI_Init."""
    finalized: set[int] = field(default_factory=set)
    """Ranks that are through MPI_Finalize, nearly."""
    aborted_with: int | None = None
    """What a rank has given to MPI_Abort."""
    _gone: set[int] = field(default_factory=set)
    _waiting: set[int] = field(default_factory=set)
    _values: dict[str, str] = field(default_factory=dict)
    _spawning: set[int] = field(default_factory=set)

    def handle(self, rank: int, line: str) -> list[Reply]:
        """What to say, and to whom, when a rank has said this line."""
        if rank in self._spawning:
            if line != "endcmd":
                return []
            self._spawning.discard(rank)
            return [Reply(rank, "cmd=spawn_result rc=-1 msg=not_supported")]
        if line.startswith("mcmd="):
            self._spawning.add(rank)
            return []
        words = dict(_words(line))
        return [*self._answer(rank, words.get("cmd", ""), words)]

    def handle_gone(self, rank: int) -> list[Reply]:
        """What to say when a rank has ended, or has closed its connection."""
        self._gone.add(rank)
        self._waiting.discard(rank)
        return self._open_barrier()

    def _answer(self, rank: int, command: str, words: dict[str, str]) -> Iterator[Reply]:
        if command == "barrier_in":
            self._waiting.add(rank)
            yield from self._open_barrier()
        elif command == "finalize":
            self.finalized.add(rank)
            yield Reply(rank, "cmd=finalize_ack rc=0")
            yield from self.handle_gone(rank)
        elif command == "abort":
            if self.aborted_with is None:
                self.aborted_with = int(words.get("exitcode", "1"))
        else:
            yield Reply(rank, self._say(rank, command, words))

    def _say(self, rank: int, command: str, words: dict[str, str]) -> str:
        said = {
            "get_maxes": f"cmd=maxes {_MAXES} rc=0",
            "get_appnum": "cmd=appnum appnum=0 rc=0",
            "get_my_kvsname": f"cmd=my_kvsname kvsname={self.job} rc=0",
            "get_universe_size": f"cmd=universe_size size={self.size} rc=0",
        }
        if command in said:
            return said[command]
        if command == "init":
            self.entered.add(rank)
            return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        if command == "put":
            self._values[words.get("key", "")] = words.get("value", "")
            return "cmd=put_result rc=0 msg=success"
        if command == "get":
            return self._get(words.get("key", ""))
        if command in _SERVICES:
            return f"cmd={_SERVICES[command]} rc=-1 msg=not_supported info=not_supported"
        return f"cmd={command}_result rc=-1 msg=unknown_command"

    def _get(self, key: str) -> str:
        value = self._values.get(key)
        if key == "PMI_process_mapping":  # blocks of a first host, a number of hosts, ranks of each
            hosts = enumerate(self.ranks_by_host or [self.size])
            value = f"(vector,{','.join(f'({host},1,{count})' for host, count in hosts)})"
        if value is None:
            return f"cmd=get_result rc=-1 msg=key_{key}_not_found value=unknown"
        return f"cmd=get_result rc=0 msg=success value={value}"

    def _open_barrier(self) -> list[Reply]:
        awaited = set(range(self.size)) - self._gone - self._waiting
        if awaited or not self._waiting:
            return []
        waiting, self._waiting = sorted(self._waiting), set()
        return [Reply(rank, "cmd=barrier_out rc=0") for rank in waiting]


def _words(line: str) -> Iterator[tuple[str, str]]:
    """A value is the rest of its line: it may have blanks."""
    head, is_there, value = line.partition(" value=")
    for word in head.split():
        name, _, text = word.partition("=")
        yield name, text
    if is_there:
        yield "value", value
