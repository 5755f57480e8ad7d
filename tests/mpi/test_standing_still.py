"""A replica that stands still is ended while its siblings go on, and the job ends.

Compared are neither times nor how long it takes: only what becomes of the job.
"""

import covering
import jobs
import pytest

RANKS = 3
METHODS = ["none", "all-to-all", "async-hash", "msg-plus-hash", "async"]
ON_LOSS = ["end-plane", "stand-in"]
WHERE = ["middle", "end", "before", "waiting"]
PLACES = {
    "before": "before MPI_Init",
    "middle": "outside of MPI",
    "waiting": "in a call of MPI",
    "end": "after MPI_Finalize",
}

Case = tuple[str, int, str, str, str]

EVERY_CASE: list[Case] = [
    (where, replicas, method, on_loss, on_corruption)
    for where in WHERE
    for replicas in (2, 3)
    for method in METHODS
    for on_loss in ON_LOSS
    for on_corruption in ("abort", "report")
    if on_corruption == "abort" or (method != "none" and replicas == 2)
]
FEW: list[Case] = [
    ("middle", 2, "none", "end-plane", "abort"),
    ("middle", 3, "msg-plus-hash", "end-plane", "abort"),
    ("middle", 2, "async-hash", "end-plane", "report"),
    ("waiting", 3, "all-to-all", "end-plane", "abort"),
    ("end", 2, "all-to-all", "end-plane", "abort"),
    ("end", 3, "async", "stand-in", "abort"),
    ("before", 3, "none", "end-plane", "abort"),
]


def result_of(replicas: int) -> str:
    mine = [rank + 1 for rank in range(RANKS)]
    for _ in range(40):
        mine = [(3 * mine[r] + mine[r - 1] + 2**63) % 2**64 - 2**63 for r in range(RANKS)]
    return f"{mine[0]}\n" * bool(replicas)


@pytest.mark.parametrize(
    ("where", "replicas", "method", "on_loss", "on_corruption"),
    EVERY_CASE if covering.is_every_case_wanted() else FEW,
)
def test_a_replica_that_stands_still_is_ended_and_the_job_ends(
    where: str, replicas: int, method: str, on_loss: str, on_corruption: str
) -> None:
    options = ["--replicas", str(replicas), "--verify", method, "--on-replica-loss", on_loss]
    if on_corruption != "abort":
        options += ["--on-corruption", on_corruption]
    program = [jobs.PROGRAMS / "standing_still", where, "1"]
    ended = jobs.resprout_run(RANKS, program, [*options, "--straggler-wait", "2"])
    is_undecided = replicas == 2 and method != "none"
    is_abort = is_undecided and on_corruption == "abort"
    assert ended.status == (4 if is_abort else 0), str(ended)
    assert f"of {replicas} stood still {PLACES[where]}" in ended.err, str(ended)
    if not is_abort or where == "end":
        assert ended.out == result_of(replicas), str(ended)
    found = ended.report["corruptions"]
    if method == "none":
        assert found == [], str(ended)
        return
    assert [one["of"] for one in found] == ["progress"], str(ended)
    if where != "waiting" or replicas == 3:
        assert (found[0]["replica"], found[0]["rank"]) == (1, 1), str(ended)
    assert found[0]["end"] == ("undecided" if is_undecided else "outvoted"), str(ended)
