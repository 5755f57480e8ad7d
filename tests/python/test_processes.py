"""What the launcher does by the ids of processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from resprout.launch import processes

EXITING = 0x4
# A process whose first thread has ended, while another one goes on until its input ends.
_WITHOUT_FIRST = """
import ctypes, os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
print("started", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


def test_what_a_killed_process_was_about_to_share_is_found_by_its_id(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"osc_rdma.vm.7baf0001.72.{ended.pid}", "osc_rdma.vm.7baf0001.72.1", "other"):
        (tmp_path / name).touch()
    left = processes.left_by(ended.pid, tmp_path)
    assert [path.name for path in left] == [f"osc_rdma.vm.7baf0001.72.{ended.pid}"]


def test_who_lives_has_left_nothing(tmp_path: Path) -> None:
    (tmp_path / f"osc_rdma.vm.7baf0001.72.{os.getpid()}").touch()
    assert processes.left_by(os.getpid(), tmp_path) == []


def test_a_process_lives_as_long_as_any_thread_of_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WITHOUT_FIRST], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        stat = Path(f"/proc/{process.pid}/stat")
        assert processes.wait_for(lambda: ") Z " in stat.read_text(), 60)
        assert processes.is_running(process.pid)
        process.stdin.close()
        assert processes.wait_for(lambda: not processes.is_running(process.pid), 60)


def show(proc: Path, threads: list[tuple[str, int]]) -> None:
    """Process 7 has these: state and flags."""
    for index, (state, flags) in enumerate(threads):
        folders = [proc / "7" / "task" / str(7 + index), *([proc / "7"] if index == 0 else [])]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            many = " 0" * 8
            stat = f"7 (a) b) {state} 1 7 7 0 -1 {flags}{many} 20 0 {len(threads)} 0 12 0\n"
            (folder / "stat").write_text(stat)


@pytest.mark.parametrize(
    ("threads", "runs"),
    [
        ([("R", 0), ("S", 0)], True),
        ([("D", EXITING), ("S", 0)], True),
        ([("Z", EXITING), ("R", 0)], True),
        ([("D", EXITING), ("R", EXITING)], False),
        ([("Z", EXITING), ("D", EXITING)], False),
        ([("Z", EXITING), ("Z", EXITING)], False),
        ([("Z", EXITING)], False),
    ],
)
def test_a_process_runs_no_more_when_all_its_threads_end(
    threads: list[tuple[str, int]], runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(tmp_path, threads)
    monkeypatch.setattr(processes, "_PROC", str(tmp_path))
    assert processes.is_running(7) == runs
