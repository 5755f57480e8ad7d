"""What follows when nothing can be compared any more, without MPI."""

from pathlib import Path

import pytest
from resprout.cli import main
from resprout.launch.command import Plan
from resprout.launch.mpi import Library, Mpi
from resprout.launch.planes.returns import Returns
from resprout.launch.planes.unverified import Unverified
from resprout.report.corruptions import Verification


def of(directory: Path, policy: str | None, verify: str = "async") -> Unverified:
    variables = {"RESPROUT_VERIFY": verify}
    if policy is not None:
        variables["RESPROUT_ON_UNVERIFIED"] = policy
    mpi = Mpi(Path("mpirun"), Library.OPEN_MPI, "5.0.11", has_ulfm=True)
    return Unverified(Plan(mpi, 2, ["true"], None, variables), directory)


@pytest.mark.parametrize(
    ("policy", "then", "must_end"),
    [
        (None, "the job goes on unverified (--on-unverified go-on)", False),
        ("wait", "it waits at its next checkpoint for a plane that comes back", False),
        ("abort", "the job ends with status 6", True),
    ],
)
def test_it_is_said_once_and_what_follows(
    policy: str | None,
    then: str,
    must_end: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    unverified = of(tmp_path, policy)
    unverified.begin("plane 1")
    unverified.begin("plane 1")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"resprout: nothing that plane 1 says is compared any more: {then}")
    assert unverified.must_end is must_end
    assert (tmp_path / "wait-for-return").exists() is (policy == "wait")


def test_a_plane_that_is_back_ends_the_wait_and_one_that_never_comes_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unverified = of(tmp_path, "wait")
    unverified.begin("plane 1")
    unverified.look(lambda: False)
    unverified.end()
    assert not (tmp_path / "wait-for-return").exists()
    unverified.look(lambda: True)
    assert not unverified.must_end
    unverified.begin("plane 0")
    unverified.look(lambda: True)
    assert unverified.must_end
    assert "no plane comes back" in capsys.readouterr().err


def test_what_is_known_when_the_job_is_over_is_said_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for policy, must_end in ((None, False), ("wait", True), ("abort", True)):
        unverified = of(tmp_path, policy)
        unverified.settle(0)
        assert (unverified.must_end, capsys.readouterr().err) == (False, "")
        unverified.settle(7)
        assert "7 messages and collectives were not compared" in capsys.readouterr().err
        assert unverified.must_end is must_end


def test_where_nothing_is_verified_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unverified = of(tmp_path, None, verify="none")
    unverified.begin("plane 1")
    assert capsys.readouterr().err == ""


def test_a_return_is_hopeless_when_the_plane_is_kept_out_or_the_others_are_at_their_end(
    tmp_path: Path,
) -> None:
    for replica in range(2):
        (tmp_path / f"plane-{replica}").mkdir()
    returns = Returns(tmp_path, 2)
    assert not returns.is_hopeless({1: "lost"})
    (tmp_path / "plane-0" / "arrived").touch()
    assert returns.is_hopeless({1: "lost"})
    (tmp_path / "plane-0" / "arrived").unlink()
    returns.keep_out(1)
    assert returns.is_hopeless({1: "lost"})


def test_the_share_that_was_verified_counts_what_had_no_replica_and_no_name() -> None:
    whole = Verification(verified=30)
    assert (whole.is_complete, whole.share, Verification().share) == (True, 1.0, 1.0)
    part = whole + Verification(verified=0, unverified=6, skipped=4)
    assert (part.is_complete, part.total, part.share) == (False, 40, 0.75)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--replicas", "2", "--on-unverified", "abort"], "--on-unverified abort needs --verify"),
        (["--replicas", "2", "--commit-output", "voted"], "--commit-output voted needs --verify"),
        (["--replicas", "2", "--verify", "async", "--on-unverified", "stop"], "go-on, wait, abort"),
        (
            [
                *["--replicas", "2", "--verify", "async", "--on-replica-loss", "stand-in"],
                *["--on-unverified", "wait"],
            ],
            "--on-unverified wait does not go together with --on-replica-loss stand-in",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert main(["run", "-n", "2", *options, "--", "true"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line, line
