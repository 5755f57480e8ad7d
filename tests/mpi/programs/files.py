"""Files of a communicator that loses members: `files.py world|shrunk|whole WHAT FOLDER`.

Of the world after some are lost, as the job's faults say, or of what is shrunk then; or before and
meanwhile. Who lives to the end says `rank R is done`.
"""

import os
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

COUNT = 1000
STEPS = 12
world = MPI.COMM_WORLD


def lose() -> None:
    for _ in range(20):
        try:
            world.Allreduce(np.ones(1), np.zeros(1))
        except MPI.Exception:
            world.Revoke()
            return


def values(rank: int, step: int = 0) -> np.ndarray:
    return np.arange(COUNT, dtype=np.int64) * 1000 + 10 * rank + step


def in_turns(comm: MPI.Comm, path: Path) -> None:
    """Each rank has every so-manieth number of the file, which stays for the test to look at."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    column = MPI.INT64_T.Create_vector(COUNT, 1, comm.size).Commit()
    file.Set_view(8 * comm.rank, MPI.INT64_T, column)
    file.Write_all(values(comm.rank))
    file.Sync()
    comm.Barrier()
    file.Sync()
    file.Seek(0)
    got = np.zeros(COUNT, dtype=np.int64)
    file.Read_all(got)
    assert (got == values(comm.rank)).all()
    file.Close()
    # What the others have written is there, too.
    file = MPI.File.Open(comm, path, MPI.MODE_RDONLY)
    living = [rank for rank, lives in enumerate(who_lives(comm)) if lives]
    everything = np.zeros((COUNT, comm.size), dtype=np.int64)
    file.Iread_at_all(0, everything).Wait()
    for rank in living:
        assert (everything[:, rank] == values(rank)).all(), rank
    file.Close()
    column.Free()


def who_lives(comm: MPI.Comm) -> list[int]:
    lives = np.zeros(comm.size, dtype=int)
    lives[comm.rank] = 1
    comm.Allreduce(MPI.IN_PLACE, lives)
    return lives.tolist()


def as_a_whole(comm: MPI.Comm, path: Path) -> None:
    """What concerns the file and not what is in it."""
    fails(MPI.ERR_NO_SUCH_FILE, lambda: MPI.File.Open(comm, path, MPI.MODE_RDONLY))
    amode = MPI.MODE_CREATE | MPI.MODE_EXCL | MPI.MODE_RDWR
    file = MPI.File.Open(comm, path, amode)
    assert file.Get_amode() == amode
    group = file.Get_group()
    assert group.size == comm.size and group.rank == comm.rank
    group.Free()
    fails(MPI.ERR_FILE_EXISTS, lambda: MPI.File.Open(comm, path, amode))
    file.Set_size(12345)
    assert file.Get_size() == 12345
    comm.Barrier()
    file.Preallocate(20000)
    assert file.Get_size() == 20000
    file.Close()
    assert path.stat().st_size == 20000
    comm.Barrier()
    file = MPI.File.Open(comm, path, MPI.MODE_RDWR | MPI.MODE_APPEND | MPI.MODE_DELETE_ON_CLOSE)
    assert file.Get_position() == 20000
    file.Close()
    assert not path.exists()


def shared(comm: MPI.Comm, path: Path) -> None:
    """Records of 3 numbers, at the shared pointer: anywhere, and one behind the other."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_view(16, MPI.INT64_T)
    for step in range(STEPS):
        record = np.array([comm.rank, step, comm.rank + step], dtype=np.int64)
        if step % 2 == 0:
            file.Write_shared(record)
        else:
            file.Iwrite_shared(record).Wait()
    comm.Barrier()
    living = np.nonzero(who_lives(comm))[0]
    end = 3 * STEPS * len(living)
    assert file.Get_position_shared() == end, (file.Get_position_shared(), living)
    comm.Barrier()
    file.Write_ordered(np.full(comm.rank + 1, comm.rank, dtype=np.int64))
    mine = np.full(1, comm.rank, dtype=np.int64)
    file.Write_ordered_begin(mine)
    file.Write_ordered_end(mine)
    file.Sync()
    file.Seek_shared(-len(living), MPI.SEEK_END)
    got = np.full(1, -1, dtype=np.int64)
    file.Read_ordered(got)
    assert got[0] == comm.rank, got
    file.Seek_shared(end)
    several = np.full(comm.rank + 1, -1, dtype=np.int64)
    file.Read_ordered_begin(several)
    file.Read_ordered_end(several)
    assert (several == comm.rank).all(), several
    file.Set_view(16, MPI.INT64_T)
    assert file.Get_position_shared() == 0
    comm.Barrier()
    record = np.zeros(3, dtype=np.int64)
    seen = np.zeros((comm.size, STEPS), dtype=int)
    for step in range(STEPS):
        if step % 2 == 0:
            file.Read_shared(record)
        else:
            file.Iread_shared(record).Wait()
        assert record[2] == record[0] + record[1], record
        seen[record[0], record[1]] += 1
    comm.Allreduce(MPI.IN_PLACE, seen)
    assert (seen[living] == 1).all(), seen
    file.Close()
    at_the_end(comm, path, len(living))


