"""Runs a program in several planes and puts their reports together."""

import contextlib
import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resprout import log
from resprout.errors import UserError
from resprout.faults import Fault, Flip
from resprout.launch import job, stdin
from resprout.launch.command import Plan
from resprout.launch.mpi import Library, Mpi
from resprout.launch.planes import shadows
from resprout.launch.planes.placement import deal, read_hosts
from resprout.launch.planes.relay import Relay
from resprout.launch.planes.running import Running
from resprout.launch.planes.survey import check, survey
from resprout.launch.planes.voted_lines import VotedLines
from resprout.launch.shared_folder import shared_folder
from resprout.report.corruptions import NOT_COMPARED, STATUS_CORRUPTED, Corruption, Verification
from resprout.report.job import PlaneEnd, Report
from resprout.report.merge import STATUS_STRICT, STATUS_TORN, STATUS_UNVERIFIED
from resprout.report.plane_ends import decide
from resprout.report.ranks import Flipped

ONE_HOST = (
    "all replicas are on this host: they protect from the loss of processes, but not "
    "from that of the host"
)
NO_INPUT = (
    "replicas on several hosts get no input: rank 0 finds stdin at its end; give the "
    "program a file's name instead"
)


def check_planes(mpi: Mpi, texts: Mapping[str, str | None]) -> None:
    """Refuse what replicas do not go together with."""
    is_open_mpi_5 = mpi.library is Library.OPEN_MPI and mpi.major >= 5
    if not is_open_mpi_5 and not mpi.is_started_by_us:
        raise UserError(f"--replicas needs Open MPI 5 or newer, and this is {mpi} of {mpi.prefix}")
    if texts.get("--on-loss") == "error":
        raise UserError(
            "--replicas does not go together with --on-loss error: a plane that loses a rank ends, "
            "and its siblings go on; no call returns an error for it"
        )
    if texts.get("--on-unanswered") is not None:
        raise UserError(
            "--replicas does not go together with --on-unanswered: siblings have what a lost rank "
            "would have said"
        )
    if texts.get("--missing") not in (None, "nothing"):
        raise UserError(
            "--replicas does not go together with --missing: a plane that loses a rank ends, so "
            "no contribution is missing"
        )


def planes_of(plan: Plan, replicas: int, faults: Sequence[Fault | Flip]) -> list[Plan]:
    """One plan a plane."""
    plans = []
    answers = {**_clocks_of(plan), **_system_of(plan)}
    for replica in range(replicas):
        mine = [fault for fault in faults if fault.replica == replica]
        variables = {**plan.variables, **answers, "RESPROUT_REPLICA": str(replica)}
        if mine:
            variables["RESPROUT_INJECT"] = ";".join(map(str, mine))
        plans.append(replace(plan, variables=variables, planes=replicas))
    return plans


def _clocks_of(plan: Plan) -> dict[str, str]:
    """With decided clocks what all ranks read until they have MPI: from now on."""
    if not _is_decided(plan, "RESPROUT_CLOCKS"):
        return {}
    return {"RESPROUT_CLOCKS": f"decided:{time.time_ns()}:{time.monotonic_ns()}"}


def _system_of(plan: Plan) -> dict[str, str]:
    """With decided answers the key of all random numbers until then."""
    if not _is_decided(plan, "RESPROUT_SYSTEM"):
        return {}
    return {"RESPROUT_SYSTEM": f"decided:{secrets.token_hex(32)}"}


def _is_decided(plan: Plan, variable: str) -> bool:
    is_own = plan.variables.get(variable) == "own"
    return not is_own and (plan.verify != "none" or plan.stands_in)


def execute(plans: Sequence[Plan], parent: str | None, strict: bool) -> Report:
    """Run all planes to their ends. REQUIRES: the main thread."""
    voted = _voted_lines(plans[0])
    ranks = sum(plan.ranks for plan in plans)
    with job.run_directory(parent, ranks) as directory, shared_folder(plans[0]) as shared:
        relay = Relay(len(plans), str(directory), stands_in=plans[0].stands_in, voted=voted)
        _make_secret(directory)
        if plans[0].is_on_several_hosts:
            (directory / "several-hosts").touch()
        placed = list(_placed(plans, directory))
        if plans[0].hostfile is not None:
            _check_hosts(placed, directory)
        running = Running(placed, directory, shared, relay)
        # With gaps planes live on, and none is started again.
        more = None if plans[0].stands_in else running.more
        job.run_all(
            running.starts, relay.start, running.on_end, running.look, more, running.on_signal
        )
        relay.join()
        planes = running.planes()
        chosen = decide(planes)
        is_torn = _settle_files(directory, planes)
    # Of lost ranks for which others stood in it need not complain.
    if chosen.is_lost or (chosen.status != 0 and chosen.how != "gaps"):
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            os.write(2, running.own_words(chosen.replica))
    has_doubts = running.see_what_differs_in_output()
    report = _report_of(plans, planes, running.output_found, strict)
    if has_doubts:
        report = replace(report, exit_status=STATUS_CORRUPTED)
    if running.has_to_fail(0 if report.verification is None else report.verification.unverified):
        report = replace(report, exit_status=STATUS_UNVERIFIED)
    if is_torn and report.exit_status == 0:
        report = replace(report, exit_status=STATUS_TORN)
    if not plans[0].stands_in:
        return report
    return replace(report, on_replica_loss="stand-in", replicas_left=running.replicas_left())


