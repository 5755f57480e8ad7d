"""What `resprout campaign` does."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.campaign.dataset import Dataset, part_files
from resprout.experiments.campaign.parts import StoppedError, cut
from resprout.experiments.campaign.plan import Plan, read_plan
from resprout.experiments.campaign.progress import parts_bar
from resprout.experiments.campaign.workers import Workers, core_count, dask_cluster, local_cores

_STATUS_STOPPED = 1
_STATUS_INTERRUPTED = 130


def campaign(file: Path, output: Path | None, jobs: int | None, scheduler: str | None) -> int:
    plan = read_plan(file)
    folder = file.with_suffix(".results") if output is None else output
    try:
        complete(plan, folder, jobs, scheduler)
    except KeyboardInterrupt:
        return _stopped("interrupted", folder, len(cut(plan)), _STATUS_INTERRUPTED)
    except StoppedError as stopped:
        return _stopped(str(stopped), folder, len(cut(plan)), _STATUS_STOPPED)
    except OSError as error:
        problem = f"{folder} cannot be written: {error.strerror or error}"
        return _stopped(problem, folder, len(cut(plan)), _STATUS_STOPPED)
    print(f"{plan.runs} runs of {len(plan.points)} points are in {folder}")
    return 0


def complete(plan: Plan, folder: Path, jobs: int | None, scheduler: str | None) -> None:
    """Simulates what is missing in `folder`."""
    parts = cut(plan)
    # The workers first: where there are none, no folder is left behind.
    with _workers(jobs, scheduler) as work, Dataset(folder, plan, len(parts)) as dataset:
        finished = dataset.finished()
        missing = [part for part in parts if part.number not in finished]
        with parts_bar(parts, missing) as bar:
            for part, rows in work(missing):
                dataset.write(part, rows)
                bar.finish(part)


def _workers(jobs: int | None, scheduler: str | None) -> AbstractContextManager[Workers]:
    if scheduler is None:
        return local_cores(jobs or core_count())
    if jobs is not None:
        raise UserError("--jobs: the cores of this host do nothing with --scheduler; give one")
    return dask_cluster(scheduler)


def _stopped(why: str, folder: Path, parts: int, status: int) -> int:
    stored = f"{len(part_files(folder))} of {parts} parts are in {folder}"
    print(f"resprout: {why}; {stored}, the same command goes on from there", file=sys.stderr)
    return status
