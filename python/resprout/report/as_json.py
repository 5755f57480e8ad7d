"""The report as JSON, for programs; docs/reference/report.md has the schema."""

import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from resprout import __version__
from resprout.errors import UserError
from resprout.files import replacing
from resprout.report.job import Loss, PlaneEnd, Report

SCHEMA = 1


def to_json(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "resprout": __version__,
        "command": list(report.command),
        "mpi": report.mpi,
        "on_loss": report.on_loss,
        "ranks": report.ranks,
        "started_ns": report.started_ns,
        "ended_ns": report.ended_ns,
        "exit_status": report.exit_status,
        "mpirun_status": report.mpirun_status,
        "losses": [_loss_to_json(loss, report.started_ns) for loss in report.losses],
        "touched": [asdict(operation) for operation in report.touched],
        "unanswered": [asdict(call) for call in report.unanswered],
        "recovery_ns": report.recovery_ns,
        "operations": {name: asdict(tally) for name, tally in report.operations.items()},
        "calls_of_ranks": report.calls_of_ranks,
        "transport": report.transport,
        "missing": list(report.missing),
        "unprotected": list(report.unprotected),
        "call_timeouts": [asdict(found) for found in report.call_timeouts],
        "flipped": [asdict(flip) for flip in report.flipped],
        "faults_left": list(report.faults_left),
        "verification": _verification_to_json(report),
        "views": None if report.views is None else [asdict(view) for view in report.views],
        "tree": None if report.tree is None else asdict(report.tree),
        "corruptions": [asdict(found) for found in report.corruptions],
        "undecided": [asdict(call) for call in report.undecided],
        "replicas": report.replicas,
        "on_replica_loss": report.on_replica_loss,
        "replicas_left": list(report.replicas_left),
        "lives": [asdict(life) for life in report.lives],
        "planes": [_plane_to_json(plane) for plane in report.planes],
    }


def _verification_to_json(report: Report) -> dict[str, Any] | None:
    done = report.verification
    if done is None:
        return None
    return {
        "method": report.verify,
        "compared": done.verified + done.unverified,
        **asdict(done),
        "total": done.total,
        "share": done.share,
        "not_compared": list(report.not_compared),
        "history": done.history.as_json(),
    }


def _plane_to_json(plane: PlaneEnd) -> dict[str, Any]:
    return {
        "replica": plane.replica,
        "how": plane.how,
        "status": plane.status,
        "ended_ns": plane.ended_ns,
        "lost_host": plane.lost_host,
        "losses": _losses_of(plane),
        "returns": [
            {
                "started_ns": one.started_ns,
                "joined_ns": one.joined_ns,
                "checkpoint": one.checkpoint,
                "how": one.before.how,
                "losses": _losses_of(one.before),
            }
            for one in plane.returns
        ],
    }


def _losses_of(plane: PlaneEnd) -> list[dict[str, Any]]:
    return [_loss_to_json(loss, plane.report.started_ns) for loss in plane.report.losses]


def _loss_to_json(loss: Loss, started_ns: int) -> dict[str, Any]:
    at_ns = None if loss.when_ns is None else loss.when_ns - started_ns
    value = asdict(loss)
    value["touched"] = [
        {
            "operation": operation.operation,
            "number": operation.number,
            "communicator": operation.communicator,
        }
        for operation in loss.touched
    ]
    return {**value, "at_ns": at_ns, "delay_ns": loss.delay_ns, "cost_ns": loss.cost_ns}


def check_writable(path: Path) -> None:
    """Fail before the job starts, not after it."""
    if str(path) == "-":
        raise UserError("--report: - is no file; for behind the program's output say /dev/stdout")
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise UserError(f"--report: {path} cannot be written: {error.strerror}") from error


def write(report: Report, path: Path) -> None:
    """The job is over by now: what cannot be written there must not be lost."""
    text = json.dumps(to_json(report), indent=2) + "\n"
    try:
        _write(text, path)
    except OSError as error:
        print(
            f"resprout: --report: {path} cannot be written: {error.strerror}; {_elsewhere(text)}",
            file=sys.stderr,
        )


def _write(text: str, path: Path) -> None:
    if path.is_file():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    else:
        path.write_text(text, encoding="utf-8")


def _elsewhere(text: str) -> str:
    """Leaves it where there is room, and says where."""
    try:
        descriptor, name = tempfile.mkstemp(prefix="resprout-report-", suffix=".json")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return f"it follows here\n{text.rstrip()}"
    return f"it is in {name}"
