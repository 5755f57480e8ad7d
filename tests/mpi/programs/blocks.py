"""The twin of blocks.c with mpi4py, with some of its functions (see there).

python blocks.py FOLDER SEED MILLISECONDS LARGE_PERCENT [world]
"""

import random
from array import array

from mixed import Mix, run_to_the_end
from mpi4py import MPI

ABSENT = -0x5A5A5A5A5A5A5A5B  # every byte 0xa5


class Blocks(Mix):
    kinds = ("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
             "alltoallv", "scan", "exscan", "reduce_scatter")  # fmt: skip

    def do_one(self) -> None:
        plan = random.Random(f"{self.seed} {self.number}")
        self.comm_name = plan.choice(["world", *self.comms])  # the world most often
        self.comm = self.comms[self.comm_name]
        self.members, self.self = self.comm.Get_size(), self.comm.Get_rank()
        # Each once in so many operations, in an order that changes.
        turn, place = divmod(self.number, len(self.kinds))
        order = random.Random(f"order {self.seed} {turn}")
        self.kind = order.sample(self.kinds, len(self.kinds))[place]
        self.root = plan.randrange(self.members)
        self.count = plan.choice([1, 1, 2, 8, 60, 600])
        if plan.randrange(100) < self.large_percent:
            self.count = (1 << 17) // self.members
        if self.kind in ("scan", "exscan"):
            self.scan()
        elif self.kind == "reduce_scatter":
            self.reduce_scatter()
        elif self.kind in ("scatter", "scatterv"):
            self.scatter()
        else:
            self.exchange()
        self.number += 1

    def length(self, of: int) -> int:
        """How many numbers rank `of` gives."""
        return self.count - of * self.count // (2 * self.members) if self.is_varied else self.count

    @property
    def is_varied(self) -> bool:
        return self.kind.endswith("v")

    def block(self, of: int, to: int, length: int) -> array:
        """What rank `of` of the communicator gives to `to`."""
        first = self.number * 1_000_003 + of * 1009 + to * 101
        return array("q", range(first, first + length))

    def world_rank(self, of: int) -> int:
        ends = {"lower": self.size // 2 - 1, "upper": self.size - 1}
        return ends[self.comm_name] - of if self.comm_name in ends else of

    def exchange(self) -> None:
        """Gathers, and exchanges of all with all; everybody gives equally much to each."""
        lengths = [self.length(r) for r in range(self.members)]
        starts = [sum(lengths[:r]) for r in range(self.members)]
        own = lengths[self.self]
        is_exchange = self.kind.startswith("alltoall")
        to = self.self if is_exchange else 0
        result = array("q", [ABSENT]) * sum(lengths)
        mine = self.block(self.self, 0, own)
        if is_exchange:
            mine = sum((self.block(self.self, r, own) for r in range(self.members)), array("q"))
        places = [result, (lengths, starts), MPI.INT64_T] if self.is_varied else result
        self.enter()
        if self.kind == "gather":
            self.comm.Gather(mine, places, root=self.root)
        elif self.kind == "gatherv":
            self.comm.Gatherv(mine, places, root=self.root)
        elif self.kind == "allgather":
            self.comm.Allgather(mine, places)
        elif self.kind == "allgatherv":
            self.comm.Allgatherv(mine, places)
        elif self.kind == "alltoall":
            self.comm.Alltoall(mine, places)
        else:
            out = ([own] * self.members, [own * r for r in range(self.members)])
            self.comm.Alltoallv([mine, out, MPI.INT64_T], places)
        if self.kind.startswith("gather") and self.self != self.root:
            self.leave()
            return
        mask = 0
        for r, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            got = result[start : start + length]
            if got == self.block(r, to, length):
                mask |= 1 << self.world_rank(r)
            else:
                assert got == array("q", [ABSENT]) * length, f"a wrong block of rank {r}"
        assert mask >> self.rank & 1, "our own block is missing"
        self.leave(mask=mask, result=b"" if is_exchange else result.tobytes())

    def scatter(self) -> None:
        lengths = [self.length(r) for r in range(self.members)]
        starts = [sum(lengths[:r]) for r in range(self.members)]
        own = lengths[self.self]
        blocks = (self.block(self.root, r, lengths[r]) for r in range(self.members))
        everything = sum(blocks, array("q"))
        result = array("q", [ABSENT]) * own
        places = [everything, (lengths, starts), MPI.INT64_T] if self.is_varied else everything
        self.enter()
        try:
            (self.comm.Scatterv if self.is_varied else self.comm.Scatter)(
                places, result, root=self.root
            )
        except MPI.Exception as error:
            assert error.Get_error_class() == MPI.ERR_PROC_FAILED and self.self != self.root
            assert result == array("q", [ABSENT]) * own, "the buffer of a failed scatter is touched"
            self.leave(code=1)
            return
        assert result == self.block(self.root, self.self, own), "a wrong block"
        self.leave()

    def contribution(self, count: int) -> array:
        return array("q", [(1 << self.rank) * (i % 7 + 1) for i in range(count)])

    def mask_of(self, result: array, first: int = 0) -> int:
        mask = result[0] // (first % 7 + 1)
        factors = range(first, first + len(result))
        expected = array("q", [mask * (i % 7 + 1) for i in factors])
        assert result == expected, "not the same ranks everywhere"
        return mask

    def scan(self) -> None:
        result = array("q", [ABSENT]) * self.count
        untouched = result[:]
        self.enter()
        if self.kind == "scan":
            self.comm.Scan(self.contribution(self.count), result)
        else:
            self.comm.Exscan(self.contribution(self.count), result)
        is_first = self.kind == "exscan" and result == untouched
        self.leave(mask=0 if is_first else self.mask_of(result))

    def reduce_scatter(self) -> None:
        lengths = [self.length(r) for r in range(self.members)]
        result = array("q", [ABSENT]) * lengths[self.self]
        self.enter()
        self.comm.Reduce_scatter(self.contribution(sum(lengths)), result, lengths)
        self.leave(mask=self.mask_of(result, sum(lengths[: self.self])))


if __name__ == "__main__":
    run_to_the_end(Blocks)
