"""What calls do on MPICH and Intel MPI after a loss is what docs/reference/calls.md says of them.

The table names calls of its groups; each is made by the two who are left of three ranks. All on
both libraries run with EVERY_CASE=1.
"""

import sys
from pathlib import Path

import covering
import jobs
import other_mpis
import pytest
from test_other_mpis_kills import with_shim

sys.path.insert(0, str(jobs.ROOT / "tests" / "house"))
import calls

ENDS = {
    "fault-tolerant": "success",
    "guarded": "a process is lost",
    "refused": "a process is lost",
}
# What does not end as its group mostly does.
OTHER_ENDS = {
    "comm_free": "success",
    "comm_idup": "success",
    "comm_spawn": "nobody starts processes",
}
TRIED = [
    (name, library, treatment)
    for group in calls.read_table()
    for library, treatment in zip(other_mpis.PREFIXES, group.elsewhere, strict=True)
    for name in group.tried
]
SHARE = TRIED if covering.is_every_case_wanted() else TRIED[:: len(TRIED) // 6]


@pytest.mark.parametrize(("name", "library", "treatment"), SHARE)
def test_a_call_after_a_loss_does_what_the_table_says(
    name: str, library: str, treatment: str, tmp_path: Path
) -> None:
    prefix = with_shim(library)
    program = [other_mpis.program("after_loss"), name, str(tmp_path / "file")]
    options = [*other_mpis.options(prefix), "--on-unanswered", "ignore"]
    ended = jobs.resprout_run(3, program, options)
    end = OTHER_ENDS.get(name, ENDS[treatment])
    assert ended.out.splitlines() == [end, end], str(ended)
    assert ended.lost == {1}, str(ended)


# mpi4py makes all its datatypes so on a library that has these functions.
@pytest.mark.parametrize("library", other_mpis.PREFIXES)
def test_datatypes_that_functions_with_large_counts_have_made_are_known(library: str) -> None:
    prefix = with_shim(library)
    program = [other_mpis.program("large_types")]
    ended = jobs.resprout_run(3, program, other_mpis.options(prefix))
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == [f"rank {rank} ok" for rank in range(3)], str(ended)


def test_one_win_test_after_a_barrier_finds_what_has_come() -> None:
    with_shim("MPICH")
    ended = jobs.resprout_run(2, [other_mpis.program("win_test")])
    assert sorted(ended.out.splitlines()) == ["rank 0 ok", "rank 1 ok"], str(ended)
