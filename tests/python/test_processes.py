"""What the launcher does by the ids of processes."""

import os
import subprocess
from pathlib import Path

from resprout.launch import processes


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
