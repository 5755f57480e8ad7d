"""Replicas of programs of MPICH and Intel MPI: a plane is lost as a whole, and the others go on."""

import subprocess

import jobs
import other_mpis
import pytest
from test_other_mpis_kills import with_shim

RANKS = 3
HEAT = jobs.ROOT / "examples" / "heat" / "heat.c"


@pytest.fixture(params=other_mpis.PREFIXES)
def options(request: pytest.FixtureRequest) -> list[str]:
    return other_mpis.options(with_shim(request.param))


@pytest.mark.parametrize("replica", [0, 1])
def test_a_lost_replica_is_not_seen_in_the_output(replica: int, options: list[str]) -> None:
    program = [other_mpis.compiled(HEAT), "300"]
    undisturbed = jobs.resprout_run(RANKS, program, options)
    fault = f"kill:rank=1,replica={replica},at=sendrecv#200"
    replicas = ["--replicas", "2", "--inject", fault]
    ended = jobs.resprout_run(RANKS, program, [*options, *replicas])
    assert (ended.status, ended.out) == (0, undisturbed.out) and ended.out, str(ended)
    expected = ["whole", "whole"]
    expected[replica] = "lost"
    assert [plane["how"] for plane in ended.report["planes"]] == expected, str(ended)
    lost = ended.report["planes"][replica]["losses"]
    assert [loss["rank"] for loss in lost] == [1], str(ended)


@pytest.mark.parametrize(
    "given", [["--verify", "async"], ["--on-replica-loss", "stand-in"]], ids=lambda given: given[0]
)
def test_what_replicas_would_have_to_say_to_each_other_is_refused(
    given: list[str], options: list[str]
) -> None:
    words = [jobs.RESPROUT, "run", "-n", "2", *options, "--replicas", "2", *given, "--"]
    command = [*words, other_mpis.compiled(HEAT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert f"{given[0]} {given[1]} needs Open MPI 5" in done.stderr, done
    assert done.stderr.count("\n") == 1, done
