"""Jobs in allocations of Slurm, whose nodes all are this host; skipped where there is no Slurm."""

import re
from collections.abc import Iterator
from pathlib import Path

import jobs
import other_mpis
import pytest
import slurm_cluster
from lives import PROGRAM, Scene, close, wait_for_standby
from slurm_cluster import Cluster

FAULT = "kill:rank=1,at=allreduce#50"
SURVIVORS = ["rank 0 ok", "rank 2 ok", "rank 3 ok"]
ALLOCATE = ["salloc", "--quiet", "--no-kill", "-N2", "--ntasks-per-node=2"]


@pytest.fixture(scope="module")
def slurm() -> Iterator[Cluster]:
    if lacking := slurm_cluster.missing():
        pytest.skip(f"no Slurm here: {', '.join(lacking)} needed (Debian: slurm-wlm, munge)")
    with slurm_cluster.cluster() as made:
        yield made
    assert not made.left(), "processes of Slurm are left"


@pytest.fixture(params=["Open MPI", "MPICH"])
def program(request: pytest.FixtureRequest) -> Path:
    if request.param == "MPICH":
        return other_mpis.program("collectives")
    return jobs.BUILD / "tests" / "mpi" / "other" / "collectives"


@pytest.fixture
def hostfile(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text("n1 slots=2\nn2 slots=2\n")
    return path


def test_a_job_on_two_nodes_of_an_allocation_goes_on_without_a_killed_rank(
    slurm: Cluster, program: Path, hostfile: Path
) -> None:
    command = [jobs.RESPROUT, "run", "-n", "4", "--hostfile", hostfile, "--inject", FAULT]
    done = slurm.run(*ALLOCATE, *command, "--", program, "allreduce", "200")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == SURVIVORS, done
    assert "rank 1" in done.stderr and "was killed (injected)" in done.stderr, done


def test_open_mpi_finds_the_nodes_of_the_allocation_by_itself(slurm: Cluster) -> None:
    shown = [jobs.RESPROUT, "run", "-n", "4", "--", "printenv", "SLURMD_NODENAME"]
    done = slurm.run(*ALLOCATE, *shown)
    assert done.returncode == 0, done
    assert {*done.stdout.split()} == {"n1", "n2"}, done


def test_a_job_goes_on_when_a_node_is_lost(
    slurm: Cluster, program: Path, hostfile: Path, tmp_path: Path
) -> None:
    command = [jobs.RESPROUT, "run", "-n", "4", "--hostfile", hostfile, "--run-dir", tmp_path]
    words = [*ALLOCATE, *command, "--", program, "allreduce", "1000000"]
    with jobs.started([str(word) for word in words], slurm.environment) as job:
        entered = jobs.becomes_true(lambda: len([*tmp_path.glob("resprout-*/entered-*")]) == 4)
        assert entered, job.seen()
        starting = [path.parent / "starting" for path in tmp_path.glob("resprout-*/entered-0")]
        assert jobs.becomes_true(lambda: not any(path.exists() for path in starting)), job.seen()
        slurm.lose("n2")
        ended = job.wait()
    slurm.restore("n2")
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == ["rank 0 ok", "rank 1 ok"], str(ended)
    assert "host n2 is lost, with ranks 2, 3" in ended.err, str(ended)


def test_those_who_stand_by_are_started_beside_the_job_and_go_on(
    slurm: Cluster, tmp_path: Path
) -> None:
    close(tmp_path, "in", 0, *range(4))
    options = ["--on-loss", "restart", "--standby", "--run-dir", tmp_path]
    command = [jobs.RESPROUT, "run", "-n", "4", *options, "--", PROGRAM, tmp_path]
    words = [str(word) for word in [*ALLOCATE, *command]]
    with jobs.started(words, slurm.environment) as job:
        scene = Scene(tmp_path, job)
        scene.wait_for("in", 0, range(4))
        wait_for_standby(job, 1, 4, tmp_path)
        scene.kill(0, 3)
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert "with the ranks that stood by" in ended.err, str(ended)


def test_a_step_of_one_task_runs_a_job(slurm: Cluster) -> None:
    command = [jobs.RESPROUT, "run", "-n", "3", "--inject", FAULT, "--"]
    program = jobs.BUILD / "tests" / "mpi" / "other" / "collectives"
    done = slurm.run("srun", "-n1", "-N1", *command, program, "allreduce", "200")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == ["rank 0 ok", "rank 2 ok"], done


def test_srun_starts_ranks_of_mpich_that_go_on_without_a_killed_one(slurm: Cluster) -> None:
    shim = jobs.ROOT / "python" / "resprout" / "libresprout_mpich.so"
    if not shim.exists():
        pytest.skip(f"there is no {shim.name}; `make mpis` builds it")
    step = ["srun", "-N2", "-n4", "--mpi=pmi2", "--no-kill", "--wait=0"]
    # An address over UCX is sent with what lies behind it, in lines that Slurm can find too long.
    carrier = ["MPIR_CVAR_CH4_NETMOD=ofi", "FI_PROVIDER=tcp"]
    variables = ["env", *carrier, f"LD_PRELOAD={shim}", f"RESPROUT_INJECT={FAULT}"]
    done = slurm.run(*step, *variables, other_mpis.program("collectives"), "allreduce", "200")
    assert sorted(done.stdout.splitlines()) == SURVIVORS, done
    assert "rank 1" in done.stderr and "died; going on without it" in done.stderr, done
    assert done.returncode == 137, done


def test_a_job_that_slurm_requeues_starts_again(slurm: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    said = tmp_path / "said"
    run = f"{jobs.RESPROUT} run -n 2 --"
    script.write_text(
        "#!/bin/bash\n"
        'if [ -n "$SLURM_RESTART_COUNT" ]; then echo again $SLURM_RESTART_COUNT; '
        f"{run} true; else {run} sh -c 'echo first; sleep 600'; fi\n"
    )
    options = ["--parsable", "--requeue", "-N1", "-n2", f"--output={said}", "--open-mode=append"]
    number = slurm.run("sbatch", *options, script).stdout.strip()
    assert jobs.becomes_true(lambda: said.exists() and "first" in said.read_text(), 60.0)
    assert slurm.run("scontrol", "requeue", number).returncode == 0
    state = ["squeue", "--noheader", "--format=%T", f"--jobs={number}"]
    assert jobs.becomes_true(lambda: slurm.run(*state).stdout.strip() == "PENDING", 60.0)
    slurm.run("scontrol", "update", f"JobId={number}", "StartTime=now")  # not after 2 minutes
    assert jobs.becomes_true(lambda: "again 1" in said.read_text(), 60.0), said.read_text()
    shown = ["scontrol", "show", "job", number]
    ended = jobs.becomes_true(lambda: "JobState=COMPLETED" in slurm.run(*shown).stdout, 60.0)
    assert ended, slurm.run(*shown).stdout
    assert re.search(r"ExitCode=0:0", slurm.run(*shown).stdout)


def test_two_tasks_of_srun_that_each_would_start_all_ranks_are_refused(slurm: Cluster) -> None:
    done = slurm.run("srun", "-n2", jobs.RESPROUT, "run", "-n", "2", "--", "true")
    assert done.returncode == 2, done
    assert "srun has started resprout run 2 times" in done.stderr, done
    assert "without srun" in done.stderr, done
