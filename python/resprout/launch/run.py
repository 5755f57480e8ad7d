"""What `resprout run` does: check everything, run the job, report, give the program's status."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from resprout import log
from resprout.calibration.store import text_for_ranks
from resprout.errors import UserError
from resprout.faults import parse_faults
from resprout.launch import job
from resprout.launch.command import Plan, check_program
from resprout.launch.latecomers import Latecomers
from resprout.launch.lives.files import Files
from resprout.launch.lives.hosts import Hosts
from resprout.launch.lives.lives import Course
from resprout.launch.lives.patience import MAX_RESTARTS, SHORT_LIFE_SECONDS, Patience
from resprout.launch.lives.run import (
    check_command,
    check_restarts,
    check_standby,
    later_plan,
)
from resprout.launch.lives.run import execute as execute_lives
from resprout.launch.metrics import Metrics
from resprout.launch.mpi import find_mpi
from resprout.launch.order import read_order
from resprout.launch.own.limits import check_alone, check_own
from resprout.launch.parts import Part, split
from resprout.launch.planes.placement import deal, read_hosts
from resprout.launch.planes.run import ONE_HOST, check_planes, planes_of
from resprout.launch.planes.run import execute as execute_planes
from resprout.launch.protection import unprotected_program
from resprout.launch.shim import check_fits, find_shim, shim_for
from resprout.launch.slurm import check_step
from resprout.options import BY_FLAG, check_environment, check_value
from resprout.report.as_json import check_writable, write
from resprout.report.job import Report
from resprout.report.merge import merge
from resprout.report.plane_ends import different, stragglers
from resprout.report.ranks import read_parts
from resprout.report.show import show

_COLLECTIVES = BY_FLAG["--collectives"].variable
_OPERATION_OF = {"--bcast": "broadcast", "--allreduce": "allreduce"}


@dataclass(frozen=True)
class Request:
    """What the user asks for, unchecked."""

    ranks: int
    """Of the first program, if there are several."""
    program: Sequence[str]
    texts: Mapping[str, str | None] = field(default_factory=dict)
    """By flag; what goes to the ranks as it is."""
    inject: Sequence[str] = ()
    report: Path | None = None
    strict: bool = False
    calibration: str | None = None
    mpi: str | None = None
    order: Path | None = None
    hostfile: str | None = None
    replica_hosts: str | None = None
    mpirun_args: Sequence[str] = ()
    run_dir: Path | None = None
    metrics: Path | None = None
    log_level: str | None = None
    verbose: bool = False
    config: Path | None = None
    """The file that options were taken from, too."""
    max_restarts: str | None = None
    restart_command: str | None = None
    short_life: str | None = None
    spares: str | None = None
    spare_hosts: str | None = None
    standby: bool = False
    files: Files = field(default_factory=Files)

    @property
    def level(self) -> log.Level:
        """Raises UserError if it is none."""
        if self.log_level is None:
            return log.Level.info if self.verbose else log.Level.warning
        return log.Level[check_value("--log-level", self.log_level)]

    @property
    def parts(self) -> list[Part]:
        """The programs. Raises UserError if they are not separated as they should be."""
        return split(self.ranks, self.program)

    @property
    def size(self) -> int:
        """How many ranks there are in all."""
        return sum(part.ranks for part in self.parts)

    @property
    def restarts(self) -> bool:
        return self.texts.get("--on-loss") == "restart"

    @property
    def patience(self) -> Patience:
        """Raises UserError if its options are wrong."""
        restarts = self.max_restarts or str(MAX_RESTARTS)
        seconds = self.short_life or str(SHORT_LIFE_SECONDS)
        return Patience(
            int(check_value("--max-restarts", restarts)),
            float(check_value("--short-life", seconds)),
        )


def run(request: Request) -> int:
    check_environment(os.environ)
    check_step(os.environ)
    log.set_level(request.level)
    plan = make_plan(request, find_shim())
    if request.report is not None:
        check_writable(request.report)
    metrics = _metrics_of(plan, request)
    report = execute(plan if metrics is None else replace(plan, watcher=metrics.look), request)
    if metrics is not None:
        metrics.end(report)
    if request.inject and not (report.calls_of_ranks or report.losses or report.missing):
        faults = ", ".join(request.inject)
        log.warn(f"did not come about, as no rank has called MPI_Init: {faults}")
    if request.report is not None:
        write(report, request.report)
    is_told = is_worth_a_word(report) or request.report is not None
    if log.says(log.Level.warning if is_told else log.Level.info):
        show(report)
    return report.exit_status


def _metrics_of(plan: Plan, request: Request) -> Metrics | None:
    if request.metrics is None:
        return None
    on_loss = plan.variables.get("RESPROUT_ON_LOSS", "continue")
    mpi = str(plan.mpi)
    return Metrics(request.metrics, plan.ranks, mpi=mpi, on_loss=on_loss, replicas=plan.planes)


def is_worth_a_word(report: Report) -> bool:
    """Whether something happened of which the user has to hear."""
    has_lost_plane = any(plane.has_lost or plane.returns for plane in report.planes)
    is_flipped = bool(report.flipped or report.faults_left or report.corruptions)
    is_odd = bool(stragglers(report.planes) or different(report.planes))
    is_lost = bool(report.losses or report.missing or report.unprotected)
    return is_lost or is_flipped or has_lost_plane or is_odd


def make_plan(request: Request, shim: Path | None) -> Plan:
    """Everything that can be wrong is found here, in one line, before anything is started."""
    variables = _variables(request)
    _check_restarts(request)
    variables |= request.files.variables(request.size)
    parts = request.parts
    for part in parts:
        check_program(part.program, is_local=request.hostfile is None and not request.mpirun_args)
    if request.hostfile is not None and not Path(request.hostfile).is_file():
        raise UserError(f"--hostfile: {request.hostfile} is no file")
    mpi = find_mpi(request.mpi, os.environ, parts[0].program)
    if mpi.is_started_by_us:
        shim = shim_for(mpi)
        check_own(mpi, request.texts, request.hostfile, request.mpirun_args)
        if shim is None:
            check_alone(mpi, request.texts, request.inject)
    found = [unprotected_program(part.program) for part in parts] if shim is not None else [None]
    # If others are protected, so is the job as a whole; the rest is found while it runs.
    unprotected = found[0] if all(found) else None
    if replicas_of(request) > 1:
        if unprotected is not None:
            raise UserError(unprotected.describe("--replicas cannot run"))
        check_planes(mpi, request.texts)
        if request.hostfile is not None:
            hosts = read_hosts(Path(request.hostfile))
            deal(hosts, replicas_of(request), _may_share_hosts(request))
    if request.run_dir is not None and not os.access(request.run_dir, os.W_OK | os.X_OK):
        raise UserError(f"--run-dir: {request.run_dir} is no folder that can be written to")
    if shim is not None:
        check_fits(shim, mpi)
        if variables.get(_COLLECTIVES, "auto") == "auto":
            measured = text_for_ranks(request.calibration, str(mpi), os.environ)
            variables |= {_COLLECTIVES: f"auto:{measured}"} if measured else {}
    plan = Plan(
        mpi=mpi,
        ranks=request.size,
        program=request.program,
        parts=parts if len(parts) > 1 else (),
        shim=shim,
        variables=variables,
        hostfile=request.hostfile,
        mpirun_args=request.mpirun_args,
        planes=replicas_of(request),
        share_hosts=_may_share_hosts(request),
        unprotected=unprotected,
    )
    if request.standby:
        check_standby(plan, request.restart_command)
    return plan


def _may_share_hosts(request: Request) -> bool:
    if request.replica_hosts is None:
        return False
    check_value("--replica-hosts", request.replica_hosts)
    if replicas_of(request) == 1 or request.hostfile is None:
        raise UserError("--replica-hosts needs --replicas 2 or 3 and --hostfile")
    return request.replica_hosts == "shared"


def _hosts_of(request: Request) -> Hosts | None:
    """Those of a job that is started again."""
    spares = int(check_value("--spares", request.spares or "0"))
    spare_hosts = int(check_value("--spare-hosts", request.spare_hosts or "0"))
    if request.hostfile is None:
        if spares or spare_hosts:
            flag = "--spares" if spares else "--spare-hosts"
            raise UserError(f"{flag} needs --hostfile, which names the hosts")
        return None
    return Hosts(read_hosts(Path(request.hostfile)), request.size, spares, spare_hosts)


def _check_restarts(request: Request) -> None:
    given = {flag for flag, text in request.texts.items() if text is not None}
    if request.restarts:
        named = [*given, *(["--order"] if request.order is not None else [])]
        check_restarts(named, replicas_of(request))
        assert request.patience
        _hosts_of(request)
        is_local = request.hostfile is None and not request.mpirun_args
        check_command(request.restart_command, request.ranks, request.size, is_local)
        return
    later = {
        "--max-restarts": request.max_restarts,
        "--restart-command": request.restart_command,
        "--short-life": request.short_life,
        "--spares": request.spares,
        "--spare-hosts": request.spare_hosts,
        "--standby": "1" if request.standby else None,
    }
    for flag, text in later.items():
        if text is not None:
            raise UserError(f"{flag} needs --on-loss restart: no job is started again without it")
    if request.files.flags:
        flag = request.files.flags[0]
        raise UserError(f"{flag} needs --on-loss restart: no checkpoints are kept without it")


def replicas_of(request: Request) -> int:
    """How many processes each rank is."""
    return int(request.texts.get("--replicas") or 1)


def execute(plan: Plan, request: Request) -> Report:
    """Run the job to its end."""
    if log.says(log.Level.info):
        copies = f" of {plan.planes} replicas" if plan.planes > 1 else ""
        where = f"{plan.mpi} of {plan.mpi.prefix}"
        log.info(f"{plan.ranks} ranks{copies} with {where}")
        if request.config is not None:
            log.info(f"  options that were not given come from {request.config}")
        for setting in plan.settings():
            log.info(f"  {setting}  ({setting.reason})")
        if plan.variables.get(_COLLECTIVES, "").startswith("auto:"):
            log.info("  collectives as measured on this machine")
    for name, value in plan.variables.items():
        log.debug(f"  {name}={value}")
    if log.says(log.Level.debug):
        log.debug(shlex.join(plan.arguments()))
    if plan.unprotected is not None:
        log.warn(plan.unprotected.describe("all ranks run"))
    parent = None if request.run_dir is None else str(request.run_dir)
    if plan.planes > 1:
        faults = parse_faults(request.inject, request.size, plan.planes)
        if plan.hostfile is None:
            log.warn(ONE_HOST)
        return execute_planes(planes_of(plan, plan.planes, faults), parent, request.strict)
    if plan.restarts:
        later = later_plan(plan, request.restart_command, request.ranks)
        course = Course(plan, later, request.patience, request.standby)
        return execute_lives(course, _hosts_of(request), parent, request.strict)
    with job.run_directory(parent, plan.ranks) as directory:
        latecomers = latecomers_of(plan, directory)
        end = job.run(plan, directory, look=latecomers.look)
        parts = read_parts(directory)
    return merge(
        parts,
        end,
        ranks=plan.ranks,
        command=plan.program,
        mpi=str(plan.mpi),
        on_loss=plan.variables.get("RESPROUT_ON_LOSS", "continue"),
        strict=request.strict,
        unprotected=range(plan.ranks) if plan.unprotected is not None else end.unprotected,
        call_timeouts=latecomers.found,
    )


def _variables(request: Request) -> dict[str, str]:
    """RESPROUT_* for the ranks."""
    variables = {}
    for flag, text in request.texts.items():
        if text is not None:
            checked = check_spec(flag, text) if flag in _OPERATION_OF else check_value(flag, text)
            variables[BY_FLAG[flag].variable] = checked
    period = int(variables.get("RESPROUT_HEARTBEAT_PERIOD_MS", "100"))
    timeout = int(variables.get("RESPROUT_HEARTBEAT_TIMEOUT_MS", "1000"))
    if timeout <= period:
        raise UserError(
            f"--heartbeat-timeout ({timeout} ms) must be greater than "
            f"--heartbeat-period ({period} ms)"
        )
    is_error_mode = request.texts.get("--on-loss") == "error"
    if is_error_mode and request.texts.get("--on-unanswered") in ("ignore", "abort"):
        raise UserError(
            "--on-unanswered ignore and abort do not go together with --on-loss error, where the "
            "error handler hears of each loss"
        )
    replicas = replicas_of(request)
    _check_what_replicas_do(request)
    _check_call_timeout(request)
    has_tree_option = request.texts.get("--radix") is not None or request.order is not None
    if replicas > 1 and has_tree_option:
        flag = "--order" if request.texts.get("--radix") is None else "--radix"
        raise UserError(f"{flag} is for jobs without --replicas: planes agree on no views")
    if request.order is not None:
        variables[BY_FLAG["--order"].variable] = read_order(request.order)
    # Each plane gets those that are meant for it.
    if (faults := parse_faults(request.inject, request.size, replicas)) and replicas == 1:
        variables["RESPROUT_INJECT"] = ";".join(map(str, faults))
    if log.says(log.Level.info):
        variables["RESPROUT_VERBOSE"] = "1"
    return variables


def _check_call_timeout(request: Request) -> None:
    is_timed = request.texts.get("--call-timeout") not in (None, "none")
    if is_timed and replicas_of(request) > 1:
        raise UserError(
            "--call-timeout is for jobs without --replicas: with them --straggler-wait says how "
            "long a process may stand still"
        )
    if request.texts.get("--on-call-timeout") is not None and not is_timed:
        raise UserError("--on-call-timeout needs --call-timeout SECONDS")


def latecomers_of(plan: Plan, directory: Path) -> Latecomers:
    """Of a job without replicas."""
    seconds = plan.variables.get("RESPROUT_CALL_TIMEOUT", "none")
    then = plan.variables.get("RESPROUT_ON_CALL_TIMEOUT", "report")
    return Latecomers(directory, plan.ranks, None if seconds == "none" else float(seconds), then)


def _check_what_replicas_do(request: Request) -> None:
    """Options that say something only together with others."""
    replicas = replicas_of(request)
    for flag in ("--verify", "--on-corruption"):
        if replicas == 1 and request.texts.get(flag) not in (None, "none"):
            raise UserError(f"{flag} needs --replicas 2 or 3: there is nothing to compare with")
    if replicas == 1 and request.texts.get("--straggler-wait") is not None:
        raise UserError(
            "--straggler-wait needs --replicas 2 or 3: there are no replicas that could go on"
        )
    if replicas == 1 and request.texts.get("--on-replica-loss") is not None:
        raise UserError("--on-replica-loss needs --replicas 2 or 3: there are no replicas to lose")
    verify = request.texts.get("--verify")
    is_compared = verify not in (None, "none")
    stands_in = request.texts.get("--on-replica-loss") == "stand-in"
    for flag in ("--clocks", "--system"):
        if request.texts.get(flag) is not None and not (is_compared or stands_in):
            raise UserError(
                f"{flag} needs --verify all-to-all, msg-plus-hash, async or async-hash, or "
                "--on-replica-loss stand-in: without them it does not matter what replicas read"
            )
    for flag in ("--on-unverified", "--commit-output"):
        if request.texts.get(flag) not in (None, "go-on", "first") and not is_compared:
            raise UserError(
                f"{flag} {request.texts[flag]} needs --verify all-to-all, msg-plus-hash, async or "
                "async-hash: without it nothing is compared"
            )
    if stands_in and request.texts.get("--on-unverified") == "wait":
        raise UserError(
            "--on-unverified wait does not go together with --on-replica-loss stand-in: no plane "
            "comes back there; use go-on or abort, or --on-replica-loss end-plane"
        )
    if request.texts.get("--shadow-lag") is not None and verify not in ("async", "async-hash"):
        raise UserError(
            "--shadow-lag needs --verify async or async-hash: without it replicas do not wait for "
            "each other, with another method they do for every message"
        )


def check_spec(flag: str, spec: str) -> str:
    """The spec of a protocol, if it is one for this operation."""
    from resprout import native

    try:
        native.check_spec(spec)
    except ValueError as error:
        raise UserError(f"{flag} {spec}: {error}") from error
    fitting = [p["name"] for p in native.protocols() if p["operation"] == _OPERATION_OF[flag]]
    if spec.partition(":")[0] not in fitting:
        raise UserError(f"{flag}: {spec!r} is no protocol for this; there are {', '.join(fitting)}")
    return spec
