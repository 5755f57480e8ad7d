"""Programs in Fortran, and C that calls MPI as compiled Fortran does. Open MPI's Fortran library
would ask the MPI library behind our backs; tests/fortran/mpifh.c plays that library.
"""

from pathlib import Path

import fortran
import jobs
import pytest

PROGRAMS = jobs.BUILD / "tests" / "fortran"
KERNELS = jobs.ROOT / "examples" / "kernels"


def said(ended: jobs.Ended) -> list[str]:
    assert ended.status == 0, str(ended)
    return sorted(ended.out.splitlines())


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_kind_of_argument_arrives_and_comes_back(ranks: int) -> None:
    assert said(jobs.resprout_run(ranks, [PROGRAMS / "forms"])) == []


def test_words_for_started_programs_lose_their_blanks_and_nothing_else() -> None:
    assert said(jobs.resprout_run(1, [PROGRAMS / "spawn"])) == []


def test_without_resprout_the_same_program_reaches_the_mpi_s_library() -> None:
    ended = jobs.run([PROGRAMS / "forms"])
    assert ended.status == 1, str(ended)
    assert ended.err == "mpi_init_thread_ is not Resprout's\n"


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_after_a_loss_the_others_go_on_and_repair_their_communicators(transport: str) -> None:
    options = ["--transport", transport, "--inject", "kill:rank=1,at=allreduce#3"]
    ended = jobs.resprout_run(4, [PROGRAMS / "losses"], options)
    assert said(ended) == [f"rank {rank} has come to the end" for rank in (0, 2, 3)]
    assert ended.lost == {1}
    assert ended.calls("allreduce") >= 6


def verified(*options: str) -> jobs.Ended:
    chosen = ["--replicas", "3", "--verify", "msg-plus-hash", *options]
    return jobs.resprout_run(3, [PROGRAMS / "verified"], chosen)


def test_replicas_verify_what_fortran_sends() -> None:
    ended = verified()
    assert said(ended) == []
    assert ended.report["corruptions"] == []
    assert ended.report["verification"]["verified"] >= 3 * 3 * 40
    assert ended.report["verification"]["unverified"] == 0


# Messages 5 to 8 are of the four ways to send.
@pytest.mark.parametrize("message", [5, 6, 7, 8])
def test_a_bit_that_flips_in_what_fortran_sends_is_outvoted(message: int) -> None:
    ended = verified("--inject", f"flip:rank=1,replica=2,message={message},bit=9")
    assert said(ended) == []  # nobody has received anything wrong
    assert len(ended.report["flipped"]) == 1
    assert ended.report["corruptions"]
    for one in ended.report["corruptions"]:
        assert (one["of"], one["sender"], one["receiver"]) == ("message", 1, 2), str(ended)
        assert (one["wrong_replicas"], one["end"]) == ([2], "outvoted"), str(ended)


@fortran.needs_compiler
@pytest.mark.parametrize("style", ["classic", "modern"])
def test_what_a_fortran_compiler_makes_goes_on_after_a_loss(style: str, tmp_path: Path) -> None:
    program = fortran.compiled(fortran.SOURCES / "compiled" / f"{style}.f90", tmp_path)
    ended = jobs.resprout_run(4, [program], ["--inject", "kill:rank=1,at=allreduce#4"])
    assert said(ended) == [f"rank {rank} of 3 living, lost T" for rank in (0, 2, 3)]
    assert ended.lost == {1}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fortran.compiled(KERNELS / "ft.f90", tmp_path_factory.mktemp("kernel"))


@fortran.needs_compiler
def test_the_kernel_in_fortran_has_the_digest_of_the_one_in_c(kernel: Path) -> None:
    digests = set()
    in_c = jobs.BUILD / "examples" / "kernels" / "ft"
    for ranks, program in [(4, in_c), (2, kernel), (4, kernel)]:
        (line,) = said(jobs.resprout_run(ranks, [program, "S", "3"]))
        assert line.startswith(f"ft class=S ranks={ranks} iterations=3 result=")
        assert line.endswith(" verified")
        digests.add(line.partition(" digest=")[2].partition(" ")[0])
    assert len(digests) == 1


@fortran.needs_compiler
def test_the_kernel_in_fortran_does_not_call_it_right_after_a_loss(kernel: Path) -> None:
    ended = jobs.resprout_run(4, [kernel, "S", "3"], ["--inject", "kill:rank=1,at=alltoall#5"])
    assert ended.status != 0, str(ended)
    assert ended.lost >= {1}, str(ended)
    assert " verified" not in ended.out, str(ended)


@fortran.needs_compiler
def test_siblings_that_are_compared_stand_in_for_ranks_of_the_kernel_in_fortran(
    kernel: Path,
) -> None:
    (right,) = said(jobs.resprout_run(4, [kernel, "S", "3"]))
    options = ["--replicas", "2", "--on-replica-loss", "stand-in", "--verify", "msg-plus-hash"]
    options += ["--inject", "kill:rank=1,at=alltoall#3"]
    options += ["--inject", "kill:rank=2,replica=1,at=allreduce#2"]
    ended = jobs.resprout_run(4, [kernel, "S", "3"], options)
    (line,) = said(ended)
    assert line.partition(" seconds=")[0] == right.partition(" seconds=")[0], str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"], str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    assert ended.report["verification"]["verified"] > 0, str(ended)


@fortran.needs_compiler
@pytest.mark.parametrize(
    ("ranks", "arguments", "complaint"),
    [
        (3, [], "ft: the number of ranks has to divide the side"),
        (2, ["B"], "ft: arguments are [CLASS [ITERATIONS]]; CLASS is one of S, W, A"),
        (2, ["S", "-1"], "ft: ITERATIONS is a number from 1 to 1000000"),
    ],
)
def test_what_the_kernel_in_fortran_cannot_do_it_says_in_one_line(
    ranks: int, arguments: list[str], complaint: str, kernel: Path
) -> None:
    ended = jobs.resprout_run(ranks, [kernel, *arguments])
    assert ended.status == 2, str(ended)
    assert ended.err.count(complaint) == 1, str(ended)
    assert not ended.out