def _settle_files(directory: Path, planes: Sequence[PlaneEnd]) -> bool:
    """Those of the plane that counts become the user's. True: with gaps, some are in no plane."""
    chosen = decide(planes)
    if chosen.how != "gaps":
        shadows.settle(directory, chosen.replica)
        return False
    others = [p for p in planes if p is not chosen and p.ending == chosen.ending and not p.is_lost]
    whole = {p.replica for p in planes if p.how == "whole"}
    return shadows.settle_with_gaps(directory, [p.replica for p in (chosen, *others)], whole)


def _voted_lines(plan: Plan) -> VotedLines | None:
    if plan.variables.get("RESPROUT_COMMIT_OUTPUT") != "voted":
        return None
    shows_undecided = plan.variables.get("RESPROUT_ON_CORRUPTION") == "report"
    return VotedLines(plan.planes, plan.stands_in, shows_undecided)


def _report_of(
    plans: Sequence[Plan],
    planes: tuple[PlaneEnd, ...],
    output_found: Sequence[Corruption],
    strict: bool,
) -> Report:
    """That of the plane whose end is the job's, with what is to be said of all."""
    chosen = decide(planes)
    launches = [launch for plane in planes for launch in plane.launches]
    has_loss = any(launch.has_lost for launch in launches)
    figures = [one.report.verification for one in launches if one.report.verification is not None]
    verification = sum(figures, Verification()) if figures else None
    found = [*output_found, *(one for launch in launches for one in launch.report.corruptions)]
    is_flawed = has_loss or bool(found)
    is_flawed = is_flawed or (verification is not None and not verification.is_complete)
    status = STATUS_STRICT if strict and is_flawed and chosen.status == 0 else chosen.status
    return replace(
        chosen.report,
        exit_status=status,
        verify=plans[0].verify,
        not_compared=tuple(
            one for one in NOT_COMPARED if one != "stdout" or _voted_lines(plans[0]) is None
        ),
        verification=verification,
        undecided=tuple(dict.fromkeys(call for one in launches for call in one.report.undecided)),
        corruptions=tuple(sorted(found, key=lambda one: (one.found_ns, one.replica, one.rank))),
        replicas=len(planes),
        planes=planes,
        flipped=_flipped(launches),
        faults_left=tuple(
            f"{fault},replica={launch.replica}"
            for launch in launches
            for fault in launch.report.faults_left
        ),
    )


def _flipped(launches: Sequence[PlaneEnd]) -> tuple[Flipped, ...]:
    """Of all, in the order of their times."""
    flips = (replace(f, replica=one.replica) for one in launches for f in one.report.flipped)
    return tuple(sorted(flips, key=lambda flip: (flip.flipped_ns, flip.replica, flip.rank)))


def _make_secret(directory: Path) -> None:
    """By which the processes of different planes know each other."""
    descriptor = os.open(directory / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(32))


def _placed(plans: Sequence[Plan], directory: Path) -> Iterator[Plan]:
    """With host files of their own, if there is one for all."""
    if plans[0].hostfile is None:
        yield from plans
        return
    dealt = deal(read_hosts(Path(plans[0].hostfile)), len(plans), plans[0].share_hosts)
    for replica, (plan, lines) in enumerate(zip(plans, dealt, strict=True)):
        path = directory / f"hosts-{replica}"
        path.write_text("".join(f"{line}\n" for line in lines))
        yield replace(plan, hostfile=str(path))


def _check_hosts(plans: Sequence[Plan], directory: Path) -> None:
    remark = check(survey(plans, directory), directory, plans[0].share_hosts)
    if remark is not None:
        log.warn(remark)
    if stdin.is_given():
        log.warn(NO_INPUT)
