"""The kernels of examples/kernels: the same digests under the MPI's own launcher and under
`resprout run`, whatever the number of ranks; and what a loss in the middle makes of them.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import jobs
import pytest

KERNELS = jobs.BUILD / "examples" / "kernels"
TWIN = jobs.ROOT / "examples" / "kernels" / "ep.py"
NAMES = ["cg", "ep", "ft", "is", "lu", "mg"]
LINE = re.compile(
    r"^(?P<name>\w+) class=S ranks=(?P<ranks>\d+) iterations=(?P<iterations>\d+) "
    r"result=\S+ digest=(?P<digest>[0-9a-f]{16}) seconds=\S+ "
    r"(?P<verdict>verified|VERIFICATION FAILED)$"
)
# One number of iterations that is less than what they do by themselves: it is quick.
ITERATIONS = "3"


def digest_of(ended: jobs.Ended, name: str, ranks: int) -> str:
    assert ended.status == 0, str(ended)
    lines = ended.out.splitlines()
    assert len(lines) == 1, str(ended)
    line = LINE.match(lines[0])
    assert line is not None, str(ended)
    assert (line["name"], int(line["ranks"]), line["verdict"]) == (name, ranks, "verified")
    assert line["iterations"] == ITERATIONS
    return line["digest"]


def plainly(ranks: int, program: Sequence[str | Path]) -> jobs.Ended:
    """Under mpirun, without anything of Resprout."""
    variables = [f"{name}={value}" for name, value in jobs.by_hand().items()]
    launch = [jobs.MPIRUN, "--oversubscribe", "-n", str(ranks)]
    return jobs.run(["env", *variables, *launch, *program])


@pytest.fixture(scope="module")
def plain_digests() -> dict[str, str]:
    """The digest that each kernel has under mpirun, with a number of ranks of its own."""
    ranks = dict(zip(NAMES, (2, 4, 8) * 2, strict=True))
    return {n: digest_of(plainly(ranks[n], [KERNELS / n, "S", ITERATIONS]), n, ranks[n])
            for n in NAMES}  # fmt: skip


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_has_one_digest_whoever_starts_it_on_however_many_ranks(
    name: str, ranks: int, plain_digests: dict[str, str]
) -> None:
    ended = jobs.resprout_run(ranks, [KERNELS / name, "S", ITERATIONS])
    assert digest_of(ended, name, ranks) == plain_digests[name]
    assert not ended.lost


@pytest.mark.parametrize("name", ["bt", "sp"])
def test_a_cube_cut_into_cells_has_one_digest_on_any_square_of_ranks(name: str) -> None:
    program = [KERNELS / name, "S", ITERATIONS]
    plain = digest_of(plainly(9, program), name, 9)
    for ranks in (1, 4, 9):
        ended = jobs.resprout_run(ranks, program)
        assert digest_of(ended, name, ranks) == plain
        assert not ended.lost


def test_the_twin_in_python_has_the_digest_of_the_one_in_c() -> None:
    c = jobs.resprout_run(4, [KERNELS / "ep", "S", ITERATIONS])
    python = jobs.resprout_run(4, [sys.executable, TWIN, "S", ITERATIONS])
    assert digest_of(c, "ep", 4) == digest_of(python, "ep", 4)


def test_siblings_that_are_compared_stand_in_for_ranks_of_the_twin_in_python() -> None:
    program = [sys.executable, TWIN, "S", ITERATIONS]
    right = digest_of(jobs.resprout_run(4, program), "ep", 4)
    options = ["--replicas", "2", "--on-replica-loss", "stand-in", "--verify", "async-hash"]
    options += ["--inject", "kill:rank=0,at=allreduce#2"]
    options += ["--inject", "kill:rank=2,replica=1,at=allreduce#1"]
    ended = jobs.resprout_run(4, program, options)
    assert digest_of(ended, "ep", 4) == right
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"], str(ended)
    assert ended.report["corruptions"] == [], str(ended)


@pytest.mark.parametrize(("victim", "call"), [(0, "iallreduce#2"), (2, "allreduce#1")])
def test_random_points_are_as_random_without_those_of_a_lost_rank(victim: int, call: str) -> None:
    fault = f"kill:rank={victim},at={call}"
    ended = jobs.resprout_run(4, [KERNELS / "ep", "S", ITERATIONS], ["--inject", fault])
    assert ended.status == 0, str(ended)
    assert ended.lost == {victim}
    line = LINE.match(ended.out.strip())
    assert line is not None, str(ended)
    assert line["verdict"] == "verified"


# Each in the middle of what it does most.
MIDDLE = {
    "bt": "waitall#2",
    "cg": "allreduce#20",
    "ft": "alltoall#5",
    "is": "alltoallv#2",
    "lu": "recv#40",
    "mg": "startall#200",
    "sp": "isend#20",
}


LOSSES = [*((name, "continue") for name in MIDDLE), ("cg", "error"), ("ft", "error")]


@pytest.mark.parametrize(("name", "on_loss"), LOSSES)
def test_who_needs_everybody_ends_after_a_loss_and_does_not_call_it_right(
    name: str, on_loss: str
) -> None:
    options = ["--on-loss", on_loss, "--inject", f"kill:rank=1,at={MIDDLE[name]}"]
    ended = jobs.resprout_run(4, [KERNELS / name, "S", ITERATIONS], options)
    assert ended.status != 0, str(ended)
    assert ended.lost >= {1}, str(ended)
    assert "verified" not in ended.out, str(ended)


@pytest.mark.parametrize(
    ("name", "ranks", "arguments", "complaint"),
    [
        ("ft", 3, [], "ft: the number of ranks has to divide the side"),
        ("bt", 2, [], "bt: the number of ranks has to be a square"),
        ("mg", 3, [], "mg: both sides of the ranks' grid have to divide 16"),
        ("is", 2, ["B"], "is: arguments are [CLASS [ITERATIONS]]; CLASS is one of S, W, A"),
    ],
)
def test_what_a_kernel_cannot_do_it_says_in_one_line(
    name: str, ranks: int, arguments: list[str], complaint: str
) -> None:
    ended = jobs.resprout_run(ranks, [KERNELS / name, *arguments])
    assert ended.status == 2, str(ended)
    assert ended.err.count(complaint) == 1, str(ended)
    assert not ended.out
