"""The planes of one job while they run: whose loss is what, and who is started again.

1. A plane is over when its newest launch that took part is. One that is started again takes part
   from when it is back; if it ends before, that counts for nothing.
2. Launches have the same index here, in the job and in the relay.
"""

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.launch import job, stdin
from resprout.launch.command import Plan
from resprout.launch.mpi import Setting
from resprout.launch.planes import words
from resprout.launch.planes.cores import Cores
from resprout.launch.planes.loss_watch import DoubtWatch, LossNews, LossWatch
from resprout.launch.planes.outcome import how_it_ended, lost_host
from resprout.launch.planes.relay import Relay
from resprout.launch.planes.returns import Again, Returns
from resprout.launch.planes.stand_in import Living, settled
from resprout.launch.planes.standing import Standing
from resprout.launch.planes.standing_end import end_it
from resprout.launch.planes.stragglers import Stragglers, seconds_of
from resprout.launch.planes.unverified import Unverified
from resprout.launch.planes.voted_lines import corruption_of
from resprout.report.corruptions import STATUS_CORRUPTED, Corruption
from resprout.report.job import Loss, PlaneEnd, Return
from resprout.report.launch_end import End
from resprout.report.merge import merge
from resprout.report.plane_ends import listed
from resprout.report.ranks import read_parts
from resprout.report.signals import STATUS_KILLED


@dataclass(frozen=True)
class _Launch:
    """One of a plane."""

    replica: int
    start: job.Start
    again: Again | None = None
    """Nothing: the first."""

    @property
    def number(self) -> int:
        return 0 if self.again is None else self.again.number


