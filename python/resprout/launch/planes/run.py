"""Runs a program in several planes and puts their reports together."""

import contextlib
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resprout.errors import UserError
from resprout.faults import Fault, Flip
from resprout.launch import job, stdin
from resprout.launch.command import Plan
from resprout.launch.mpi import Library, Mpi, Setting
from resprout.launch.planes.loss_watch import LossWatch
from resprout.launch.planes.outcome import PlaneEnd, decide, how_it_ended, lost_host
from resprout.launch.planes.placement import deal, read_hosts
from resprout.launch.planes.relay import Relay
from resprout.launch.planes.stragglers import Stragglers, seconds_of
from resprout.launch.planes.survey import check, survey
from resprout.report.corruptions import STATUS_CORRUPTED, Verification
from resprout.report.merge import STATUS_KILLED, STATUS_STRICT, Loss, Report, merge
from resprout.report.ranks import Flipped, read_parts

_SHARED = Path("/dev/shm")
ONE_HOST = (
    "resprout: all replicas are on this host: they protect from the loss of processes, but not "
    "from that of the host"
)
NO_INPUT = (
    "resprout: replicas on several hosts get no input: rank 0 finds stdin at its end; give the "
    "program a file's name instead"
)


def check_planes(mpi: Mpi, texts: Mapping[str, str | None]) -> None:
    """Refuse what replicas do not go together with."""
    if mpi.library is not Library.OPEN_MPI or mpi.major < 5:
        raise UserError(f"--replicas needs Open MPI 5 or newer, and this is {mpi} of {mpi.prefix}")
    if texts.get("--on-loss") == "error":
        raise UserError(
            "--replicas does not go together with --on-loss error: a plane that loses a rank ends, "
            "and its siblings go on; no call returns an error for it"
        )
    if texts.get("--missing") not in (None, "nothing"):
        raise UserError(
            "--replicas does not go together with --missing: a plane that loses a rank ends, so "
            "no contribution is missing"
        )


def planes_of(plan: Plan, replicas: int, faults: Sequence[Fault | Flip]) -> list[Plan]:
    """One plan a plane."""
    plans = []
    for replica in range(replicas):
        mine = [fault for fault in faults if fault.replica == replica]
        variables = {**plan.variables, "RESPROUT_REPLICA": str(replica)}
        if mine:
            variables["RESPROUT_INJECT"] = ";".join(map(str, mine))
        plans.append(replace(plan, variables=variables, planes=replicas))
    return plans


def execute(plans: Sequence[Plan], parent: str | None, strict: bool) -> Report:
    """Run all planes to their ends. REQUIRES: the main thread."""
    relay = Relay(len(plans))
    ends: dict[int, PlaneEnd] = {}
    ranks = sum(plan.ranks for plan in plans)
    with job.run_directory(parent, ranks) as directory, _shared_memory(plans[0]) as shared:
        _make_secret(directory)
        has_hosts = plans[0].hostfile is not None
        if plans[0].is_on_several_hosts:
            (directory / "several-hosts").touch()
        placed_plans = list(_placed(plans, directory))
        if has_hosts:
            _check_hosts(placed_plans, directory)
        starts = []
        for replica, plan in enumerate(placed_plans):
            own = directory / f"plane-{replica}"
            own.mkdir(mode=0o700)
            placed = replace(plan, settings_of_job=_segments_in(shared, replica))
            out, err = (relay.writing_end(replica, stream) for stream in ("stdout", "stderr"))
            starts.append(job.Start(placed, own, out, err, LossWatch(own), is_fed=not has_hosts))

        stragglers = Stragglers(
            [start.directory for start in starts],
            seconds_of(plans[0].variables.get("RESPROUT_STRAGGLER_WAIT")),
        )

        def on_end(replica: int, end: job.End) -> bool:
            (directory / f"ended-{replica}").touch()
            stdin.close(starts[replica].directory)
            start = starts[replica]
            said = relay.own_words(replica)
            was_corrupted = any(plane.how == "corrupted" for plane in ends.values())
            ends[replica] = _end_of(replica, start.plan, start.directory, end, said)
            if ends[replica].is_lost:
                (directory / f"lost-{replica}").touch()
            left = [r for r in range(len(plans)) if r not in ends or not ends[r].is_lost]
            if was_corrupted and ends[replica].is_lost:
                ends[replica] = replace(ends[replica], how="ended")
            is_corrupted = was_corrupted or ends[replica].how == "corrupted"
            if replica in stragglers.ended and ends[replica].how == "lost":
                ends[replica] = replace(ends[replica], how="ended")
                relay.lose(replica)
                _tell_of_straggler(replica, len(plans))
            elif ends[replica].is_lost and left and not is_corrupted:
                relay.lose(replica)
                _tell_of_loss(ends[replica], len(plans), len(left))
            else:
                relay.finish(replica)
            return is_corrupted

        job.run_all(starts, relay.start, on_end, lambda: stragglers.look(ends))
        relay.join()
    planes = tuple(ends[replica] for replica in range(len(plans)))
    chosen = decide(planes)
    if chosen.is_lost or chosen.status != 0:
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            os.write(2, relay.own_words(chosen.replica))
    return _report_of(plans, planes, strict)


