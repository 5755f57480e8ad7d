"""The three ways in which programs repair themselves, while ranks are killed at any moment."""

import re

import jobs
import pytest
from kills import check_none_else_lost, kills_at_any_moment, kills_at_calls

EXAMPLES = jobs.BUILD / "examples" / "ulfm"
RESULTS = {
    "shrink": r"pi is about 3\.1[34]\d\d: \d+ points",
    # The same bits whoever dies, and the heat and its place as without a loss.
    "rebalance": r"pi is 3\.141592653589799 \(0x1\.921fb54442d25p\+1\)",
    "restart": r"1000\.000000 units of heat after 20000 steps, on average at cell 79\.289952103",
}
SIZES = {"shrink": "400", "rebalance": "8000", "restart": "20000"}
# Where ranks die, and how often each of these calls is made at least.
PLACES = {
    "shrink": (["allreduce", "comm_agree"], 300),
    "rebalance": (["allreduce", "comm_agree"], 120),
    "restart": (["sendrecv", "comm_agree"], 190),
}


def survivors(name: str, ranks: int, faults: str = "") -> tuple[int, jobs.Ended]:
    """How many processes are left in the end, and how that was."""
    ended = jobs.resprout_run(
        ranks,
        [EXAMPLES / name, SIZES[name]],
        ["--on-loss", "error"],
        {"RESPROUT_INJECT": faults} if faults else {},
    )
    found = re.fullmatch(rf"{RESULTS[name]}.* (\d+) processes left\n", ended.out)
    check_none_else_lost(ended, faults)
    assert found, str(ended)
    return int(found[1]), ended


@pytest.mark.parametrize("name", RESULTS)
def test_without_a_loss_all_are_left(name: str) -> None:
    left, _ = survivors(name, 4)
    assert left == 4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", RESULTS)
def test_the_result_is_right_whoever_dies(name: str, seed: int) -> None:
    ranks = (3, 8, 6, 12)[seed]
    victims = kills_at_any_moment(seed, 1 + seed % 3, ranks, 0.3)
    left, ended = survivors(name, ranks, victims)
    assert left >= ranks - len(ended.lost), str(ended)


@pytest.mark.parametrize("name", RESULTS)
def test_the_result_is_right_if_they_die_at_work(name: str) -> None:
    left, ended = survivors(name, 8, kills_at_calls(5, 3, 8, *PLACES[name]))
    assert left == 5 and len(ended.lost) == 3, str(ended)
