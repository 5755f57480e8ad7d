"""A rank that ends before all are through MPI_Init ends the job, with a line and a status."""

import itertools
import subprocess
from pathlib import Path

import covering
import jobs
import namespaces
import pytest
import whole_hosts

RANKS = 4
PROGRAM = jobs.PROGRAMS / "early_end"
STATUS = {"kill": 137, "segv": 139, "no program": 127, "no library": 127, "0": 1, "3": 3}
NODES = "BA"  # two ranks on each; the launcher is on A
pytestmark = pytest.mark.usefixtures("four_hosts")

Case = tuple[str, str, str, str]
"""How it ends, when, who does, and where the ranks are."""

EVERY_CASE: list[Case] = list(
    itertools.product(STATUS, ["before", "in"], ["0", "3", "all"], ["host", "hosts", "replicas"])
)


def features(case: Case) -> list[covering.Feature]:
    return list(zip(("how", "when", "who", "where"), case, strict=True))


@pytest.fixture(scope="module")
def without_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose shared library is not there any more."""
    folder = tmp_path_factory.mktemp("linked")
    library, program = folder / "libgone.so", folder / "needs_it"
    (folder / "gone.c").write_text("int gone(void) { return 0; }")
    (folder / "needs_it.c").write_text("int gone(void); int main(void) { return gone(); }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "gone.c"], check=True)
    subprocess.run(["cc", "-o", program, folder / "needs_it.c", library], check=True)
    library.unlink()
    return program


def run(how: str, when: str, who: str, where: str, folder: Path) -> jobs.Ended:
    program: list[str | Path] = [PROGRAM, how, who, when]
    if where != "hosts":
        return jobs.resprout_run(RANKS, program, ["--replicas", "2"] if where == "replicas" else [])
    hostfile = folder / "hosts"
    hostfile.write_text("".join(f"node{host} slots=2\n" for host in NODES))
    words: list[str | Path] = [jobs.RESPROUT, "run", "-n", str(RANKS), "--hostfile", hostfile]
    words += ["--run-dir", folder, "--", *program]
    with whole_hosts.shared(folder):
        return jobs.run([namespaces.TOOL, "in", "A", *words], whole_hosts.variables(folder))


@pytest.mark.parametrize(("how", "when", "who", "where"), covering.chosen(EVERY_CASE, features))
def test_others_do_not_wait_for_ever(
    how: str, when: str, who: str, where: str, tmp_path: Path, without_library: Path
) -> None:
    word = {"no program": "exec:/no/such/program", "no library": f"exec:{without_library}"}
    ended = run(word.get(how, how), when, who, where, tmp_path)
    assert "are here" not in ended.out, str(ended)
    if who == "all":
        # Nobody waits. Nor is MPI used by those that exit before.
        is_quiet = (how, when) == ("0", "before")
        assert ended.status in ((0,) if is_quiet else (STATUS[how], 137)), str(ended)
    elif where == "replicas":
        assert ended.status != 0, str(ended)
    else:
        assert ended.status == STATUS[how], str(ended)
        assert f"resprout: rank {who} " in ended.err and "MPI_Init" in ended.err, str(ended)


@pytest.mark.parametrize("limit", ["-v 4000000", "-f 2000000", "-f 500000"])
def test_limits_of_a_batch_system_are_borne(limit: str) -> None:
    command = ["bash", "-c", f'ulimit {limit}; exec "$0" "$@"', jobs.RESPROUT, "run", "-n", "4"]
    ended = jobs.run([*command, "--", PROGRAM, "kill", "-1"])
    assert (ended.status, ended.out) == (0, "4 are here\n"), str(ended)


def test_programs_without_mpi_run_to_their_ends() -> None:
    ended = jobs.resprout_run(2, ["sh", "-c", 'echo here; exit "$OMPI_COMM_WORLD_RANK"'])
    assert (ended.status, ended.out) == (1, "here\nhere\n"), str(ended)