def at_the_end(comm: MPI.Comm, path: Path, living: int) -> None:
    """The shared pointer of another file, which begins at the file's end."""
    file = MPI.File.Open(comm, path, MPI.MODE_WRONLY | MPI.MODE_APPEND | MPI.MODE_SEQUENTIAL)
    size = file.Get_size()
    assert file.Get_position_shared() == size
    comm.Barrier()
    file.Write_shared(np.zeros(1, dtype=np.int64))
    file.Close()
    comm.Barrier()
    if "RESPROUT_REPLICA" in os.environ:
        return  # each plane has a file of its own
    assert path.stat().st_size == size + 8 * living
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def meanwhile(comm: MPI.Comm, path: Path) -> None:
    """A file that is open while members are lost, written in every step."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    column = MPI.INT64_T.Create_vector(COUNT, 1, comm.size).Commit()
    for step in range(STEPS):
        file.Set_view(8 * (COUNT * comm.size * step + comm.rank), MPI.INT64_T, column)
        mine = values(comm.rank, step)
        if step % 2 == 0:
            file.Write_all(mine)
        else:
            file.Write_all_begin(mine)
            file.Write_all_end(mine)
        file.Sync()
        comm.Barrier()
    got = np.zeros(COUNT, dtype=np.int64)
    file.Seek(0)
    file.Read_all(got)
    assert (got == values(comm.rank, STEPS - 1)).all()
    file.Close()
    column.Free()


def anywhere(comm: MPI.Comm, path: Path) -> None:
    """Records where the shared pointer is, while members are lost."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    for step in range(STEPS):
        file.Write_shared(np.full(3, 100 * comm.rank + step, dtype=np.int64))
        comm.Barrier()
    file.Close()


def alone(comm: MPI.Comm, path: Path) -> None:
    """A file a rank, written by nobody else, some time before the job ends."""
    file = MPI.File.Open(MPI.COMM_SELF, f"{path}-{comm.rank}", MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Write(values(comm.rank))
    comm.Barrier()
    file.Close()
    comm.Barrier()


def read_by_others(comm: MPI.Comm, path: Path) -> None:
    """Rank 2 writes alone, others open it then; and removes it alone, and others make it anew."""
    if comm.rank == 2:
        file = MPI.File.Open(MPI.COMM_SELF, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        file.Write(values(2))
        file.Close()
    comm.Barrier()
    file = MPI.File.Open(comm, path, MPI.MODE_RDONLY)
    got = np.zeros(COUNT, dtype=np.int64)
    file.Read_at_all(0, got)
    assert (got == values(2)).all()
    file.Close()
    comm.Barrier()
    if comm.rank == 2:
        MPI.File.Delete(path)
    comm.Barrier()
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_EXCL | MPI.MODE_WRONLY)
    file.Write_at_all(8 * COUNT * comm.rank, values(comm.rank, 1))
    file.Close()


def fails(error_class: int, call) -> None:
    try:
        call()
    except MPI.Exception as error:
        assert error.Get_error_class() == error_class, error
        return
    raise AssertionError(f"should fail: {MPI.Get_error_string(error_class)}")


def steps(comm: MPI.Comm, path: Path) -> None:
    """A file a step, while ranks are lost at any moment."""
    for step in range(STEPS):
        name = Path(f"{path}-{step}")
        file = MPI.File.Open(comm, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
        file.Set_size(8 * COUNT * comm.size)
        file.Write_at_all(8 * COUNT * comm.rank, values(comm.rank, step))
        file.Close()


def main() -> None:
    where, what, folder = sys.argv[1:]
    MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)
    if where != "whole":
        lose()
    comm = world.Shrink() if where == "shrunk" else world
    cases = {
        "in-turns": in_turns,
        "as-a-whole": as_a_whole,
        "shared": shared,
        "meanwhile": meanwhile,
        "steps": steps,
        "anywhere": anywhere,
        "alone": alone,
        "read-by-others": read_by_others,
    }
    cases[what](comm, Path(folder) / "file")
    print(f"rank {comm.rank} is done", flush=True)
    os.sync()


main()