def _report_of(plans: Sequence[Plan], planes: tuple[PlaneEnd, ...], strict: bool) -> Report:
    """That of the plane whose end is the job's, with what is to be said of all."""
    chosen = decide(planes)
    has_loss = any(plane.is_lost for plane in planes)
    is_flawed = has_loss or any(plane.report.corruptions for plane in planes)
    status = STATUS_STRICT if strict and is_flawed and chosen.status == 0 else chosen.status
    verified = [p.report.verification for p in planes if p.report.verification is not None]
    return replace(
        chosen.report,
        exit_status=status,
        verify=plans[0].variables.get("RESPROUT_VERIFY", "none"),
        verification=sum(verified, Verification()) if verified else None,
        corruptions=tuple(
            sorted(
                (found for plane in planes for found in plane.report.corruptions),
                key=lambda found: (found.found_ns, found.replica, found.rank),
            )
        ),
        replicas=len(planes),
        planes=planes,
        flipped=_flipped(planes),
        faults_left=tuple(
            f"{fault},replica={plane.replica}"
            for plane in planes
            for fault in plane.report.faults_left
        ),
    )


def _flipped(planes: Sequence[PlaneEnd]) -> tuple[Flipped, ...]:
    """Of all planes, in the order of their times."""
    flips = (replace(f, replica=plane.replica) for plane in planes for f in plane.report.flipped)
    return tuple(sorted(flips, key=lambda flip: (flip.flipped_ns, flip.replica, flip.rank)))


def _make_secret(directory: Path) -> None:
    """By which the processes of different planes know each other."""
    descriptor = os.open(directory / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(32))


@contextlib.contextmanager
def _shared_memory(plan: Plan) -> Iterator[Path | None]:
    """A folder for the MPI's segments: the ranks of a lost plane are killed, and leave theirs."""
    if plan.hostfile is not None or plan.mpirun_args or not os.access(_SHARED, os.W_OK):
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="resprout-", dir=_SHARED, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def _segments_in(shared: Path | None, replica: int) -> Sequence[Setting]:
    if shared is None:
        return ()
    folder = shared / f"plane-{replica}"
    folder.mkdir()
    reason = "what the ranks of a lost plane leave there has to be found"
    return (Setting("OMPI_MCA_btl_sm_backing_directory", str(folder), reason),)


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
        print(f"resprout: {remark}", file=sys.stderr, flush=True)
    if stdin.is_given():
        print(NO_INPUT, file=sys.stderr, flush=True)


def _end_of(replica: int, plan: Plan, directory: Path, end: job.End, own_words: bytes) -> PlaneEnd:
    parts = read_parts(directory)
    report = merge(
        parts, end, ranks=plan.ranks, command=plan.program, mpi=str(plan.mpi), on_loss="continue"
    )
    report = replace(report, losses=_first_losses(report.losses))
    host = lost_host(own_words)
    how = how_it_ended(parts, end, plan.ranks, own_words)
    status = STATUS_CORRUPTED if how == "corrupted" else report.exit_status
    if host is not None and status == 0:
        status = STATUS_KILLED
    return PlaneEnd(replica, how, status, end.ended_ns, report, _in_one_line(own_words), host)


def _first_losses(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """Those that ended the plane. The others were lost with it: each rank ends when it sees one."""
    injected = tuple(loss for loss in losses if loss.fault is not None)
    return injected or tuple(sorted(losses, key=lambda loss: loss.detected_ns or 0)[:1])


def _in_one_line(words: bytes) -> str:
    lines = (line.strip() for line in words.decode(errors="replace").splitlines())
    return " ".join(line for line in lines if line.strip("-"))


def _tell_of_loss(plane: PlaneEnd, planes: int, left: int) -> None:
    ranks = ", ".join(str(loss.rank) for loss in plane.report.losses)
    if plane.how == "excluded":
        who = "a rank of it has worked with corrupted data"
    elif plane.lost_host is not None:
        who = f"it lost host {plane.lost_host}"
    else:
        who = f"it lost rank {ranks}" if ranks else "its MPI job ended early"
    others = "1 plane goes" if left == 1 else f"{left} planes go"
    with contextlib.suppress(OSError):
        print(
            f"resprout: plane {plane.replica} of {planes} is {plane.how}: {who}; {others} on",
            file=sys.stderr,
            flush=True,
        )


def _tell_of_straggler(replica: int, planes: int) -> None:
    with contextlib.suppress(OSError):
        print(
            f"resprout: plane {replica} of {planes} was ended: the others agree, and it was behind",
            file=sys.stderr,
            flush=True,
        )