class Running:
    """From their start to their ends; what it has to know comes from job.run_all."""

    def __init__(
        self, plans: Sequence[Plan], directory: Path, shared: Path | None, relay: Relay
    ) -> None:
        """`plans`: one a plane. `shared`: a folder for the MPI's segments."""
        self._plans = plans
        self._shared = shared
        self._relay = relay
        self._stands_in = plans[0].stands_in
        self._is_ending = False
        self.output_found: list[Corruption] = []
        """Lines of output that are not the same in all planes."""
        # Nobody can tell which replica is right: the job ends.
        self._is_in_doubt = False
        self._has_told_of_refusal = False
        self._launches: list[_Launch] = []
        directories = [directory / f"plane-{replica}" for replica in range(len(plans))]
        self._cores = None if plans[0].is_on_several_hosts else Cores(directories)
        for replica, own in enumerate(directories):
            self._add(replica, own, None)
        # Of each plane its launch that takes part, and how it came to that.
        self._current = list(range(len(plans)))
        self._returns: list[list[Return]] = [[] for _ in plans]
        self._ends: dict[int, PlaneEnd] = {}
        self._starts_again = Returns(directory, len(plans))
        self._stragglers = Stragglers(
            [launch.start.directory for launch in self._launches],
            seconds_of(plans[0].variables.get("RESPROUT_STRAGGLER_WAIT")),
            plans[0].ranks,
        )
        self._standing = Standing(
            [launch.start.directory for launch in self._launches],
            seconds_of(plans[0].variables.get("RESPROUT_STRAGGLER_WAIT")),
            plans[0].ranks,
            are_independent=plans[0].verify == "none" and not self._stands_in,
        )
        self._unverified = Unverified(plans[0], directory)
        self._living = Living(len(plans), plans[0].ranks)
        self._news = [LossNews(launch.start.directory) for launch in self._launches]
        self._doubts = [DoubtWatch(launch.start.directory) for launch in self._launches]

    @property
    def starts(self) -> list[job.Start]:
        return [launch.start for launch in self._launches]

    def planes(self) -> tuple[PlaneEnd, ...]:
        """REQUIRES: all are over."""
        planes = tuple(
            replace(self._ends[replica], returns=tuple(returns))
            for replica, returns in enumerate(self._returns)
        )
        return settled(planes, self._plans[0].ranks) if self._stands_in else planes

    def see_what_differs_in_output(self) -> bool:
        """Whether the job has to end because of it: nobody can tell which is right."""
        is_reported = self._plans[0].variables.get("RESPROUT_ON_CORRUPTION") == "report"
        self.output_found += [
            corruption_of(
                replace(one, wrong=tuple(self._launches[copy].replica for copy in one.wrong)),
                is_reported,
            )
            for one in self._relay.take_differences()
        ]
        return any(found.then == "abort" for found in self.output_found)

    def has_to_fail(self, unverified: int) -> bool:
        """So much had nobody left to be compared with, and the user wants no such job."""
        self._unverified.settle(unverified)
        return self._unverified.must_end

    def replicas_left(self) -> tuple[int, ...]:
        """Of each rank."""
        return self._living.left()

    def own_words(self, replica: int) -> bytes:
        """What the launcher of the plane's last launch that took part said of itself."""
        return self._relay.own_words(self._current[replica])

    def on_end(self, index: int, end: End) -> bool:
        """A launch is over. Whether that ends the job."""
        self._see_who_is_back()
        self._tell_of_refusal()
        launch = self._launches[index]
        if self._cores is not None:
            self._cores.remove(launch.start.directory)
        self._starts_again.note_end(launch.replica, launch.number, is_lost=False)
        stdin.close(launch.start.directory)
        plane = _end_of(launch, end, self._relay.own_words(index))
        if launch.again is not None and launch.again == self._starts_again.pending:
            self._end_in_vain(index, plane, has_signals=bool(end.signals))
            return False
        return self._end_plane(index, plane)

    def _tell_of_refusal(self) -> None:
        """A rank has refused a call (policies/replicas/refusal.hpp): says so once for all."""
        for launch in self._launches:
            text = ""
            with contextlib.suppress(OSError):
                text = (launch.start.directory / "refused").read_text().strip()
            if text and not self._has_told_of_refusal:
                words.tell_of_refusal(text)
                self._has_told_of_refusal = True

    def on_signal(self) -> None:
        """The user ends the job: whoever dies from now on is not lost."""
        self._is_ending = True

    def look(self) -> list[int]:
        """The launches that are to be ended now."""
        self._see_who_is_back()
        if self._stands_in:
            self._see_who_is_lost()
        ended = [
            self._current[replica]
            for replica in (*self._stragglers.look(self._ends), *self._end_who_stands_still())
        ]
        if self._stands_in:
            ended += [replica for replica in self._planes_in_doubt() if replica not in self._ends]
        if self.see_what_differs_in_output():
            self._is_in_doubt = True
            return [i for i, _ in enumerate(self._launches)]
        self._unverified.look(lambda: self._starts_again.is_hopeless(self._how()))
        if self._unverified.must_end:
            return [i for i, _ in enumerate(self._launches)]
        pending = self._starts_again.pending
        if pending is not None and self._starts_again.is_in_vain(self._how()):
            ended += [i for i, launch in enumerate(self._launches) if launch.again == pending]
        return ended

    def more(self) -> list[job.Start]:
        """The plane that is to be started again now, if one is."""
        try:
            again = self._starts_again.begin(self._how())
            if again is None:
                return []
            self._add(again.replica, again.run_directory, again)
        except OSError as error:
            pending = self._starts_again.pending
            assert pending is not None
            self._starts_again.give_up()
            words.tell_of_failure(pending.replica, len(self._plans), str(error.strerror))
            return []
        before = self._ends[again.replica]
        self._returns[again.replica].append(Return(before, again.started_ns))
        words.tell_of_start(again.replica, len(self._plans))
        return [self._launches[-1].start]

    def _add(self, replica: int, directory: Path, again: Again | None) -> None:
        plan = replace(self._plans[replica], settings_of_job=self._segments(replica))
        index = replica
        if again is None:
            directory.mkdir(mode=0o700)
        else:
            # Its faults were for the first start.
            variables = {k: v for k, v in plan.variables.items() if k != "RESPROUT_INJECT"}
            plan = replace(plan, variables=variables)
            index = self._relay.add(again.number)
        out, err = (self._relay.writing_end(index, stream) for stream in ("stdout", "stderr"))
        is_fed = plan.hostfile is None
        has_lost = (lambda: False) if self._stands_in else LossWatch(directory)
        cores = None if self._cores is None else self._cores.of(directory)
        start = job.Start(plan, directory, out, err, has_lost, is_fed, cores)
        self._launches.append(_Launch(replica, start, again))

    def _segments(self, replica: int) -> Sequence[Setting]:
        if self._shared is None:
            return ()
        folder = self._shared / f"plane-{replica}"
        # A launch before has left them, and no process of it lives.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        reason = "what the ranks of a lost plane leave there has to be found"
        return (Setting("OMPI_MCA_btl_sm_backing_directory", str(folder), reason),)

    def _see_who_is_back(self) -> None:
        joined = self._starts_again.joined()
        if joined is None:
            return
        again = joined.again
        index = next(i for i, one in enumerate(self._launches) if one.again == again)
        self._current[again.replica] = index
        del self._ends[again.replica]
        returns = self._returns[again.replica]
        returns[-1] = replace(returns[-1], joined_ns=joined.joined_ns, checkpoint=joined.checkpoint)
        self._stragglers.come_back(again.replica, again.run_directory)
        self._standing.come_back(again.replica, again.run_directory)
        self._unverified.end()
        words.tell_of_return(again.replica, len(self._plans), joined.checkpoint)

    def _end_who_stands_still(self) -> set[int]:
        """The planes that are to be ended as a whole."""
        over = {replica: not plane.is_lost for replica, plane in self._ends.items()}
        found = self._standing.look(over, self._is_lost)
        if found is not None and not self._is_ending:
            folder = self._launches[self._current[found.replica]].start.directory
            self._is_in_doubt = end_it(found, self._plans[0], folder)
            if self._is_in_doubt:
                return set(range(len(self._plans)))
        return self._standing.disobedient(over, self._is_lost)

    def _is_lost(self, replica: int, rank: int) -> bool:
        return self._stands_in and replica not in self._living.planes_with(rank)

    def _see_who_is_lost(self) -> None:
        for replica, news in enumerate(self._news):
            if replica not in self._ends:
                for loss in news():
                    self._lose(replica, loss.rank, loss.how)

    def _planes_in_doubt(self) -> list[int]:
        """Where a process has ended as nobody can tell which data are right: so does the job."""
        return [replica for replica, is_in_doubt in enumerate(self._doubts) if is_in_doubt()]

    def _lose(self, replica: int, rank: int, how: str) -> None:
        if not self._living.lose(replica, rank):
            return
        if rank == 0:
            stdin.close(self._launches[replica].start.directory)
        if not self._is_ending:
            self._relay.lose_rank(replica, rank)
            words.tell_of_gap(replica, rank, how, self._living)
            self._note_who_is_alone()

    def _note_who_is_alone(self) -> None:
        left = self._living.left()
        alone = [rank for rank, count in enumerate(left) if count == 1]
        if alone and len(self._ends) < len(self._plans):
            self._unverified.begin(listed("rank", alone))

    def _note_plane_alone(self) -> None:
        """What a plane has said by which another one came to its end was compared."""
        running = [replica for replica in range(len(self._plans)) if replica not in self._ends]
        has_lost_all = all(p.is_lost or p.how == "ended" for p in self._ends.values())
        if len(running) == 1 and has_lost_all and not self._is_ending:
            self._unverified.begin(f"plane {running[0]}")

    def _has_corrupted(self) -> bool:
        return any(plane.how == "corrupted" for plane in self._ends.values())

    def _how(self) -> dict[int, str]:
        return {replica: plane.how for replica, plane in self._ends.items()}

    def _end_in_vain(self, index: int, plane: PlaneEnd, has_signals: bool) -> None:
        self._starts_again.give_up()
        self._relay.lose(index)
        if self._starts_again.can_be_joined(self._how()) and not has_signals:
            words.tell_of_failed_return(plane, len(self._plans))

    def _end_plane(self, index: int, plane: PlaneEnd) -> bool:
        launch, planes = self._launches[index], len(self._plans)
        replica = launch.replica
        if self._returns[replica]:
            first = self._returns[replica][0].before.report
            plane = replace(plane, report=replace(plane.report, started_ns=first.started_ns))
        was_corrupted = self._is_in_doubt or self._has_corrupted()
        if plane.is_lost:
            self._starts_again.note_end(replica, launch.number, is_lost=True)
        is_other = plane.how == "excluded" and launch.again is not None
        if plane.lost_host is not None or is_other or replica in self._stragglers.differing:
            # Its host is gone; or it is not the same as the others.
            self._starts_again.keep_out(replica)
        is_straggler = replica in self._stragglers.ended and plane.how == "lost"
        is_unverified = self._unverified.must_end and plane.how in ("lost", "gaps")
        if is_unverified:
            self._ends[replica] = replace(plane, how="unverified")
        elif (was_corrupted and plane.is_lost) or is_straggler:
            self._ends[replica] = replace(plane, how="ended")
        else:
            self._ends[replica] = plane
        if plane.how == "gaps":
            for loss in plane.report.losses:
                self._lose(replica, loss.rank, loss.how)
        self._living.end_plane(replica, self._ends[replica])
        gone = [r for r, other in self._ends.items() if other.is_lost or other.how == "ended"]
        left = planes - len(gone)
        pending = self._starts_again.pending
        is_corrupted = was_corrupted or plane.how == "corrupted"
        if is_straggler:
            self._relay.lose(index)
            words.tell_of_straggler(replica, planes, replica in self._stragglers.differing)
        elif plane.is_lost and not is_corrupted and not is_unverified and (left or pending):
            self._relay.lose(index)
            words.tell_of_loss(plane, planes, left)
            if not self._stands_in:
                self._note_plane_alone()
        else:
            self._relay.finish(index)
        return is_corrupted


