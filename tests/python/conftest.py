"""A stand-in for an MPI installation, for tests that are about the launcher and not about MPI."""

import stat
import textwrap
from pathlib import Path

import pytest

# Starts N processes, gives each its rank, and treats signals as Open MPI's does.
_MPIRUN = """\
    #!/usr/bin/env python3
    import os, signal, subprocess, sys
    words = sys.argv[1:]
    if words == ["--version"]:
        print("mpirun (Open MPI) 5.0.11")
        sys.exit(0)
    ranks = int(words[words.index("-n") + 1])
    program = words[next(i for i, w in enumerate(words) if w.endswith("/resprout_start")):]
    children = []
    signals = []
    def end(number, frame):
        signals.append(number)
        for child in children:
            os.kill(child.pid, signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    for rank in range(ranks):
        variables = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}
        children.append(subprocess.Popen(program, env=variables, start_new_session=True))
    statuses = [child.wait() for child in children]
    sys.exit(1 if signals else max((s for s in statuses if s > 0), default=0))
"""


def make_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def fake_mpi(tmp_path: Path) -> Path:
    """The prefix of an MPI that looks like Open MPI 5 with ULFM."""
    prefix = tmp_path / "mpi"
    make_program(prefix / "bin" / "mpirun", _MPIRUN)
    make_program(prefix / "bin" / "ompi_info", "#!/bin/sh\necho options:ft_mpi_support:yes\n")
    return prefix
