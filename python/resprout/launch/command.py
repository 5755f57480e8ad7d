"""The command line and the environment with which a job is started."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resprout.errors import UserError
from resprout.launch.metrics import Watcher
from resprout.launch.mpi import (
    PRELOAD,
    Library,
    Mpi,
    Setting,
    basic_settings_for,
    batch_settings,
    host_settings,
    launcher_settings,
    lost_host_settings,
    names_hosts,
    one_host_settings,
    other_host_settings,
    settings_for,
)
from resprout.launch.own import own_launcher
from resprout.launch.parts import SEPARATOR, Part
from resprout.launch.protection import Unprotected
from resprout.launch.shim import FOR_LAUNCHER, START, find_shim, preload, preload_last
from resprout.options import OF_A_RANK, OPTIONS


@dataclass(frozen=True)
class Plan:
    """A job that can be started: all of it is checked."""

    mpi: Mpi
    ranks: int
    program: Sequence[str]
    shim: Path | None
    """Nothing: the program runs without Resprout."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """RESPROUT_* for the ranks."""
    hostfile: str | None = None
    mpirun_args: Sequence[str] = ()
    planes: int = 1
    """This is one of so many that run side by side."""
    share_hosts: bool = False
    """Replicas of a rank may be on one host."""
    settings_of_job: Sequence[Setting] = ()
    parts: Sequence[Part] = ()
    """The ranks in their order, if they do not all run the same program."""
    unprotected: Unprotected | None = None
    """It cannot be: the job is what it is without Resprout."""
    watcher: Watcher | None = None
    """Who wants to know how it stands."""

    @property
    def relays_stdin(self) -> bool:
        return self.has_prrte or self.mpi.is_started_by_us

    @property
    def has_prrte(self) -> bool:
        """Its launcher is that of Open MPI 5."""
        return self.mpi.library is Library.OPEN_MPI and self.mpi.major >= 5

    @property
    def stands_in(self) -> bool:
        """Replicas do for lost ranks of other planes, which go on."""
        return self.variables.get("RESPROUT_ON_REPLICA_LOSS") == "stand-in"

    @property
    def restarts(self) -> bool:
        """The job is started again when it has lost a rank."""
        return self.variables.get("RESPROUT_ON_LOSS") == "restart"

    @property
    def replica(self) -> int:
        """Which of the planes it is."""
        return int(self.variables.get("RESPROUT_REPLICA", "0"))

    @property
    def verify(self) -> str:
        """How replicas are compared, or `none`."""
        return self.variables.get("RESPROUT_VERIFY", "none")

    @property
    def is_on_several_hosts(self) -> bool:
        return self.hostfile is not None or bool(self.mpirun_args)

    @property
    def may_reach_other_hosts(self) -> bool:
        """They are named, or a batch system names them to mpirun."""
        if self.mpi.is_started_by_us:
            return self.hostfile is not None
        return self.is_on_several_hosts or names_hosts(self.mpi, os.environ)

    @property
    def outlives_hosts(self) -> bool:
        """It goes on when a host is lost that is not mpirun's. Planes are lost with their hosts."""
        return (
            self.planes == 1 and not self.restarts and self.shim is not None and self.mpi.has_ulfm
        )

    def settings(self) -> list[Setting]:
        if self.unprotected is not None:
            return basic_settings_for(self.mpi, self.ranks)
        settings = settings_for(self.mpi, self.ranks, self.planes, self.stands_in, self.restarts)
        if self.may_reach_other_hosts:
            settings += [*host_settings(self.mpi), *batch_settings(self.mpi, os.environ)]
            if self.outlives_hosts:
                settings += lost_host_settings()
        else:
            settings += one_host_settings(self.mpi)
        if self.shim is not None and self.has_prrte:
            library = find_shim(FOR_LAUNCHER)
            settings += launcher_settings(preload_last(library), self.restarts)
            if self.may_reach_other_hosts:
                settings += other_host_settings(str(library))
        return [*settings, *self.settings_of_job]

    def arguments(self) -> list[str]:
        """The command line of the launcher."""
        is_open_mpi = self.mpi.library is Library.OPEN_MPI
        words = (
            own_launcher(self.shim is None, self.planes > 1, self.hostfile)
            if self.mpi.is_started_by_us
            else [str(self.mpi.launcher)]
        )
        for setting in self.settings():
            if setting.is_argument:
                words += [setting.name, setting.value] if setting.value else [setting.name]
        if self.hostfile is not None and self.mpi.library is Library.UNKNOWN:
            words += ["-f", self.hostfile]
        start = [str(find_shim(START)), preload(self.shim, self.mpi.preloaded)]
        parts = self.parts or [Part(self.ranks, self.program)]
        for index, part in enumerate(parts):
            words += [SEPARATOR] if index > 0 else []
            words += ["-n", str(part.ranks)]
            # What mpirun is told of one program it does not know of the next one.
            if is_open_mpi and self.hostfile is not None:
                words += ["--hostfile", self.hostfile]
            if is_open_mpi:
                for name in sorted({*self.variables, "RESPROUT_RUN_DIR"}):
                    words += ["-x", name]
            words += self.mpirun_args if index == 0 else []
            words += [*start, *part.program]
        return words

    def environment(self, run_directory: Path) -> dict[str, str]:
        """The environment of the launcher; what the user has set of the MPI's variables stays."""
        ours = {*OF_A_RANK, *(option.variable for option in OPTIONS)}
        environment = {k: v for k, v in os.environ.items() if k not in ours}
        for setting in self.settings():
            if setting.name == PRELOAD:  # what the user has there is in it
                environment[PRELOAD] = setting.value
            elif not setting.is_argument:
                environment.setdefault(setting.name, setting.value)
        environment.update(self.variables)
        environment["RESPROUT_RUN_DIR"] = str(run_directory)
        return environment


def check_program(program: Sequence[str], is_local: bool) -> None:
    """Refuse a program that is not there, where we can know it."""
    if not program:
        raise UserError("no program given; as in `resprout run -n 4 -- ./program argument`")
    if is_local and shutil.which(program[0]) is None:
        advice = ""
        if Path(program[0]).is_file():
            may_run = os.access(program[0], os.X_OK)
            advice = (
                f"; did you mean ./{program[0]}?" if may_run else ": the file is not executable"
            )
        raise UserError(f"{program[0]} is not a program that can be run{advice}")
