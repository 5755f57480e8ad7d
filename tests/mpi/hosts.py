"""Several hosts, which are network namespaces of this one, and jobs over them: needs root and
iproute2.

Ranks are placed two a host, in order: 0 and 1 on the first.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import jobs
import logs
import pytest

# The tool that makes the hosts is kept beside the work tree.
TOOL = jobs.ROOT.parent / "shared" / "tools" / "hosts"
NETWORK = "10.77.0.0/24"


def address_of(rank: int) -> str:
    """On the network that carries our connections."""
    return f"10.77.0.{rank // 2 + 1}"


@contextmanager
def up(count: int) -> Iterator[None]:
    """So many hosts as long as the block lasts; the test is skipped where they cannot be made."""
    if not TOOL.exists():
        pytest.skip(f"{TOOL} is not there")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making hosts needs root and iproute2")
    if "rsw" in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("somebody else's hosts are up")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTS_STATE", str(Path("/tmp") / f"hosts-{os.getpid()}"))
        subprocess.run([TOOL, "up", str(count)], check=True)
        try:
            yield
        finally:
            subprocess.run([TOOL, "down"], check=True)


def mpirun(program: Sequence[str | Path], folder: Path, variables: dict[str, str]) -> list:
    """The command of a job with two ranks on each host; `variables` reach the ranks."""
    ours = jobs.by_hand() | variables
    ours |= {"LD_PRELOAD": str(jobs.SHIM), "RESPROUT_NETWORK": NETWORK}
    ours |= {"RESPROUT_RUN_DIR": str(folder)}
    words: list[str | Path] = [TOOL, "mpirun", jobs.BIN.parent, "--with-ft", "ulfm"]
    for name, value in ours.items():
        words += ["-x", f"{name}={value}"]
    return ["env", *(f"{k}={v}" for k, v in jobs.by_hand().items()), *words, *program]


def part_of(folder: Path, rank: int) -> dict:
    """What a rank reports of itself."""
    return json.loads((folder / f"rank-{rank}.json").read_text())


def check(folder: Path, ranks: int, victims: set[int], ended: jobs.Ended) -> None:
    """The survivors' logs hold, and each of them reports exactly the victims."""
    survivors = set(range(ranks)) - victims
    wrong = list(logs.problems(logs.read_logs(folder, ranks), survivors))
    assert not wrong, "\n".join([*wrong[:10], str(ended)])
    for rank in survivors:
        part = part_of(folder, rank)
        assert {loss["rank"] for loss in part["losses"]} == victims, f"rank {rank}: {part}\n{ended}"
