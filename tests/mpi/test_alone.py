"""Ranks of one host that may not look at each other's memory: they have other ways to talk."""

import shutil
import subprocess

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "alone"
# Each rank in a container without privileges; programs that keep secrets, where root may not look.
OWN_USERS = ("unshare", "--user", "--map-root-user", PROGRAM)
UNREADABLE = ("setpriv", "--bounding-set=-sys_ptrace", PROGRAM, "unreadable")


def skip_unless_allowed(program: tuple[object, ...]) -> None:
    begin = [str(word) for word in program[: program.index(PROGRAM)]]
    if shutil.which(begin[0]) is None:
        pytest.skip(f"there is no {begin[0]}")
    tried = subprocess.run([*begin, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"not allowed here: {tried.stderr.strip()}")


@pytest.mark.parametrize("program", [OWN_USERS, UNREADABLE], ids=["own-users", "unreadable"])
@pytest.mark.parametrize("lost", [(), (2,)], ids=["none-lost", "one-lost"])
def test_ranks_that_cannot_share_memory_take_part(
    program: tuple[object, ...], lost: tuple[int, ...]
) -> None:
    skip_unless_allowed(program)
    options = [f"--inject=kill:rank={rank},at=allreduce#10" for rank in lost]
    ended = jobs.resprout_run(3, program, options)
    assert (ended.status, ended.out) == (0, f"{3 - len(lost)} are here\n"), str(ended)
    assert ended.lost == set(lost), str(ended)


@pytest.mark.parametrize("program", [OWN_USERS, UNREADABLE], ids=["own-users", "unreadable"])
def test_replicas_that_cannot_share_memory_are_compared(program: tuple[object, ...]) -> None:
    skip_unless_allowed(program)
    ended = jobs.resprout_run(2, program, ["--replicas", "2", "--verify", "all-to-all"])
    assert (ended.status, ended.out) == (0, "2 are here\n"), str(ended)
    assert ended.report["verification"]["unverified"] == 0, str(ended)
