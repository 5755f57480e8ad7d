"""The simulations that figures stand on: campaigns, each in a folder of its own, and SQL over them.

What a folder has already is not simulated again; a stop at any moment loses seconds of work.
"""

import glob
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from resprout.experiments.campaign.dataset import Dataset, part_files
from resprout.experiments.campaign.parts import Part, cut
from resprout.experiments.campaign.plan import Plan, Point
from resprout.experiments.campaign.progress import parts_bar
from resprout.experiments.campaign.workers import local_cores
from resprout.files import replacing

SEED = 2019
_SECONDS = "seconds"


@dataclass(frozen=True)
class Campaign:
    """Runs of some points. Campaigns of one name and one number of runs are the same."""

    name: str
    points: tuple[tuple[Point, int], ...]

    @property
    def plan(self) -> Plan:
        return Plan(SEED, None, self.points)

    @property
    def folder(self) -> str:
        """With another number of runs it is another folder, so samples of all sizes keep."""
        return f"{self.name}-{self.plan.runs}"


def campaign(name: str, points: Iterable[Point], repetitions: int) -> Campaign:
    return Campaign(name, tuple((point, repetitions) for point in dict.fromkeys(points)))


class Store:
    """The campaigns below one folder."""

    def __init__(self, folder: Path, cores: int) -> None:
        self._folder = folder
        self._cores = cores

    def simulate(self, campaigns: Iterable[Campaign]) -> None:
        """All that is missing of all of them, as one piece of work."""
        with ExitStack() as stack:
            every: list[Part] = []
            missing: list[Part] = []
            homes: dict[int, Dataset] = {}
            for campaign in dict.fromkeys(campaigns):
                parts = cut(campaign.plan)
                folder = self._folder / campaign.folder
                dataset = stack.enter_context(Dataset(folder, campaign.plan, len(parts)))
                finished = dataset.finished()
                every += parts
                for part in parts:
                    if part.number not in finished:
                        missing.append(part)
                        homes[id(part)] = dataset
            if not missing:
                return
            stack.enter_context(self._timed())
            work = stack.enter_context(local_cores(self._cores))
            bar = stack.enter_context(parts_bar(every, missing))
            for part, rows in work(missing):
                homes[id(part)].write(part, rows)
                bar.finish(part)

    def keep(self, name: str, make: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """What is made once and kept as JSON: measurements of this machine."""
        path = self._folder / f"{name}.json"
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._timed():
                made = make()
            with replacing(path) as file:
                file.write_text(json.dumps(made, indent=1) + "\n")
        kept: list[dict[str, Any]] = json.loads(path.read_text())
        return kept

    @property
    def seconds(self) -> float:
        """How long simulating has taken, over all calls."""
        path = self._folder / _SECONDS
        return float(path.read_text()) if path.exists() else 0.0

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            total = self.seconds + time.monotonic() - began
            with replacing(self._folder / _SECONDS) as path:
                path.write_text(f"{total:.3f}\n")

    def ask(self, campaign: Campaign, sql: str) -> list[tuple[Any, ...]]:
        """Rows of an SQL query about the table `runs` of a campaign that has been simulated."""
        files = part_files(self._folder / campaign.folder)
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as database:
            database.execute("SET enable_progress_bar = false")
            names = [glob.escape(str(file)) for file in files]
            database.read_parquet(names).create_view("runs")
            return database.sql(sql).fetchall()
