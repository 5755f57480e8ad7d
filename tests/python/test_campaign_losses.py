"""Campaigns that lose what they run on: interrupted, killed, bereft of a worker or the scheduler.

All processes are real, and so are the signals. Nothing waits for a time to pass, only for parts of
the results to be there.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from resprout import __version__, native
from resprout.cli import main
from resprout.experiments.campaign.workers import simulate_elsewhere

# Every part takes a moment, so that something can happen in the middle of it.
FILE = """\
seed = 11
repetitions = 120
runs_per_part = 20
[[product]]
protocol = ["corrected-tree:start=overlapped", "corrected-tree:tree=lame,k=2,start=overlapped"]
procs = 16384
faults = ["0.1%", "1%", "2%", "4%"]
"""
PARTS = 48
# Only reached if something hangs.
SECONDS_MAX = 300


class Process(subprocess.Popen[str]):
    """Python with some arguments; what it says goes to a file, since a pipe would become full."""

    def __init__(self, *arguments: object) -> None:
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it lives as long as this)
        command = [sys.executable, *(str(argument) for argument in arguments)]
        super().__init__(command, stdout=subprocess.DEVNULL, stderr=self._said)

    def said(self) -> str:
        """All that it says on stderr until it ends."""
        self.wait(timeout=SECONDS_MAX)
        self._said.seek(0)
        return self._said.read()

    def end(self) -> None:
        if self.poll() is None:
            self.kill()
            self.wait()
        self._said.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("losses") / "losses.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def undisturbed(file: Path) -> dict[str, bytes]:
    """The results of the campaign when nothing happens to it."""
    folder = file.parent / "undisturbed"
    assert main(["campaign", str(file), "-o", str(folder)]) == 0
    results = bytes_of(folder)
    assert len(results) == PARTS
    return results


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    """Starts Python with arguments; whatever still runs at the end of the test is ended."""
    # A shell without job control has its background processes, and theirs, ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with ExitStack() as stack:

        def start(*arguments: object) -> Process:
            process = Process(*arguments)
            stack.callback(process.end)
            return process

        yield start


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def parts_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def wait_until(is_so: Callable[[], Any], process: Process) -> None:
    """Waits, as long as the process runs."""
    began = time.monotonic()
    while not is_so():
        assert process.poll() is None, process.said()
        assert time.monotonic() - began < SECONDS_MAX
        time.sleep(0.01)


def marks_of(files: list[Path]) -> dict[Path, tuple[int, int]]:
    """What changes if a file is written again."""
    return {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_does_the_rest(
    file: Path, undisturbed: dict[str, bytes], tmp_path: Path, start: Callable[..., Process]
) -> None:
    command = ("-m", "resprout", "campaign", file, "--output", tmp_path)
    process = start(*command)
    wait_until(lambda: len(parts_in(tmp_path)) >= 3, process)
    process.send_signal(signal.SIGINT)
    said = process.said()
    assert process.returncode == 130
    kept = parts_in(tmp_path)
    assert 3 <= len(kept) < PARTS
    assert said.count("\n") == 1, said
    assert f"interrupted; {len(kept)} of {PARTS} parts" in said
    assert sorted(tmp_path.iterdir()) == kept
    marks = marks_of(kept)

    again = start(*command)
    assert again.said() == ""
    assert again.returncode == 0
    assert bytes_of(tmp_path) == undisturbed
    assert marks_of(kept) == marks


def test_a_killed_campaign_leaves_whole_files_and_repeats_none(
    file: Path, undisturbed: dict[str, bytes], tmp_path: Path, start: Callable[..., Process]
) -> None:
    command = ("-m", "resprout", "campaign", file, "--output", tmp_path)
    marks: dict[Path, tuple[int, int]] = {}
    for wanted in (3, 8, 20):
        process = start(*command)
        wait_until(lambda wanted=wanted: len(parts_in(tmp_path)) >= wanted, process)
        process.kill()
        process.said()
        assert process.returncode == -signal.SIGKILL
        kept = parts_in(tmp_path)
        assert len(kept) < PARTS
        assert {path.name: path.read_bytes() for path in kept}.items() <= undisturbed.items()
        assert marks.items() <= marks_of(kept).items()
        marks = marks_of(kept)
    last = start(*command)
    assert last.said() == ""
    assert bytes_of(tmp_path) == undisturbed
    assert marks.items() <= marks_of(parts_in(tmp_path)).items()


class Cluster:
    """A Dask scheduler and workers, each a process of its own."""

    def __init__(self, start: Callable[..., Process], folder: Path) -> None:
        self._start = start
        self._folder = folder
        contact = folder / "scheduler.json"
        self.scheduler = start(
            *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--no-dashboard", "--no-jupyter", "--scheduler-file", contact),
        )
        wait_until(lambda: contact.exists() and contact.read_text(), self.scheduler)
        self.address = json.loads(contact.read_text())["address"]

    def add_worker(self, name: str) -> Process:
        return self._start(
            *("-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--nthreads", "1"),
            *("--no-dashboard", "--name", name, "--local-directory", self._folder / name),
        )

    def tasks_by_worker(self) -> dict[str, int]:
        """How many tasks each worker, by its name, has been given and has not finished."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
            tasks = client.processing()
        return {workers[at]["name"]: len(tasks[at]) for at in workers}


