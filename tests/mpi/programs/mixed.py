"""The twin of mixed.c with mpi4py: same arguments, same checks, same lines (see there).

python mixed.py FOLDER SEED MILLISECONDS LARGE_PERCENT [world]
"""

import hashlib
import os
import random
import sys
import time
import traceback
from array import array
from pathlib import Path

from mpi4py import MPI
from resprout.mpi import contributors

WORLD = MPI.COMM_WORLD
MEBIBYTE = 1 << 20
OPERATIONS_MIN = 200
REST_SECONDS = 0.01
SLICED_MIN = 256 << 10  # from here on a broadcast goes in parts
SEQUENCE = 32  # bytes: how many ranks, then the ranks


def append(left: memoryview, right: memoryview, _: MPI.Datatype) -> None:
    """String two sequences of ranks together: an operator that does not commute."""
    for at in range(0, len(right), SEQUENCE):
        one, two = bytes(left[at : at + SEQUENCE]), bytes(right[at : at + SEQUENCE])
        ranks = one[1 : 1 + one[0]] + two[1 : 1 + two[0]]
        right[at : at + SEQUENCE] = bytes([len(ranks), *ranks]).ljust(SEQUENCE, b"\0")


class Mix:
    def __init__(self, folder: str, seed: int, large_percent: int, only_world: bool) -> None:
        self.rank, self.size = WORLD.Get_rank(), WORLD.Get_size()
        self.seed, self.large_percent = seed, large_percent
        self.log = os.open(f"{folder}/rank-{self.rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        half = "upper" if self.rank >= self.size // 2 else "lower"
        self.comms = {"world": WORLD}
        if not only_world:
            self.comms["dup"] = WORLD.Dup()
            self.comms[half] = WORLD.Split(half == "upper", self.size - self.rank)
        self.sequences = MPI.BYTE.Create_contiguous(SEQUENCE).Commit()
        self.string_together = MPI.Op.Create(append, commute=False)
        self.enough = Path(folder) / "enough"
        self.number = 0

    def note(self, *words: object) -> None:
        os.write(self.log, (" ".join(map(str, words)) + "\n").encode())

    def enter(self) -> None:
        self.note("E", self.number, time.monotonic_ns())

    def leave(self, code: int = 0, mask: int = 0, result: bytes = b"") -> None:
        digest = hashlib.blake2b(result, digest_size=8).hexdigest()
        where = (self.kind, self.comm_name, self.root, code, mask, digest)
        self.note("R", self.number, time.monotonic_ns(), *where)

    def is_over(self, until_ns: int) -> bool:
        if not until_ns:
            time.sleep(REST_SECONDS)
        is_enough = time.monotonic_ns() >= until_ns if until_ns else self.enough.exists()
        mine, everybody = array("i", [is_enough]), array("i", [0])
        WORLD.Allreduce(mine, everybody, op=MPI.MIN)
        return bool(everybody[0])

    def contributors(self) -> int:
        """World ranks, one bit each, as Resprout says."""
        group = contributors(self.comm)
        ranks = MPI.Group.Translate_ranks(group, None, WORLD.Get_group())
        return sum(1 << rank for rank in ranks)

    def do_one(self) -> None:
        plan = random.Random(f"{self.seed} {self.number}")
        self.comm_name = plan.choice(["world", *self.comms])  # the world most often
        self.comm = self.comms[self.comm_name]
        self.kind = plan.choice(["sum_long", "sum_double", "strung", "in_place", "bcast", "reduce",
                                 "reduce_strung", "barrier"])  # fmt: skip
        self.root = plan.randrange(self.size) % self.comm.Get_size()
        self.count = plan.choice([0, 1, 1, 2, 8, 60, 600])
        if plan.randrange(100) < self.large_percent and "strung" not in self.kind:
            self.count = MEBIBYTE // 8
        if self.kind == "barrier":
            self.enter()
            self.comm.Barrier()
            self.leave(mask=self.contributors())
        elif self.kind == "bcast":
            self.broadcast(plan.randbytes(8 * self.count))
        elif "strung" in self.kind:
            self.string()
        else:
            self.sum()
        self.number += 1

    def broadcast(self, payload: bytes) -> None:
        is_root = self.comm.Get_rank() == self.root
        data = bytearray(payload if is_root else b"\xa5" * len(payload))
        self.enter()
        try:
            self.comm.Bcast([data, MPI.BYTE], root=self.root)
        except MPI.Exception as error:
            assert error.Get_error_class() == MPI.ERR_PROC_FAILED and not is_root
            # The library's own broadcast, or a large one, may have brought a part, nothing else.
            is_ours = os.environ.get("RESPROUT_COLLECTIVES") in ("resprout", "trees")
            if is_ours and len(data) < SLICED_MIN:
                assert data == b"\xa5" * len(payload), "the buffer of a failed broadcast is touched"
            assert all(b in (0xA5, p) for b, p in zip(data, payload, strict=True)), "it is spoilt"
            assert self.contributors() == 0
            self.leave(code=1)
            return
        assert data == payload, "a wrong payload"
        self.leave(mask=self.contributors(), result=payload)

    def sum(self) -> None:
        factors = [(self.number % 89 + 1) * 8 + i for i in range(7)]
        code = "d" if self.kind == "sum_double" else "q"

        def times_factors(mask: int) -> array:
            period = array(code, [mask * factor for factor in factors])
            return (period * (self.count // 7 + 1))[: self.count]

        mine = times_factors(1 << self.rank)
        result = array(code, b"\xa5" * mine.itemsize * self.count)
        if self.kind == "reduce":
            self.enter()
            self.comm.Reduce(mine, result, op=MPI.SUM, root=self.root)
            if self.comm.Get_rank() != self.root:
                self.leave()
                return
        elif self.kind == "in_place":
            result = mine
            self.enter()
            self.comm.Allreduce(MPI.IN_PLACE, result, op=MPI.SUM)
        else:
            self.enter()
            self.comm.Allreduce(mine, result, op=MPI.SUM)
        mask = int(result[0]) // factors[0] if self.count else 0
        assert not self.count or mask >> self.rank & 1, "our own part is missing"
        assert result == times_factors(mask), "not the same ranks everywhere"
        assert not self.count or self.contributors() == mask
        self.leave(mask=mask, result=result.tobytes())

    def string(self) -> None:
        mine = bytes([1, self.rank]).ljust(SEQUENCE, b"\0") * self.count
        result = bytearray(len(mine))
        send, receive = ([mine, self.count, self.sequences], [result, self.count, self.sequences])
        self.enter()
        if self.kind == "reduce_strung":
            self.comm.Reduce(send, receive, op=self.string_together, root=self.root)
            if self.comm.Get_rank() != self.root:
                self.leave()
                return
        else:
            self.comm.Allreduce(send, receive, op=self.string_together)
        assert result == result[:SEQUENCE] * self.count, "not the same ranks everywhere"
        ranks = list(result[1 : 1 + result[0]]) if self.count else []
        assert not self.count or self.rank in ranks, "our own part is missing"
        # The order of the communicator's ranks runs backwards in the halves.
        backwards = self.comm_name in ("upper", "lower")
        assert ranks == sorted(set(ranks), reverse=backwards), f"{ranks} is not the ranks' order"
        mask = sum(1 << rank for rank in ranks)
        assert not self.count or self.contributors() == mask
        self.leave(mask=mask, result=bytes(result))


def run_to_the_end(what: type[Mix]) -> None:
    """Of all ranks; the arguments are the program's."""
    folder, seed, milliseconds, large_percent, *only_world = sys.argv[1:]
    until_ns = time.monotonic_ns() + int(milliseconds) * 1_000_000 if int(milliseconds) else 0
    mix = what(folder, int(seed), int(large_percent), bool(only_world))
    try:
        while not mix.is_over(until_ns) or mix.number < OPERATIONS_MIN:
            for _ in range(20):
                mix.do_one()
    except Exception:
        # Not by way of MPI_Finalize, which would wait for those who wait for us.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    mix.note("D")


if __name__ == "__main__":
    run_to_the_end(Mix)
