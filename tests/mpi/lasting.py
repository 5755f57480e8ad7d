"""Jobs that go on from checkpoints in memory; the program is programs/lasting.c."""

import os
import re
import signal
import struct
from contextlib import suppress
from functools import cache
from pathlib import Path

import jobs

PROGRAM = jobs.PROGRAMS / "lasting"
RESTART = ["--on-loss", "restart", "--max-restarts", "100"]
_SHARED = Path("/dev/shm")
_MAGIC = b"ckpoint1"


@cache
def undisturbed(ranks: int, steps: int, kib: int) -> str:
    return result_of(jobs.resprout_run(ranks, [PROGRAM, str(steps), str(kib)]))


def result_of(ended: jobs.Ended) -> str:
    """That of each life that came to it: the last rank may be killed behind the last line."""
    found = set(re.findall(r"result \w+", ended.out))
    assert ended.status == 0 and len(found) == 1, str(ended)
    return str(found.pop())


def begun(ended: jobs.Ended) -> list[int]:
    """The steps that lives began at which came so far."""
    return [int(step) for step in re.findall(r"begins at step (\d+)", ended.out)]


def step_of(folder: Path, rank: int) -> int:
    """That it is in; -1: in none yet."""
    path = folder / f"step-{rank}"
    text = path.read_text() if path.exists() else ""
    return int(text) if text.endswith("\n") else -1


def wait_for_step(job: jobs.Job, folder: Path, step: int, ranks: int = 1) -> None:
    """All of the lowest `ranks` are in it, or beyond."""

    def has_come() -> bool:
        return all(step_of(folder, rank) >= step for rank in range(ranks))

    assert jobs.becomes_true(has_come, jobs.WATCHDOG_SECONDS), job.seen()


def kill(job: jobs.Job, *ranks: int) -> None:
    """At once, as far as that goes: the others end by themselves when they see the first go. Until
    nobody of this life is left."""
    pids = job.processes_by_rank()
    for rank in ranks:
        with suppress(ProcessLookupError):
            os.kill(pids[rank], signal.SIGKILL)
    left = {*pids.values()}
    gone = jobs.becomes_true(lambda: not left & {*job.processes()}, jobs.WATCHDOG_SECONDS)
    assert gone, job.seen()


class HeldLauncher:
    """The launcher stands still meanwhile, so no other life begins."""

    def __init__(self, job: jobs.Job) -> None:
        self._job = job

    def __enter__(self) -> None:
        self._job.process.send_signal(signal.SIGSTOP)

    def __exit__(self, *_: object) -> None:
        self._job.process.send_signal(signal.SIGCONT)

    def wait_until_no_rank_is_left(self) -> None:
        gone = jobs.becomes_true(lambda: not self._job.processes_by_rank(), jobs.WATCHDOG_SECONDS)
        assert gone, self._job.seen()


def memory_of(job: jobs.Job) -> Path:
    """Where it keeps checkpoints."""
    pids = job.processes_by_rank().values()
    mapped = set().union(*(jobs.mapped_files(pid) for pid in pids))
    names = {name for name in mapped if name.startswith("resprout-")}
    assert len(names) == 1, names
    return _SHARED / names.pop() / "checkpoints"


def has_kept(job: jobs.Job, generation: int) -> bool:
    """Rank 0 has this one, or a later one."""
    folders = _SHARED.glob("resprout-*/checkpoints")
    mapped = set().union(*(jobs.mapped_files(pid) for pid in job.processes()))
    own = [folder for folder in folders if folder.parent.name in mapped]
    return any(found >= generation for folder in own for found, _ in parts_of(folder, 0))


def parts_of(folder: Path, rank: int) -> list[tuple[int, Path]]:
    """The whole ones, or what looks like them: generation and file, the newest first."""
    found = []
    for path in folder.glob(f"rank-{rank}-*"):
        with path.open("rb") as file:
            head = file.read(40)
        magic, _, _, _, generation = struct.unpack("<8sQQQQ", head)
        if magic == _MAGIC:
            found.append((generation, path))
    return sorted(found, reverse=True)


def lose(job: jobs.Job, *ranks: int) -> None:
    """Kills these, and takes away what they have in memory, as if each were on a host of its own
    that dies. Until nobody of this life is left; then the next one begins."""
    memory = memory_of(job)
    held = HeldLauncher(job)
    with held:
        kill(job, *ranks)
        held.wait_until_no_rank_is_left()
        for rank in ranks:
            for kind in ("rank", "parity"):
                for path in memory.glob(f"{kind}-{rank}-*"):
                    path.unlink()


def damage(path: Path) -> None:
    """A bit of it."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))