@pytest.fixture
def cluster(start: Callable[..., Process], tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster(start, tmp_path_factory.mktemp("dask"))


def test_a_dask_worker_is_killed_in_mid_campaign_and_nothing_is_lost_or_double(
    file: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    start: Callable[..., Process],
    cluster: Cluster,
) -> None:
    doomed, survivor = cluster.add_worker("doomed"), cluster.add_worker("survivor")
    wait_until(lambda: len(cluster.tasks_by_worker()) == 2, cluster.scheduler)
    campaign = start(
        *("-m", "resprout", "campaign", file, "--output", tmp_path),
        *("--scheduler", cluster.address),
    )
    wait_until(lambda: len(parts_in(tmp_path)) >= 4, campaign)
    doomed.send_signal(signal.SIGSTOP)  # whatever it has been given by now, it cannot finish
    assert cluster.tasks_by_worker()["doomed"] > 0
    doomed.kill()
    doomed.wait()
    assert campaign.said() == ""
    assert campaign.returncode == 0
    assert list(cluster.tasks_by_worker()) == ["survivor"]
    assert survivor.poll() is None
    assert bytes_of(tmp_path) == undisturbed
    runs = [row for path in parts_in(tmp_path) for row in pq.read_table(path).to_pylist()]
    names = [(run["protocol"], run["faults"], run["repetition"]) for run in runs]
    assert len(set(names)) == len(names) == 960


def test_a_lost_scheduler_stops_a_campaign_that_local_cores_then_finish(
    file: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    start: Callable[..., Process],
    cluster: Cluster,
) -> None:
    cluster.add_worker("one")
    command = ("-m", "resprout", "campaign", file, "--output", tmp_path)
    campaign = start(*command, "--scheduler", cluster.address)
    wait_until(lambda: len(parts_in(tmp_path)) >= 2, campaign)
    cluster.scheduler.kill()
    said = campaign.said()
    assert campaign.returncode == 1
    assert said.count("\n") == 1, said
    assert re.search(r"scheduler ended or is out of reach; \d+ of 48 parts are in", said)
    again = start(*command)
    assert again.said() == ""
    assert bytes_of(tmp_path) == undisturbed


def test_without_a_scheduler_nothing_is_begun(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resprout.experiments.campaign.workers._CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense", "pigeon://127.0.0.1:1", ""):
        output = tmp_path / "results"
        command = ["campaign", str(file), "--output", str(output), "--scheduler", address]
        assert main(command) == 2
        said = capsys.readouterr()
        assert said.err.count("\n") == 1, said.err
        assert f"--scheduler: no Dask scheduler answers at {address!r}" in said.err
        assert not output.exists()


def test_a_worker_of_another_version_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "Simulation", lambda *_, **__: pytest.fail("simulated"))
    with pytest.raises(RuntimeError, match=f"the worker has Resprout {__version__}, the campaign"):
        simulate_elsewhere(None, "0.0.0")  # type: ignore[arg-type]
