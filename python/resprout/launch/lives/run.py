"""Runs a job that is started again after each loss, and puts the reports of its lives together."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from resprout.errors import UserError
from resprout.launch import job
from resprout.launch.command import Plan, check_program
from resprout.launch.lives import words
from resprout.launch.lives.hosts import Hosts
from resprout.launch.lives.lives import Course, Lives
from resprout.launch.parts import split
from resprout.launch.shared_folder import shared_folder
from resprout.launch.shim import name_for
from resprout.report.job import Report
from resprout.report.merge import STATUS_STRICT

# Options for those who outlive a loss.
_NEEDS_SURVIVORS = {
    "--on-unanswered": "no rank outlives a loss that it could ask",
    "--missing": "no reduction goes on without the lost",
    "--radix": "nobody is left to agree on a view",
    "--order": "nobody is left to agree on a view",
}


def check_restarts(given: Sequence[str], replicas: int) -> None:
    """Refuse what does not go together with --on-loss restart. `given`: flags."""
    if replicas > 1:
        raise UserError(
            "--replicas does not go together with --on-loss restart: planes outlive losses, and "
            "come back by themselves in programs that take checkpoints"
        )
    for flag, why in _NEEDS_SURVIVORS.items():
        if flag in given:
            raise UserError(f"{flag} does not go together with --on-loss restart: {why}")


def check_standby(plan: Plan, command: str | None) -> None:
    """Refuse what cannot wait in MPI_Init until it is needed. `command`: of later lives."""
    if command is not None:
        raise UserError(
            "--standby does not go together with --restart-command: it is the same program that "
            "stands by"
        )
    if plan.unprotected is not None:
        raise UserError(plan.unprotected.describe("--standby cannot run"))
    if plan.shim is None:
        raise UserError(f"--standby needs {name_for(plan.mpi)}, which is not there")


def check_command(command: str | None, ranks: int, size: int, is_local: bool) -> None:
    """Refuse one that is not to be run. `ranks`: of the job's first program; `size`: of all."""
    if command is None:
        return
    parts = split(ranks, _words(command))
    for part in parts:
        check_program(part.program, is_local=is_local)
    if (found := sum(part.ranks for part in parts)) != size:
        raise UserError(f"--restart-command has {found} ranks, and the job {size}")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(f"--restart-command: {command!r}: {error}") from error


def later_plan(plan: Plan, command: str | None, ranks: int) -> Plan:
    """Of all lives but the first: without its faults, and with a command of their own.

    `ranks`: of the first program. REQUIRES: the command was checked.
    """
    variables = {k: v for k, v in plan.variables.items() if k != "RESPROUT_INJECT"}
    plan = replace(plan, variables=variables)
    if command is None:
        return plan
    program = _words(command)
    parts = split(ranks, program)
    return replace(plan, program=program, parts=parts if len(parts) > 1 else ())


def execute(course: Course, hosts: Hosts | None, parent: str | None, strict: bool) -> Report:
    """Run all lives to the end of the last one. REQUIRES: the main thread."""
    plan = course.first
    with job.run_directory(parent, plan.ranks) as directory, shared_folder(plan) as shared:
        lives = Lives(course, Path(directory), shared, hosts)
        ends = job.run_in_turn(lives.first, lives.succession, lives.on_end, lives.look)
    # Of a signal that came between two lives the last one knows nothing.
    if lives.goes_on and (signals := ends[-1].signals):
        status = 128 + signals[0]
        words.tell_of_signal(status)
        lives.ended[-1] = replace(lives.ended[-1], status=status)
    return _report_of(lives, plan, strict)


def _report_of(lives: Lives, plan: Plan, strict: bool) -> Report:
    """That of the last life, with the losses of all."""
    last, first = lives.ended[-1], lives.ended[0]
    losses = tuple(loss for one in lives.ended for loss in one.report.losses)
    is_flawed = strict and losses and last.status == 0
    return replace(
        last.report,
        command=tuple(plan.program),
        started_ns=first.report.started_ns,
        exit_status=STATUS_STRICT if is_flawed else last.status,
        losses=losses,
        missing=() if last.is_lost else last.report.missing,
        faults_left=first.report.faults_left,
        flipped=first.report.flipped,
        lives=tuple(one.life for one in lives.ended),
    )
