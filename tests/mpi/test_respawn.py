"""Programs start others in the place of the lost: shrink, spawn, merge, split."""

import re

import jobs
import pytest

RESPAWN = jobs.BUILD / "examples" / "ulfm" / "respawn"
STEPS = "2000"
RANKS = 6
RESULT = "the sum is b043695b47bcab60: 6 processes"


def respawned(faults: str) -> jobs.Ended:
    ended = jobs.resprout_run(
        RANKS, [RESPAWN, STEPS], ["--on-loss", "error"], {"RESPROUT_INJECT": faults}
    )
    assert re.search(rf"^{RESULT}$", ended.out, re.MULTILINE), str(ended)
    assert ended.status == 0, str(ended)
    return ended


@pytest.mark.parametrize(
    ("faults", "lost"),
    [
        ("", set()),
        ("kill:rank=2,at=sendrecv#700", {2}),
        ("kill:rank=0,at=sendrecv#333", {0}),
        # The second one dies among those who were spawned.
        ("kill:rank=1,at=sendrecv#120;kill:rank=3,at=sendrecv#800", {1, 3}),
    ],
    ids=["none", "one", "the leader", "one after the other"],
)
def test_the_result_is_that_without_a_loss(faults: str, lost: set[int]) -> None:
    assert respawned(faults).lost == lost


def test_a_communicator_that_has_lost_a_member_starts_nobody() -> None:
    fault = ["--inject", "kill:rank=1,at=barrier#1"]
    ended = jobs.resprout_run(3, [jobs.PROGRAMS / "spawn_late"], fault)
    said = [f"rank {rank}: a rank has failed" for rank in (0, 2)]
    assert (ended.status, sorted(ended.out.splitlines())) == (0, said), str(ended)