def _end_of(launch: _Launch, end: End, own_words: bytes) -> PlaneEnd:
    plan = launch.start.plan
    parts = read_parts(launch.start.directory)
    how = how_it_ended(parts, end, plan.ranks, own_words, plan.stands_in)
    ended = parts.came_to_their_ends()
    absent = [
        rank
        for rank in range(plan.ranks)
        if rank not in ended and (how == "gaps" or rank in parts.stood_still)
    ]
    report = merge(
        parts, end, ranks=plan.ranks, command=plan.program, mpi=str(plan.mpi), on_loss="continue",
        has_replicas=True, absent=absent,
    )  # fmt: skip
    losses = tuple(loss for loss in report.losses if loss.rank not in ended)
    if not plan.stands_in:
        losses = _first_losses(report.losses)
    report = replace(report, losses=losses)
    host = lost_host(own_words)
    status = STATUS_CORRUPTED if how == "corrupted" else report.exit_status
    if host is not None and status == 0:
        status = STATUS_KILLED
    said = _in_one_line(own_words)
    return PlaneEnd(launch.replica, how, status, end.ended_ns, report, said, host, statuses=ended)


def _first_losses(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """Those that ended the plane. The others were lost with it: each rank ends when it sees one."""
    ended = tuple(loss for loss in losses if loss.fault is not None or loss.how == "stood_still")
    return ended or tuple(sorted(losses, key=lambda loss: loss.detected_ns or 0)[:1])


def _in_one_line(own_words: bytes) -> str:
    lines = (line.strip() for line in own_words.decode(errors="replace").splitlines())
    return " ".join(line for line in lines if line.strip("-"))
