"""One-sided access between fences goes on without those who die, with all that the living say; so
do windows that are made after a loss, and planes of replicas with a gap."""

import random
import sys
from pathlib import Path

import covering
import jobs
import pytest
from kills import check_survivors, kills_at_any_moment

PROGRAM = jobs.PROGRAMS / "fences"
RANKS = 5
KINDS = ["created", "allocated", "dynamic", "columns", "made"]
# In planes: what siblings write in the place of the lost has addresses of their own.
KINDS_OF_PLANES = ["created", "allocated", "columns", "made"]
# Those of a step: two before its accesses, one after them, three for what follows.
FENCES = 6
STEPS = 12


def run(kinds: list[str], *options: str, ranks: int = RANKS) -> jobs.Ended:
    return jobs.resprout_run(ranks, [PROGRAM, STEPS, *kinds], options)


def check(ended: jobs.Ended, living: list[int]) -> None:
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.split("\n")[:-1]) == [f"rank {n} is through" for n in living], str(
        ended
    )


def killed_at_any_moment(seed: int) -> jobs.Ended:
    victims = kills_at_any_moment(seed, 1 + seed % 2, RANKS, 0.3)
    ended = jobs.resprout_run(RANKS, [PROGRAM, STEPS, *KINDS], [], {"RESPROUT_INJECT": victims})
    check_survivors(ended, RANKS, victims)
    return ended


def killed_while_making(seed: int) -> jobs.Ended:
    victim = kills_at_any_moment(seed, 1, 4, 0.15)
    program = [jobs.PROGRAMS / "lone_calls", "win"]
    ended = jobs.resprout_run(4, program, [], {"RESPROUT_INJECT": victim})
    check_survivors(ended, 4, victim)
    return ended


def one_of_each_plane(seed: int, within_s: tuple[float, float]) -> list[str]:
    chance = random.Random(seed)
    words = ["--replicas", "2", "--on-replica-loss", "stand-in"]
    for replica, rank in enumerate(chance.sample(range(4), 2)):
        at = f"{chance.uniform(*within_s):.3f}s"
        words += ["--inject", f"kill:rank={rank},replica={replica},at={at}"]
    return words


def stood_in_for_at_any_moment(seed: int, *options: str) -> jobs.Ended:
    ended = run(KINDS_OF_PLANES, *one_of_each_plane(seed, (0.05, 0.4)), *options, ranks=4)
    check(ended, [0, 1, 2, 3])
    return ended


def stood_in_for_while_making(seed: int) -> jobs.Ended:
    words = one_of_each_plane(seed, (0.05, 0.2))
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "lone_calls", "win"], words)
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == [f"rank {n} is done" for n in range(4)], str(ended)
    return ended


@pytest.mark.parametrize("options", [(), ("--collectives", "trees"), ("--collectives", "native")])
def test_all_is_there_while_nobody_is_lost(options: tuple[str, ...]) -> None:
    check(run(KINDS, *options), list(range(RANKS)))


@pytest.mark.parametrize(
    ("kind", "at"),
    covering.with_every_value(KINDS, [1, FENCES * 3 + 2, FENCES * 5 + 3, FENCES * 8]),
)
def test_a_rank_dies_at_a_fence(kind: str, at: int) -> None:
    victim = at % RANKS
    ended = run([kind], "--inject", f"kill:rank={victim},at=win_fence#{at}")
    check(ended, [rank for rank in range(RANKS) if rank != victim])


@pytest.mark.parametrize("seed", range(4))
def test_ranks_die_at_any_time(seed: int) -> None:
    chance = random.Random(seed)
    victims = chance.sample(range(RANKS), 2)
    words = []
    for victim in victims:
        at = chance.randrange(1, FENCES * STEPS * len(KINDS) + 1)
        words += ["--inject", f"kill:rank={victim},at=win_fence#{at}"]
    check(run(KINDS, *words), [rank for rank in range(RANKS) if rank not in victims])


@pytest.mark.parametrize("how", ["create", "allocate"])
def test_a_rank_dies_where_a_window_is_made(how: str) -> None:
    ended = run(["made"], "--inject", f"kill:rank=1,at=win_{how}#3")
    check(ended, [0, 2, 3, 4])


@pytest.mark.parametrize("seed", covering.a_share(range(40), of_one=20))
def test_the_first_death_may_fall_into_the_making_of_a_window(seed: int) -> None:
    killed_while_making(seed)


@pytest.mark.parametrize("verify", ["none", "async-hash", "msg-plus-hash"])
def test_siblings_stand_in_for_the_lost_of_two_planes(verify: str) -> None:
    ended = run(
        KINDS_OF_PLANES,
        *("--replicas", "2", "--on-replica-loss", "stand-in", "--verify", verify),
        *("--inject", "kill:rank=1,replica=0,at=win_fence#30"),
        *("--inject", "kill:rank=2,replica=1,at=win_fence#75"),
        ranks=4,
    )
    check(ended, [0, 1, 2, 3])
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"], str(ended)
    assert ended.report["replicas_left"] == [2, 1, 1, 2], str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(20), of_one=20))
def test_they_stand_in_for_who_dies_in_the_making_of_a_window(seed: int) -> None:
    stood_in_for_while_making(seed)


def test_with_on_loss_error_a_loss_is_one() -> None:
    ended = run(["created"], "--on-loss", "error", "--inject", "kill:rank=1,at=win_fence#9")
    assert ended.status != 0
    assert "is through" not in ended.out


# Rank 1 dies with a window half made: its file has the name that Open MPI gives it.
_HALF_MADE = """
import os, re, signal
from mpi4py import MPI
world = MPI.COMM_WORLD
maps = open("/proc/self/maps").read()
host, job = re.search(r"/sm_segment[.](.*)[.][0-9]+[.]([0-9a-f]+)[.][0-9]+", maps).groups()
if world.rank == 1:
    path = f"/dev/shm/osc_sm.{host}.{job}.1.5"
    open(path, "w").close()
    print(path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
world.Barrier()
"""


def test_what_a_process_was_about_to_share_when_it_was_killed_is_cleared_away() -> None:
    ended = jobs.resprout_run(3, [sys.executable, "-c", _HALF_MADE])
    path = Path(ended.out.strip())
    was_left = path.exists()
    path.unlink(missing_ok=True)
    assert ended.status == 0 and ended.lost == {1}, str(ended)
    assert path.name.startswith("osc_sm.") and not was_left, str(ended)
