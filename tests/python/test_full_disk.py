"""Full disks under outputs, logs and reports: one clear line, nothing lost, no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from resprout.member import Member, output
from resprout.member.output import Output

WATCHDOG_SECONDS = 120
FULL = "No space left on device"
DISK_BYTES = 256 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("making a small disk needs root and mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Leaves no room; without the file that is returned there is room again."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match=FULL):
        while True:
            file.write(bytes(4096))
    return ballast


def resprout(
    *arguments: object, stdout: int | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
    return subprocess.run(
        [sys.executable, "-m", "resprout", *map(str, arguments)],
        env=environment | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=WATCHDOG_SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments", [["protocols"], ["--help"], ["sim", "corrected-tree", "--procs", "8"]]
)
def test_what_cannot_be_written_to_stdout_is_one_line_on_stderr(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = resprout(*arguments, stdout=full.fileno())
    assert ended.returncode == 1
    assert ended.stderr == f"resprout: stdout: {FULL}\n"


class Service:
    """`resprout member` with a file for its stdout."""

    def __init__(self, log: Path) -> None:
        self.log = log
        with log.open("w") as stdout:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "resprout", "member", "--listen", "127.0.0.1:0", "--json"],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert self.process.stderr is not None
        self.stderr = self.process.stderr

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WATCHDOG_SECONDS)

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def wait_for(self, event: str) -> dict[str, object]:
        end = time.monotonic() + WATCHDOG_SECONDS
        while time.monotonic() < end:
            text = self.log.read_text()
            for line in text.splitlines() if text.endswith("\n") else []:
                if json.loads(line)["event"] == event:
                    return dict(json.loads(line))
            time.sleep(0.02)
        raise TimeoutError(f"no event {event!r}")


def has_joined(address: str) -> bool:
    """Whether a member that asks there becomes one; it dies at once."""
    member = Member("127.0.0.1:0", address)
    try:
        end = time.monotonic() + WATCHDOG_SECONDS
        while time.monotonic() < end:
            line = member.poll(200)
            if line is not None and json.loads(line)["event"] == "view":
                return True
        return False
    finally:
        member.close()


def test_a_member_whose_log_is_on_a_full_disk_goes_on_and_loses_no_line(disk: Path) -> None:
    service = Service(disk / "log")
    try:
        address = str(service.wait_for("view")["address"])
        ballast = fill(disk)
        # What is left of the log's last block fills up, too.
        assert any(has_joined(address) and _has_complained(service) for _ in range(200))
        ballast.unlink()
        assert service.stderr.readline() == "resprout: stdout: there is room again\n"
        assert service.end() == 0
        assert service.stderr.read() == ""
    finally:
        service.process.kill()
        service.process.wait()
    epochs = [event["epoch"] for event in service.events() if event["event"] == "view"]
    assert epochs == list(range(1, len(epochs) + 1))
    assert service.events()[-1]["event"] == "statistics"


def _has_complained(service: Service) -> bool:
    os.set_blocking(service.stderr.fileno(), False)
    said = service.stderr.readline()
    os.set_blocking(service.stderr.fileno(), True)
    if said:
        assert (
            said == f"resprout: stdout: {FULL}; the member goes on, what it says waits for room\n"
        )
    return bool(said)


def test_a_member_that_can_never_write_serves_and_says_how_many_lines_it_kept() -> None:
    service = Service(Path("/dev/full"))
    try:
        waits = f"resprout: stdout: {FULL}; the member goes on, what it says waits for room\n"
        assert service.stderr.readline() == waits
        assert service.end() == 1
        assert service.stderr.read() == (
            "resprout: stdout: no room until the end; lines that were not written: 2\n"
        )
    finally:
        service.process.kill()
        service.process.wait()


def test_of_too_many_lines_the_oldest_are_given_up_and_counted(
    disk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "KEPT_MAX", 3)
    with (disk / "log").open("wb") as log:
        ballast = fill(disk)
        lines = Output(log.fileno())
        for number in range(10):
            lines.say(str(number))
        assert (disk / "log").read_bytes() == b""
        ballast.unlink()
        assert lines.end()
    # The first one was about to be written.
    assert (disk / "log").read_text().split() == ["0", "7", "8", "9"]
    _, again = capsys.readouterr().err.splitlines()
    assert again == "resprout: stdout: there is room again; lines that were not written: 6"


def test_a_report_for_which_there_is_no_room_goes_elsewhere_and_the_status_stays(
    disk: Path, tmp_path: Path
) -> None:
    report = disk / "report.json"
    report.write_text("the last one")
    fill(disk)
    ended = resprout(
        *("run", "-n", "2", "--report", report, "--", "sh", "-c", "exit 7"), TMPDIR=str(tmp_path)
    )
    assert ended.returncode == 7, ended.stderr
    said = [line for line in ended.stderr.splitlines() if str(report) in line]
    before, _, name = said[0].rpartition("; it is in ")
    assert before == f"resprout: --report: {report} cannot be written: {FULL}"
    assert len(said) == 1 and "Traceback" not in ended.stderr
    assert json.loads(Path(name).read_text())["exit_status"] == 7
    assert report.read_text() == "the last one"


def test_without_room_for_the_ranks_parts_nothing_is_started(disk: Path) -> None:
    fill(disk)
    mark = disk.parent / "started"
    ended = resprout("run", "-n", "2", "--run-dir", disk, "--", "touch", mark)
    assert ended.returncode == 2
    said = f"resprout: --run-dir: {disk} has no room for what 2 ranks report: {FULL}\n"
    assert ended.stderr == said
    assert not mark.exists()


def test_if_the_disk_fills_while_a_job_runs_its_status_is_known_all_the_same(disk: Path) -> None:
    program = f"head -c {2 * DISK_BYTES} /dev/zero >{disk}/ballast 2>/dev/null; exit 7"
    ended = resprout("run", "-n", "2", "--run-dir", disk, "--", "bash", "-c", program)
    assert (disk / "ballast").stat().st_size > DISK_BYTES // 2
    assert ended.returncode == 7, ended.stderr
